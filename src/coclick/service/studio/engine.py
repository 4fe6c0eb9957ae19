"""The user's own search engine, asked live: its results beside those of a model.

The address, the body and the headers come from the command line, never from the browser: a page only sends
the text of a query. Redirects are not followed, and time and size are limited.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlsplit

from coclick.errors import UserError
from coclick.service.settings import EngineSettings

MAX_ANSWER = 8 << 20  # bytes
_QUERY, _K = "{{query}}", "{{k}}"
_SAMPLE = 'a "quoted" query \\ with marks'


class Engine:
    """A search engine that answers a query over HTTP with JSON."""

    def __init__(self, settings: EngineSettings) -> None:
        check_engine(settings)
        self._settings = settings
        self.address = urlsplit(settings.url).netloc
        self._opener = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the documents that the engine finds, best first, as {doc, title}."""
        answer = self._ask(query, k)
        ids = find_path(answer, self._settings.ids)
        if not isinstance(ids, list):
            raise UserError(
                f"its answer has no list at {self._settings.ids}", hint="give the path with --engine-ids"
            )
        titles = find_path(answer, self._settings.titles) if self._settings.titles else []
        found = []
        for i, doc in enumerate(ids[:k]):
            if doc is None:
                raise UserError(
                    f"hit {i + 1} has no {self._settings.ids}", hint="give the path with --engine-ids"
                )
            title = titles[i] if isinstance(titles, list) and i < len(titles) else None
            found.append({"doc": _text(doc), "title": _text(title)})
        return found

    def _ask(self, query: str, k: int) -> Any:
        given = self._settings
        url = given.url.replace(_QUERY, quote(query, safe="")).replace(_K, str(k))
        body = fill_template(given.template, query, k).encode() if given.template is not None else None
        headers = {"Accept": "application/json", "User-Agent": "coclick", **dict(given.headers)}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, body, headers)
        try:
            with self._opener.open(request, timeout=given.timeout) as answer:
                content = _read(answer, time.monotonic() + given.timeout)
        except urllib.error.HTTPError as error:
            raise UserError(_refusal(error), hint="try the same request with curl") from None
        except TimeoutError:
            raise UserError(
                f"the engine at {self.address} did not answer within {given.timeout:g} seconds"
            ) from None
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                reason = f"no answer within {given.timeout:g} seconds"
            raise UserError(f"the engine at {self.address} cannot be asked: {reason}") from None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise UserError(f"the engine's answer is not JSON: {content[:60]!r}") from None


def _read(answer: Any, until: float) -> bytes:
    """Read an answer; the timeout of a socket alone would not stop one that comes in drops."""
    content = bytearray()
    while part := answer.read1(1 << 16):
        content += part
        if len(content) > MAX_ANSWER:
            what = f"the engine's answer has more than {MAX_ANSWER >> 20} MB"
            raise UserError(what, hint="ask for fewer fields in the template")
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(content)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect could lead to another host, which the user did not name."""

    def redirect_request(self, *_: Any) -> None:
        return None


def check_engine(settings: EngineSettings) -> None:
    """Raise if the settings cannot work, so that the server says so when it starts."""
    parts = urlsplit(settings.url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UserError("the engine's URL must start with http:// or https://", where=settings.url)
    if "@" in parts.netloc:
        raise UserError(
            "the engine's URL must not have a password",
            hint="write the header Authorization: Basic … to a file: --engine-headers FILE",
        )
    if settings.template is None:
        if _QUERY not in settings.url:
            raise UserError(
                f"nothing says where the query goes: the URL has no {_QUERY}, and there is no template",
                where=settings.url,
                hint="add --engine-template FILE, the body of a search with {{query}} inside quotes",
            )
        return
    if _QUERY not in settings.template:
        raise UserError(
            f"the template has no {_QUERY}", hint='for example {"query": {"match": {"title": "{{query}}"}}}'
        )
    try:
        json.loads(fill_template(settings.template, _SAMPLE, 10))
    except ValueError as error:
        raise UserError(
            f"the template is not JSON once it is filled in: {error}", hint=f'write "{_QUERY}" inside quotes'
        ) from None


def fill_template(template: str, query: str, k: int) -> str:
    """Return the body of a request: the query is escaped as inside a JSON string."""
    return template.replace(_K, str(k)).replace(_QUERY, json.dumps(query)[1:-1])


def find_path(answer: Any, path: str) -> Any:
    """Return what is at a path such as `hits.hits[]._id`, or None; `[]` takes every item of a list."""
    name, _, rest = path.partition(".")
    many = name.endswith("[]")
    key = name.removesuffix("[]")
    found = answer.get(key) if isinstance(answer, dict) else None
    if not many:
        return find_path(found, rest) if rest and found is not None else found
    if not isinstance(found, list):
        return None
    return [find_path(item, rest) for item in found] if rest else found


def _text(value: Any) -> str:
    """A value as text; engines return fields as lists, too."""
    if isinstance(value, list):
        value = value[0] if value else None
    return "" if value is None else str(value)


def _refusal(error: urllib.error.HTTPError) -> str:
    """What the engine says is wrong, in one line."""
    what = f"the engine answered with {error.code}"
    if 300 <= error.code < 400:
        return f"{what}, a redirect, which is not followed"
    try:
        said = json.loads(error.read(10_000))
    except (ValueError, OSError):
        return what
    reason = find_path(said, "error.reason") or find_path(said, "error.msg") or find_path(said, "error")
    return f"{what}: {reason}" if isinstance(reason, str) else what
