"""A server that answers like the index APIs of Elasticsearch and OpenSearch, for tests of `run.py`.

Written from the references ("Create index API", "Update mapping API", "Aliases API", "Create or update stored
script API", "Bulk API", "Update by query API", "Search API"); it is not a real engine. Scripts are run by
`painless.py`.
"""

import copy
import fnmatch
import json
from urllib.parse import unquote

from exporters import painless


class Index:
    """Documents by `_id`, with a mapping."""

    def __init__(self, docs=None, mappings=None):
        self.docs = docs or {}
        self.mappings = {"properties": {}} | (mappings or {})

    @property
    def properties(self):
        return self.mappings["properties"]


class Cluster:
    """Indexes and aliases; an error is a pair of status and body."""

    def __init__(self, **indexes):
        self.indexes, self.aliases = indexes, {}
        self.scripts, self.pipelines = {}, {}
        self.busy = 0  # the next bulk items that are refused because the engine is busy
        self.broken: tuple[str, ...] = ()  # ids that are refused whenever they are written
        self.fail_after: int | None = None  # bulk items after which the connection breaks
        self.requests = []
        self.tasks, self.polls = [], 0

    def answer(self, method, path, body):
        """Return the status and the body of a response."""
        self.requests.append((method, path, body))
        parts = unquote(path.partition("?")[0]).strip("/").split("/")
        if "wait_for_completion=false" in path:
            result = self._reindex(body) if parts == ["_reindex"] else self._run(method, parts, body)
            self.tasks.append(result)
            return 200, {"task": f"node:{len(self.tasks) - 1}"}
        match [method, *parts]:
            case ["GET", "_tasks", task]:
                self.polls += 1
                done = self.polls % 2 == 0  # the first look is always too early
                response = {"response": self.tasks[int(task.partition(":")[2])]} if done else {}
                return 200, {"completed": done, "task": {}} | response
            case [_, "_scripts", name]:
                return self._stored(self.scripts, method, name, body)
            case [_, "_search", "pipeline", name]:
                return self._stored(self.pipelines, method, name, body)
            case ["POST", "_aliases"]:
                return self._change_aliases(json.loads(body)["actions"])
            case ["GET", "_alias", alias]:
                found = {name: {"aliases": {alias: {}}} for name in self.aliases.get(alias, ())}
                return (200, found) if found else (404, {"error": f"alias [{alias}] missing", "status": 404})
            case ["PUT", name]:
                assert name not in self.indexes and name not in self.aliases
                self.indexes[name] = Index(mappings=json.loads(body)["mappings"])
                return 200, {"acknowledged": True, "index": name}
            case ["DELETE", name]:
                del self.indexes[name]
                self.aliases = {
                    alias: left for alias, names in self.aliases.items() if (left := names - {name})
                }
                return 200, {"acknowledged": True}
        return self._ask_index(method, parts, body)

    def _run(self, method, parts, body):
        status, answer = self._ask_index(method, parts, body)
        assert status == 200
        return answer

    def _reindex(self, body):
        request = json.loads(body)
        source, dest = (self.indexes[request[side]["index"]] for side in ("source", "dest"))
        dest.docs |= copy.deepcopy(source.docs)
        return {"total": len(source.docs), "failures": []}

    def _ask_index(self, method, parts, body):
        names = self._resolve(parts[0])
        if not names and "*" not in parts[0]:
            reason = f"no such index [{parts[0]}]"
            return 404, {"error": {"type": "index_not_found_exception", "reason": reason}, "status": 404}
        if len(parts) == 1:
            return 200, {name: self._description(name) for name in names}
        return 200, getattr(self, parts[1].strip("_"))(method, names, body)

    def _stored(self, kept, method, name, body):
        if method == "DELETE":
            return (200, {"acknowledged": True}) if kept.pop(name, None) else (404, {"error": "missing"})
        kept[name] = json.loads(body)
        return 200, {"acknowledged": True}

    def _resolve(self, name):
        if "*" in name:
            aliased = {index for alias in fnmatch.filter(self.aliases, name) for index in self.aliases[alias]}
            return sorted(aliased | set(fnmatch.filter(self.indexes, name)))
        return sorted(self.aliases.get(name, ())) or [name] * (name in self.indexes)

    def _description(self, name):
        aliases = {alias: {} for alias, names in self.aliases.items() if name in names}
        return {"aliases": aliases, "mappings": self.indexes[name].mappings, "settings": {}}

    def _change_aliases(self, actions):
        aliases = copy.deepcopy(self.aliases)
        for action in actions:
            ((kind, given),) = action.items()
            assert given.keys() == {"index", "alias"} and given["index"] in self.indexes
            assert given["alias"] not in self.indexes, "an alias cannot have the name of an index"
            names = aliases.setdefault(given["alias"], set())
            names.add(given["index"]) if kind == "add" else names.remove(given["index"])
        self.aliases = {alias: names for alias, names in aliases.items() if names}
        return 200, {"acknowledged": True}

    def mapping(self, method, names, body):
        for name in names:
            if method == "PUT":
                given = json.loads(body)
                self.indexes[name].properties.update(given.pop("properties", {}))
                self.indexes[name].mappings.update(given)  # `_meta` is replaced
        if method == "PUT":
            return {"acknowledged": True}
        return {name: {"mappings": self.indexes[name].mappings} for name in names}

    def refresh(self, method, names, body):
        return {}

    def count(self, method, names, body):
        return {"count": sum(len(self.indexes[name].docs) for name in names)}

    def bulk(self, method, names, body):
        assert body.endswith("\n") and len(body) < 50 << 20
        lines = iter(body.split("\n")[:-1])
        items = []
        for action in lines:
            if self.fail_after is not None:
                self.fail_after -= 1
                if self.fail_after < 0:
                    raise ConnectionResetError
            ((kind, target),) = json.loads(action).items()
            source = None if kind == "delete" else json.loads(next(lines))
            items.append({kind: self._write(kind, target, source, names)})
        return {"errors": any(item.get("error") for i in items for item in i.values()), "items": items}

    def _write(self, kind, target, source, names):
        key = target["_id"]
        index = self.indexes[target.get("_index") or names[0]]
        if self.busy:
            self.busy -= 1
            return {"status": 429, "error": {"type": "rejected", "reason": "queue is full"}}
        if key in self.broken:
            cause = {"type": "illegal_argument", "reason": "[words] must be positive"}
            error = {"type": "document_parsing_exception", "reason": "failed to parse", "caused_by": cause}
            return {"status": 400, "error": error}
        if kind == "delete":
            known = index.docs.pop(key, None) is not None
            return {"status": 200, "result": "deleted"} if known else {"status": 404, "result": "not_found"}
        if kind == "index":
            unknown = source.keys() - index.properties.keys()
            assert not (unknown and index.mappings.get("dynamic") == "strict"), unknown
            result = "updated" if key in index.docs else "created"
            index.docs[key] = source
            return {"status": 201, "result": result}
        assert kind == "update" and target.keys() <= {"_id", "_index", "routing", "retry_on_conflict"}
        if key not in index.docs:
            error = {"type": "document_missing_exception", "reason": "document missing"}
            return {"status": 404, "error": error}
        script = source["script"]
        ctx = {"_source": copy.deepcopy(index.docs[key]), "op": "index"}
        painless.run(self.scripts[script["id"]]["script"]["source"], ctx, script["params"])
        assert ctx["op"] in ("index", "none")
        if ctx["op"] == "none":
            return {"status": 200, "result": "noop"}
        index.docs[key] = ctx["_source"]
        return {"status": 200, "result": "updated"}

    def update_by_query(self, method, names, body):
        request, updated = json.loads(body), 0
        for docs in (self.indexes[name].docs for name in names):
            for key, doc in docs.items():
                if not _matches(request["query"], doc):
                    continue
                ctx = {"_source": copy.deepcopy(doc), "op": "index"}
                painless.run(request["script"]["source"], ctx, {})
                assert ctx["op"] in ("index", "noop")
                if ctx["op"] == "index":
                    docs[key] = ctx["_source"]
                    updated += 1
        return {"updated": updated, "version_conflicts": 0, "failures": []}

    def search(self, method, names, body):
        request = json.loads(body)
        scores = []
        for name in names:
            for key, doc in self.indexes[name].docs.items():
                score = _score(request["query"], doc)
                if score > 0:
                    fields = {field: [doc[field]] for field in request.get("fields", []) if field in doc}
                    scores.append({"_index": name, "_id": key, "_score": score, "fields": fields})
        scores.sort(key=lambda hit: -hit["_score"])
        return {"hits": {"total": {"value": len(scores)}, "hits": scores[: request["size"]]}}


def _score(query, doc):
    ((kind, given),) = query.items()
    if kind == "terms":
        ((field, wanted),) = given.items()
        return float(str(doc.get(field)) in wanted)
    if kind == "sparse_vector":
        field, words = given["field"], given["query_vector"]
    else:
        assert kind == "neural_sparse"
        ((field, tokens),) = given.items()
        words = tokens["query_tokens"]
    return sum(weight * (doc.get(field) or {}).get(word, 0) for word, weight in words.items())


def _matches(query, doc):
    if "term" in query:
        return all(doc.get(field) == value for field, value in query["term"].items())
    if "exists" in query:
        return query["exists"]["field"] in doc
    included = all(_matches(part, doc) for part in query["bool"]["filter"])
    return included and not any(_matches(part, doc) for part in query["bool"]["must_not"])
