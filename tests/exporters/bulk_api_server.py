"""A server that answers like the index APIs of Elasticsearch and OpenSearch, for tests of `run.py`.

Written from the references ("Update mapping API", "Create or update stored script API", "Bulk API",
"Update by query API", "Search API"); it is not a real engine. Scripts are not run: their
effect is written out here, and `_version_in` reads the version from the text of a script.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Index:
    """One index, `products`, with documents by `_id`."""

    def __init__(self, docs, id_field="_id"):
        self.docs, self.id_field = docs, id_field
        self.properties, self.scripts, self.pipelines = {}, {}, {}
        self.busy = 0  # the next updates that are refused because the engine is busy
        self.broken: tuple[str, ...] = ()  # ids that are refused whenever they are updated
        self.requests = []

    def answer(self, method, path, body):
        """Return the status and the body of a response."""
        self.requests.append((method, path))
        known, _, rest = path.lstrip("/").partition("/")
        if known == "_scripts":
            self.scripts[rest] = json.loads(body)["script"]
            return 200, {"acknowledged": True}
        if path.startswith("/_search/pipeline/"):
            self.pipelines[path.rpartition("/")[2]] = json.loads(body)
            return 200, {"acknowledged": True}
        if known != "products":
            return 404, {"error": {"type": "index_not_found_exception", "reason": f"no such index [{known}]"}}
        action = rest.partition("?")[0]
        return 200, getattr(self, action.strip("_"))(method, body)

    def mapping(self, method, body):
        if method == "GET":
            return {"products": {"mappings": {"properties": self.properties}}}
        self.properties |= json.loads(body)["properties"]
        return {"acknowledged": True}

    def refresh(self, method, body):
        return {}

    def bulk(self, method, body):
        assert body.endswith("\n") and len(body) < 50 << 20
        lines = body.split("\n")[:-1]
        return {"items": [self._update(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)]}

    def _update(self, action, update):
        (key,) = json.loads(action)["update"].values()
        script = json.loads(update)["script"]
        if self.busy:
            self.busy -= 1
            return {"update": {"status": 429, "error": {"type": "rejected", "reason": "queue is full"}}}
        if key in self.broken:
            return {"update": {"status": 400, "error": {"type": "mapper", "reason": "failed to parse"}}}
        if key not in self.docs:
            error = {"type": "document_missing_exception", "reason": "document missing"}
            return {"update": {"status": 404, "error": error}}
        doc, version = self.docs[key], _version_in(self.scripts[script["id"]]["source"])
        if doc.get("learned_version") == version:
            return {"update": {"status": 200, "result": "noop"}}
        self._replace(doc, script["params"]["words"], version)
        return {"update": {"status": 200, "result": "updated"}}

    def _replace(self, doc, words, version):
        old = {"words": doc.pop("learned_words", None), "version": doc.get("learned_version")}
        doc |= {"learned_previous": old, "learned_version": version}
        if words is not None:
            doc["learned_words"] = words

    def update_by_query(self, method, body):
        request = json.loads(body)
        query, source, updated = request["query"], request["script"]["source"], 0
        for doc in self.docs.values():
            if not _matches(query, doc):
                continue
            updated += 1
            if "noop" in source:  # rollback
                if old := doc.pop("learned_previous", None):
                    doc.pop("learned_words", None)
                    del doc["learned_version"]
                    renamed = {f"learned_{name}": value for name, value in old.items() if value is not None}
                    doc |= renamed
            elif "['learned_previous'] =" in source:  # vanished
                self._replace(doc, None, _version_in(source))
            else:
                for name in re.findall(r"remove\('(\w+)'\)", source):
                    doc.pop(name, None)
        return {"updated": updated, "version_conflicts": 0, "failures": []}

    def search(self, method, body):
        request = json.loads(body)
        if terms := request["query"].get("terms"):
            ((field, wanted),) = terms.items()
            found = [(key, 1.0) for key, doc in self.docs.items() if doc.get(field) in wanted]
        else:
            words = _query_words(request["query"])
            found = [
                (
                    key,
                    sum(weight * doc.get("learned_words", {}).get(word, 0) for word, weight in words.items()),
                )
                for key, doc in self.docs.items()
            ]
        found = sorted((row for row in found if row[1] > 0), key=lambda row: -row[1])[: request["size"]]
        fields = request.get("fields", [])
        hits = [
            {"_id": key, "_score": score, "fields": {name: [self.docs[key][name]] for name in fields}}
            for key, score in found
        ]
        return {"hits": {"hits": hits}}


def _version_in(source):
    return re.search(r"'([0-9a-f]{12})'", source)[1]


def _query_words(query):
    if "sparse_vector" in query:
        return query["sparse_vector"]["query_vector"]
    return query["neural_sparse"]["learned_words"]["query_tokens"]


def _matches(query, doc):
    if "term" in query:
        return all(doc.get(field) == value for field, value in query["term"].items())
    if "exists" in query:
        return query["exists"]["field"] in doc
    included = all(_matches(part, doc) for part in query["bool"]["filter"])
    return included and not any(_matches(part, doc) for part in query["bool"]["must_not"])


def serve(index):
    """Serve an index on a free port; return the server, which `shutdown` stops."""

    class Handler(BaseHTTPRequestHandler):
        def _respond(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status, answer = index.answer(self.command, self.path, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = _respond

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
