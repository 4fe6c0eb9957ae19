"""Calls in threads: how many may wait, and what is logged when one fails."""

import asyncio
import logging
import threading

import pytest

from coclick.service import executor
from coclick.service.errors import BusyError
from coclick.service.executor import Executor
from coclick.service.metrics import Metrics
from coclick.service.middleware import ServiceMiddleware
from coclick.service.settings import Settings


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(executor, "_MAX_WAITING", 3)
    threads = Executor()
    yield threads
    threads.close()


def test_one_call_too_many_is_refused_and_places_are_given_back(calls):
    async def run():
        go_on = threading.Event()
        waiting = [asyncio.ensure_future(calls.run_in_thread(go_on.wait)) for _ in range(3)]
        await asyncio.sleep(0)  # let them start
        with pytest.raises(BusyError):
            await calls.run_in_thread(go_on.wait)
        go_on.set()
        await asyncio.gather(*waiting)
        return await asyncio.gather(*(calls.run_in_thread(int) for _ in range(3)))

    assert asyncio.run(run()) == [0, 0, 0]


def test_a_failed_call_gives_its_place_back(calls):
    async def run():
        for _ in range(10):
            with pytest.raises(ZeroDivisionError):
                await calls.run_in_thread(divmod, 1, 0)

    asyncio.run(run())


def test_a_cancelled_call_gives_its_place_back_when_it_ends(calls):
    async def run():
        go_on = threading.Event()
        waiting = [asyncio.ensure_future(calls.run_in_thread(go_on.wait)) for _ in range(3)]
        await asyncio.sleep(0.05)
        for one in waiting:
            one.cancel()
        go_on.set()
        await asyncio.sleep(0.05)
        return await calls.run_in_thread(int)

    assert asyncio.run(run()) == 0


def test_a_path_cannot_forge_a_line_of_the_log(caplog):
    async def broken(scope, receive, send):
        raise RuntimeError("broken")

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    sent = []

    async def send(message):
        sent.append(message)

    app = ServiceMiddleware(broken, Settings(models=()), Metrics())
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/a\nERROR forged",
        "headers": [(b"host", b"localhost")],
    }
    with caplog.at_level(logging.ERROR, "coclick.service"):
        asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 500
    [record] = caplog.records
    assert record.getMessage() == "internal error at '/a\\nERROR forged'"
