"""The OpenAPI document, which is built when it is first requested.

Responses are plain values and are not validated, so FastAPI is not given their types: it would build a
validator for each route at every start of the service. Routes name their types, and the document adds them.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

Responses = dict[int | str, dict[str, Any]]
_SCHEMAS = "#/components/schemas/"


def json_response(name: str, code: int = 200) -> Responses:
    """Declare a response of a route, by the name of its type in responses.py."""
    return _response({"$ref": _SCHEMAS + name}, code)


def batch_response(name: str) -> Responses:
    """Declare a response with a list of answers, in the order of the request."""
    answers = {"type": "array", "items": {"$ref": _SCHEMAS + name}}
    return _response({"type": "object", "required": ["answers"], "properties": {"answers": answers}}, 200)


def _response(schema: dict[str, Any], code: int) -> Responses:
    content = {"application/json": {"schema": schema}}
    return {code: {"description": HTTPStatus(code).phrase, "content": content}}


ERROR_RESPONSES: Responses = {}
for _code in (400, 401, 404, 408, 413, 421, 422, 431, 503):
    ERROR_RESPONSES |= json_response("ErrorResponse", _code)


class ServiceApp(FastAPI):
    """An application whose OpenAPI document includes the types of responses.py."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            super().openapi()["components"]["schemas"] |= _response_schemas()
        assert self.openapi_schema is not None
        return self.openapi_schema


def _response_schemas() -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.json_schema import JsonSchemaMode

    from coclick.service.responses import RESPONSES

    adapters: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (kind.__name__, "serialization", TypeAdapter(kind)) for kind in RESPONSES
    ]
    _, document = TypeAdapter.json_schemas(adapters, ref_template=_SCHEMAS + "{model}")
    schemas: dict[str, Any] = document["$defs"]
    return schemas
