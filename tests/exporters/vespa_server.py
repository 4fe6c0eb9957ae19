"""A server that answers like Vespa's /document/v1 and /search, for tests of `run.py`.

Written from the documentation of Vespa 8 ("/document/v1 API reference", "Document JSON format", "Document
selector language", "Query API reference"); it is not a real engine.
"""

import json
import re
from urllib.parse import parse_qs, unquote

DIVISOR = 1e12  # of the rank profiles


class Vespa:
    """Documents by id, with the fields of their types and the query profiles that are deployed."""

    def __init__(self, types, docs=None, clusters=("coclick",)):
        self.types, self.docs, self.clusters = types, docs or {}, clusters
        self.profiles: dict[str, dict[str, str]] = {}
        self.busy = 0  # the next writes that are answered with 429
        self.broken: tuple[str, ...] = ()  # ends of ids that are refused whenever they are written
        self.fail_after: int | None = None  # writes after which the connection breaks
        self.page = 3  # documents of a visit

    def answer(self, method, path, body):
        """Return the status and the body of a response."""
        path, _, query = path.partition("?")
        given = {name: values[0] for name, values in parse_qs(query).items()}
        if path == "/search/":
            return 200, {"root": self.search(json.loads(body))}
        _, _, _, namespace, kind, *rest = path.split("/")
        if kind not in self.types:
            return 400, {"pathId": path, "message": f"Document type {kind} does not exist"}
        if rest == ["docid"]:
            return self.visit(namespace, kind, given) if method == "GET" else self.delete(kind, given)
        if method == "GET":
            return self.get(f"id:{namespace}:{kind}::{unquote(rest[1])}", kind, given)
        modifier = {"docid": "", "number": "n=", "group": "g="}[rest[0]] + "".join(map(unquote, rest[1:-1]))
        return self.write(method, f"id:{namespace}:{kind}:{modifier}:{unquote(rest[-1])}", kind, body)

    def get(self, name, kind, given):
        wanted_kind, _, field = given["fieldSet"].partition(":")
        assert wanted_kind == kind and field in self.types[kind]
        if name not in self.docs:
            return 404, {"id": name}
        fields = self.docs[name]
        return 200, {"id": name, "fields": {field: fields[field]} if field in fields else {}}

    def write(self, method, name, kind, body):
        if self.fail_after is not None:
            self.fail_after -= 1
            if self.fail_after < 0:
                raise ConnectionResetError
        if self.busy:
            self.busy -= 1
            return 429, {"message": "Rejecting execution due to overload"}
        fields = json.loads(body)["fields"]
        unknown = fields.keys() - self.types[kind].keys()
        if unknown or (self.broken and name.endswith(self.broken)):
            return 400, {"message": f"No field '{min(unknown, default='words')}' in the structure of {kind}"}
        if method == "POST":
            self.docs[name] = fields
        elif name in self.docs:  # otherwise nothing happens
            for field, change in fields.items():
                ((operation, value),) = change.items()
                assert operation == "assign"
                self.docs[name].pop(field, None)
                if value is not None:
                    self.docs[name][field] = value
        return 200, {"id": name}

    def _selected(self, namespace, kind, selection):
        head = f"id:{namespace}:{kind}:"
        compared = re.fullmatch(rf'{kind}\.(\w+) (==|!=) "(\w+)"', selection)
        assert compared or selection in ("true", kind)
        for name, fields in self.docs.items():
            if name.startswith(head) and (
                not compared or (fields.get(compared[1]) == compared[3]) == (compared[2] == "==")
            ):
                yield name

    def visit(self, namespace, kind, given):
        wanted_kind, _, fields = given["fieldSet"].partition(":")
        wanted = set(fields.split(","))
        if wanted_kind != kind or wanted - self.types[kind].keys():
            return 400, {"message": f"No such field in field set: {given['fieldSet']}"}
        names = sorted(self._selected(namespace, kind, given["selection"]))
        names = [name for name in names if name > given.get("continuation", "")]
        page = names[: self.page]
        documents = [
            {
                "id": name,
                "fields": {field: self.docs[name][field] for field in wanted & self.docs[name].keys()},
            }
            for name in page
        ]
        more = {"continuation": page[-1]} if len(names) > len(page) else {}
        return 200, {"documents": documents, "documentCount": len(page)} | more

    def delete(self, kind, given):
        assert given["cluster"] in self.clusters
        names = sorted(self._selected(kind, kind, given["selection"]))
        for name in names[: self.page]:
            del self.docs[name]
        more = {"continuation": "x"} if len(names) > self.page else {}
        return 200, {"documentCount": min(len(names), self.page)} | more

    def search(self, request):
        selected = re.fullmatch(r"select (.+?) from sources \* where (.+)", request["yql"], re.DOTALL)
        where, kind = selected[2], request["model.restrict"]
        assert kind in self.types
        profile = self.profiles.get(request.get("queryProfile"), {})
        named = re.search(r'version contains (@\w+|"\w+")', where)
        version = None
        if named:
            version = named[1].strip('"') if named[1][0] == '"' else profile.get(named[1][1:])
        wand = re.search(r"(?:wand|dotProduct)\((\w+), (\{.*\})\)", where)
        weights = json.loads(wand[2]) if wand else {}
        assert all(type(weight) is int and 0 < weight < 2**31 for weight in weights.values())
        listed = re.search(r'(\w+) in \((".*?")\) and dotProduct', where)
        only = {*json.loads(f"[{listed[2]}]")} if listed else set()
        assert request["hits"] <= 400  # maxHits
        children = []
        for name, fields in self.docs.items():
            if f":{kind}:" not in name or (version and fields.get("version") != version):
                continue
            if listed and str(fields.get(listed[1])) not in only:
                continue
            score = 1.0
            if wand:
                held = fields.get(wand[1], {})
                score = sum(weight * held.get(word, 0) for word, weight in weights.items()) / DIVISOR
            if score:
                children.append({"id": name, "relevance": score, "fields": fields | {"documentid": name}})
        children.sort(key=lambda hit: -hit["relevance"])
        return {"fields": {"totalCount": len(children)}, "children": children[: request["hits"]]}
