"""Errors as JSON: `{"error": {"message", "where", "hint"}}`, never a traceback.

A browser that opens an address that does not exist gets a page instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from coclick.errors import ArtefactError, CoclickError, NotFoundError, UserError, counted


class BusyError(CoclickError):
    """Too many requests are waiting."""

    def __init__(self) -> None:
        super().__init__("too many requests", hint="retry in a second")


class ForbiddenError(UserError):
    """A request that the server understands and refuses."""


_CODES = {
    NotFoundError: 404,
    ForbiddenError: 403,
    ArtefactError: 500,
    BusyError: 503,
}  # other errors of the user are 400


class JsonResponse(Response):
    """A response of plain values."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encode as compact UTF-8; bytes that are not text stay escaped."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def error_response(
    code: int, message: str, where: str | None = None, hint: str | None = None
) -> JsonResponse:
    """Create a response that says what is wrong, where, and what to do."""
    return JsonResponse({"error": {"message": message, "where": where, "hint": hint}}, code)


class UnknownAddressError(NotFoundError):
    """Nothing is at this address."""


def install_handlers(app: FastAPI, not_found_page: Callable[[], Response]) -> None:
    """Answer every error of the application in this form."""

    async def on_coclick_error(request: Request, error: CoclickError) -> Response:
        if isinstance(error, UnknownAddressError) and _wants_page(request):
            return not_found_page()
        return await _on_coclick_error(request, error)

    async def on_http_error(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and _wants_page(request):
            return not_found_page()
        return await _on_http_error(request, error)

    app.exception_handler(CoclickError)(on_coclick_error)
    app.exception_handler(RequestValidationError)(_on_validation_error)
    app.exception_handler(HTTPException)(on_http_error)


def _wants_page(request: Request) -> bool:
    """Whether a person opened the address in a browser: those name HTML, programs name JSON or nothing."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


async def _on_coclick_error(request: Request, error: CoclickError) -> Response:
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), 400)
    response = error_response(code, error.what, error.where, error.hint)
    if isinstance(error, BusyError):
        response.headers["retry-after"] = "1"
    return response


async def _on_validation_error(request: Request, error: RequestValidationError) -> Response:
    """Report the first error with the path of its field, and count the others."""
    errors = error.errors()
    first = errors[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return error_response(422, f"the body is not JSON: {first['ctx']['error']}", where)
    if where == "body" and not _is_json(request):
        message = "the body must be JSON, with the matching content type"
        return error_response(422, message, where, "send content-type: application/json")
    others = f"and {counted(len(errors) - 1, 'more error')}" if len(errors) > 1 else None
    return error_response(422, _message(first), where, others)


def _message(error: Any) -> str:
    """What is wrong with a parameter of the URL, a field of the body, or the body."""
    source, *path = error["loc"]
    named = f"{'parameter' if source == 'query' else 'field'} {path[-1]}" if path else str(source)
    if error["type"] == "missing":
        return f"the {named} is required"
    if error["type"] == "extra_forbidden":
        return f"there is no {named}"
    return str(error["msg"])


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().endswith("json")


async def _on_http_error(request: Request, error: HTTPException) -> Response:
    response = error_response(error.status_code, str(error.detail), request.url.path, "see /openapi.json")
    response.headers.update(error.headers or {})
    return response
