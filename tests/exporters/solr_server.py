"""A server that answers like Solr in cloud mode, for tests of `run.py`.

Written from the reference guide of Solr 9 ("Collections API", "Alias management", "Schema API", "Luke request
handler", "Partial document updates", "Optimistic concurrency", "JSON request API", "Pagination of results");
it is not a real engine. Updates become visible with a commit, as in Solr.
"""

import copy
import json
import re
from functools import cache
from urllib.parse import parse_qs, unquote

DEFAULT_FIELDS = {"id": "string", "_version_": "plong", "_text_": "text_general"}


class Collection:
    """Documents by `id`: those that searches see, and those that are not committed yet."""

    def __init__(self, docs=None, fields=None):
        self.docs = {key: {"id": key, **doc} for key, doc in (docs or {}).items()}
        self.pending = copy.deepcopy(self.docs)
        self.fields, self.types = {**DEFAULT_FIELDS, **(fields or {})}, {"string", "text_general", "plong"}
        self.params: dict[str, dict[str, str]] = {}
        self.flags: dict[str, str] = {}  # of the Luke handler, by field

    def commit(self):
        self.docs = copy.deepcopy(self.pending)


class Solr:
    """Collections and aliases."""

    def __init__(self, **collections):
        self.collections, self.aliases = collections, {}
        self.broken: tuple[str, ...] = ()  # ids that are refused whenever they are written
        self.fail_after: int | None = None  # documents after which the connection breaks
        self.requests = []

    def answer(self, method, path, body):
        """Return the status and the body of a response."""
        self.requests.append((method, path, body))
        path, _, query = path.partition("?")
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        first, *rest = unquote(path).strip("/").split("/")
        if first == "admin":
            return 200, getattr(self, parameters.pop("action").lower())(**parameters)
        collection = self.collections.get(self.aliases.get(first, first))
        if collection is None:
            return 404, {"error": {"msg": f"no collection {first}", "code": 404}}
        if rest[:2] == ["config", "params"]:
            if method == "GET":
                return 200, {"response": {"params": {rest[2]: collection.params.get(rest[2], {})}}}
            collection.params |= json.loads(body)["set"]
            return 200, {}
        if rest[:2] == ["schema", "fieldtypes"]:
            return (200, {}) if rest[2] in collection.types else (404, {"error": {"msg": "No such path"}})
        if rest == ["admin", "luke"]:
            used = {name for doc in collection.docs.values() for name in doc}
            return 200, {"fields": {name: {"schema": collection.flags.get(name, "ITS--")} for name in used}}
        return getattr(self, rest[0])(collection, method, json.loads(body) if body else None)

    # -- collections API -----------------------------------------------------------------------------------

    def list(self):
        return {"collections": sorted(self.collections)}

    def create(self, name, numShards):
        assert name not in self.collections and name not in self.aliases
        self.collections[name] = Collection()
        return {"success": {}}

    def delete(self, name):
        assert name not in self.aliases.values(), "a collection of an alias cannot be deleted"
        del self.collections[name]
        return {"success": {}}

    def listaliases(self):
        return {"aliases": self.aliases, "properties": {}}

    def createalias(self, name, collections):
        assert collections in self.collections and name not in self.collections
        self.aliases = {**self.aliases, name: collections}
        return {}

    def deletealias(self, name):
        self.aliases = {alias: of for alias, of in self.aliases.items() if alias != name}
        return {}

    # -- a collection --------------------------------------------------------------------------------------

    def schema(self, collection, method, commands):
        if method == "GET":
            fields = [{"name": name, "type": kind} for name, kind in collection.fields.items()]
            types = [{"name": name} for name in collection.types]
            copies = [{"source": "title", "dest": "all"}]
            return 200, {
                "schema": {"uniqueKey": "id", "fields": fields, "fieldTypes": types, "copyFields": copies}
            }
        for kind in commands.get("add-field-type", []):
            assert kind["name"] not in collection.types
            collection.types.add(kind["name"])
        for field in commands.get("add-field", []):
            assert field["name"] not in collection.fields and field["type"] in collection.types
            collection.fields[field["name"]] = field["type"]
        return 200, {"responseHeader": {"status": 0}}

    def update(self, collection, method, body):
        if body == {"commit": {}}:
            collection.commit()
            return 200, {}
        for doc in body:  # those before a wrong one are kept, as in Solr
            if self.fail_after is not None:
                self.fail_after -= 1
                if self.fail_after < 0:
                    raise ConnectionResetError
            if doc["id"] in self.broken:
                return 400, {"error": {"msg": f"ERROR: [doc={doc['id']}] immense term", "code": 400}}
            old = collection.pending.get(doc["id"])
            if doc.get("_version_") == 1 and old is None:
                return 409, {"error": {"msg": f"Document not found for update. id={doc['id']}", "code": 409}}
            atomic = any(isinstance(value, dict) for value in doc.values())
            collection.pending[doc["id"]] = _changed(old or {}, doc) if atomic else doc
            unknown = doc.keys() - collection.fields.keys()
            assert not unknown, unknown
        return 200, {"responseHeader": {"status": 0}}

    def query(self, collection, method, request):
        scores = {key: _score(request["query"], doc) for key, doc in collection.docs.items()}
        filters = request.get("filter", [])
        found = [
            key
            for key, score in scores.items()
            if score > 0 and all(_passes(text, collection.docs[key]) for text in filters)
        ]
        fields = request.get("fields", [])
        fields = fields.split(",") if isinstance(fields, str) else fields
        answer = {"numFound": len(found)}
        extra = {}
        if "sort" in request:
            assert request["sort"] == "id asc"
            mark = request["params"]["cursorMark"]
            found = sorted(key for key in found if mark == "*" or key > mark[1:])
            extra["nextCursorMark"] = mark if not found else "=" + found[: request["limit"]][-1]
        else:
            found.sort(key=lambda key: -scores[key])
        docs = []
        for key in found[: request["limit"]]:
            doc = {**collection.docs[key], "score": scores[key]}
            docs.append({name: doc[name] for name in fields if name in doc})
        return 200, {"response": answer | {"docs": docs}} | extra


def _changed(old, doc):
    """Apply an atomic update."""
    new = dict(old)
    for name, value in doc.items():
        if isinstance(value, dict):
            ((operation, given),) = value.items()
            assert operation == "set"
            new.pop(name, None)
            if given is not None:
                new[name] = given
        elif name != "_version_":
            new[name] = value
    return new


def _passes(text, doc):
    if isinstance(text, dict):
        return _score(text, doc) > 0
    field, _, value = text.lstrip("-").partition(":")
    matches = field in doc and value in ("*", doc[field])
    return matches != text.startswith("-")


def _score(query, doc):
    if query == "*:*":
        return 1.0
    ((parser, given),) = query.items()
    if parser == "terms":
        return float(str(doc.get(given["f"])) in given["query"].split(given["separator"]))
    assert parser == "bool" and len(given["should"]) <= 1024  # maxBooleanClauses
    score = 0.0
    for clause in given["should"]:
        boost = clause["boost"]
        payload = boost["query"]["payload_score"]
        assert payload["func"] == "sum"
        assert not re.search(r"\s", payload["query"])
        score += boost["b"] * payloads(doc.get(payload["f"], "")).get(payload["query"], 0.0)
    return score


@cache
def payloads(text):
    """The tokens of a field with their payloads; a token has at most 256 characters."""
    tokens = text.split()
    assert all(len(token) <= 256 for token in tokens)
    return {word: float(weight) for word, _, weight in (token.rpartition("|") for token in tokens)}
