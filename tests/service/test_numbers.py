"""Every number of a request, from the OpenAPI document: odd values get an error or a finite answer."""

import json
import time
from typing import Any

import pytest

from coclick.service.settings import Settings
from service.conftest import in_process

ODD = [0, -1, 1e308, 1e-300, float("nan"), float("inf"), float("-inf"), 2**63, 10**400]
NUMBERS = ("integer", "number")


class Document:
    """An OpenAPI document: where its requests have numbers, and requests that are valid but for one."""

    def __init__(self, document):
        self.document = document

    def resolve(self, schema):
        while "$ref" in schema:
            found = self.document
            for key in schema["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            schema = found
        options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
        if not options:
            return schema
        return self.resolve(max(options, key=lambda option: len(list(self.paths(option)))))

    def paths(self, schema):
        """The keys that lead to each number: names of properties, 0 for items, * for other properties."""
        schema = self.resolve(schema)
        if schema.get("type") in NUMBERS:
            yield ()
        for name, inner in schema.get("properties", {}).items():
            yield from ((name, *rest) for rest in self.paths(inner))
        for key, part in ((0, "items"), ("*", "additionalProperties")):
            if isinstance(schema.get(part), dict):
                yield from ((key, *rest) for rest in self.paths(schema[part]))

    def example(self, schema, path=None, value=None):
        """A valid value with `value` at the path."""
        schema = self.resolve(schema)
        if path == ():
            return value
        first, rest = (path[0], path[1:]) if path else (None, None)
        if schema.get("type") == "array":
            return [self.example(schema["items"], rest, value)]
        if "properties" in schema or isinstance(schema.get("additionalProperties"), dict):
            names = {*schema.get("required", []), *([first] if first not in (None, "*") else [])}
            found = {
                name: self.example(schema["properties"][name], rest if name == first else None, value)
                for name in names
            }
            if first == "*":
                found["hotel"] = self.example(schema["additionalProperties"], rest, value)
            return found
        return schema.get("enum", [{"string": "hotel", "boolean": True}.get(schema.get("type"), 1)])[0]

    def operations(self):
        for address, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), address, operation

    def requests(self):
        """Yield (method, address, params, body, what varies) with the odd values."""
        for method, address, operation in self.operations():
            params = operation.get("parameters", [])
            needed = {one["name"]: self.example(one["schema"]) for one in params if one.get("required")}
            bodies = operation.get("requestBody", {}).get("content", {})
            schema = bodies.get("application/json", {}).get("schema", {})
            body = self.example(schema) if schema else None
            for one in params:
                if self.resolve(one["schema"]).get("type") in NUMBERS:
                    for value in ODD:
                        yield method, address, needed | {one["name"]: str(value)}, body, one["name"]
            for path in self.paths(schema):
                for value in ODD:
                    yield method, address, needed, self.example(schema, path, value), path


def refuse(constant):
    raise AssertionError(f"the answer has {constant}")


@pytest.fixture
def client(models, graph, suggestions):
    served = tuple((name, str(models / name)) for name in ("vpcg", "popularity"))
    return in_process(Settings(served, suggestions=str(suggestions), graph=str(graph.artefact.path)))


def test_odd_numbers(client):
    document = Document(client.get("/openapi.json").json())
    tried = set()
    for method, address, params, body, what in document.requests():
        given: dict[str, Any] = {"headers": {"content-type": "application/json"}}
        given |= {} if body is None else {"content": json.dumps(body)}
        started = time.monotonic()
        answer = client(method, address, params=params, **given)
        assert answer.status_code < 500, (method, address, params, body)
        assert time.monotonic() - started < 20
        if "json" in answer.headers.get("content-type", ""):
            json.loads(answer.text, parse_constant=refuse)
        tried.add((method, address, what))
    assert {("GET", "/search", "k"), ("POST", "/search", ("k",))} <= tried
    assert [one for one in tried if "features" in one[2]]
    assert len(tried) >= 10
