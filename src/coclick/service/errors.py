"""What went wrong, as JSON: `{"error": {"message", "where", "hint"}}`, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from coclick.errors import ArtefactError, CoclickError, NotFoundError


class BusyError(CoclickError):
    """More is asked at once than can be answered in time."""

    def __init__(self) -> None:
        super().__init__("the service is busy", hint="come again in a second")


_CODES = {NotFoundError: 404, ArtefactError: 500, BusyError: 503}  # the user's other mistakes are 400


class Json(Response):
    """An answer that is plain values already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Compact UTF-8; bytes that are no text stay escaped."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def problem(code: int, message: str, where: str | None = None, hint: str | None = None) -> Json:
    """An answer that says what was wrong, where, and what to do."""
    return Json({"error": {"message": message, "where": where, "hint": hint}}, code)


def install(app: FastAPI) -> None:
    """Answer in this way whatever goes wrong in the application."""
    handlers: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
        CoclickError: _of_coclick,
        RequestValidationError: _of_validation,
        HTTPException: _of_http,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


async def _of_coclick(request: Request, error: CoclickError) -> Response:
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), 400)
    answer = problem(code, error.what, error.where, error.hint)
    if isinstance(error, BusyError):
        answer.headers["retry-after"] = "1"
    return answer


async def _of_validation(request: Request, error: RequestValidationError) -> Response:
    """The first mistake, with the path of its field; the others are counted."""
    found = error.errors()
    first = found[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return problem(422, f"the body is no JSON: {first['ctx']['error']}", where)
    if where == "body" and not _says_json(request):
        return problem(422, "the body must be JSON and say so", where, "send content-type: application/json")
    others = f"and {len(found) - 1} more like this" if len(found) > 1 else None
    return problem(422, first["msg"], where, others)


def _says_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().endswith("json")


async def _of_http(request: Request, error: HTTPException) -> Response:
    answer = problem(error.status_code, str(error.detail), request.url.path, "see /openapi.json")
    answer.headers.update(error.headers or {})
    return answer
