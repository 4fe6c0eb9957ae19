"""The OpenAPI document, which is made when somebody asks for it.

The shapes of answers are for its readers alone: answers are plain values, and nobody checks them. Told of
these shapes, FastAPI would make a validator for each address, at every start of the service.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

_SHAPES = "#/components/schemas/"


def answered(shape: str, code: int = 200) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an address: the shape under that code, by its name in given.py."""
    content = {"application/json": {"schema": {"$ref": _SHAPES + shape}}}
    return {code: {"description": HTTPStatus(code).phrase, "content": content}}


PROBLEMS: dict[int | str, dict[str, Any]] = {}
for _code in (400, 401, 404, 413, 422, 503):
    PROBLEMS |= answered("Problem", _code)


class Documented(FastAPI):
    """An application whose document has the shapes of given.py."""

    def openapi(self) -> dict[str, Any]:
        """The document."""
        if self.openapi_schema is None:
            super().openapi()["components"]["schemas"] |= _shapes()
        assert self.openapi_schema is not None
        return self.openapi_schema


def _shapes() -> dict[str, Any]:
    from coclick.service import responses as given

    shapes = [kind for kind in vars(given).values() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    said = models_json_schema(
        [(shape, "serialization") for shape in shapes if shape is not BaseModel],
        ref_template=_SHAPES + "{model}",
    )
    return said[1]["$defs"]
