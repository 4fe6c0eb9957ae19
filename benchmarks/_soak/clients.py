"""Ordinary clients, and those that ask nonsense. Every answer is checked."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from benchmarks._server import request
from benchmarks._soak.trial import RANDOM, Trial, WrongError
from coclick.service.settings import MAX_BODY

_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_INVALID = [
    ("GET", "/search?k=0", None, 422),
    ("GET", "/search?q=" + "x" * 1001, None, 422),
    ("GET", "/explain?q=x&doc=none", None, 404),
    ("POST", "/rank", b"{", 422),
    ("POST", "/search", b'{"queries": ["' + b"x" * MAX_BODY + b'"]}', 413),
    ("GET", "/%00%ff", None, 404),
]


class Searches:
    """Searches whose answers must be those of one of the models that are swapped."""

    def __init__(self, trial: Trial, queries: list[str], expected: list[list[dict]]) -> None:
        self._trial, self._queries, self._expected = trial, queries, expected
        self.seconds: list[float] = []

    def client(self) -> Callable[[], None]:
        """Return the action of one client with its own connection."""
        connection = self._trial.server.connect()

        def search() -> None:
            i = RANDOM.randrange(len(self._queries))
            began = time.perf_counter()
            status, found = request(connection, "GET", f"/search?q={quote(self._queries[i])}")
            self.seconds.append(time.perf_counter() - began)
            if status != 200 or json.loads(found) not in self._expected[i]:
                raise WrongError(f"{self._queries[i]!r} got {status} {found[:500]!r}")
            self._trial.count("searches")

        return search


def invalid_requests(trial: Trial) -> Callable[[], None]:
    """Return the action of a client whose requests are not valid: each must get its error."""
    connection = trial.server.connect()

    def ask() -> None:
        nonlocal connection
        method, path, body, code = RANDOM.choice(_INVALID)
        status, found = request(connection, method, path, body)
        if status != code or b'"error"' not in found:
            raise WrongError(f"{method} {path[:50]} got {status} {found[:500]!r}")
        if status == 413:
            connection = trial.server.connect()  # the server ends the connection
        trial.count("invalid requests")

    return ask


def strangers(trial: Trial) -> None:
    """Ask for another host, as a page does whose domain points to this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", trial.server.port, timeout=300)
    for path, code in (("/models", 421), ("/search?q=x", 421), ("/ready", 200)):
        connection.request("GET", path, headers={"Host": "evil.example"})
        response = connection.getresponse()
        response.read()
        if response.status != code:
            raise WrongError(f"{path} of a stranger got {response.status}")
        trial.count("requests for other hosts")
    connection.close()


def generated_requests(trial: Trial) -> Callable[[], None]:
    """Return an action that asks every operation of the OpenAPI document, with right and wrong values."""
    address = f"http://127.0.0.1:{trial.server.port}"
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    plan = settings(
        max_examples=10,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    def ask() -> None:
        operation = RANDOM.choice(operations)
        mode = RANDOM.choice([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
        if mode == GenerationMode.NEGATIVE and not (operation.query or operation.body):
            mode = GenerationMode.POSITIVE  # no invalid request exists

        @plan
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            if not trial.is_over:
                case.call_and_validate(checks=_CHECKS, timeout=300)
                trial.count("generated requests")

        check()

    return ask
