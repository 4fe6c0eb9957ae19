"""The soak test notices what it is made for: a server without limits, and one that grows."""

import resource
import socket
import threading
from collections import deque
from contextlib import contextmanager

import pytest
import uvicorn

from benchmarks._server import Server
from benchmarks._soak import attacks, flat
from benchmarks._soak.crowd import crowd_size
from benchmarks._soak.trial import Trial, WrongError
from coclick.service import connections
from coclick.service.app import create_app
from coclick.service.connections import LimitedProtocol
from coclick.service.loaded_models import LoadedModels
from coclick.service.settings import ConnectionLimits, Settings


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(connections, "_SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(attacks, "PATIENCE", 1.0)
    for name in ("HALF_HEADS", "HALF_BODIES", "DRIPPING"):
        monkeypatch.setattr(attacks, name, 3)


@contextmanager
def serving(models, protocol):
    limits = ConnectionLimits(head_seconds=0.2, body_seconds=0.2, end_seconds=0.2)
    settings = Settings((("vpcg", str(models / "vpcg")),), limits=limits)
    app = create_app(LoadedModels(settings.models), settings)
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, ws="none", log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Trial(Server(0, listener.getsockname()[1], deque()))
        finally:
            server.should_exit = True
            thread.join(30)


def test_slow_clients_are_counted(models, monkeypatch):
    monkeypatch.setattr(attacks, "PATIENCE", 20.0)
    with serving(models, LimitedProtocol) as trial:
        attacks.half_heads(trial)
        attacks.half_bodies(trial)
        attacks.dripping(trial)
        attacks.huge_requests(trial)
        assert trial.counts == {
            "half-sent heads ended": 3,
            "half-sent bodies ended": 3,
            "dripping heads ended": 3,
            "huge requests stopped": 3,
        }


def test_a_server_without_limits_is_noticed(models):
    with serving(models, "httptools") as trial:
        with pytest.raises(WrongError, match="still open"):
            attacks.half_heads(trial)
        with pytest.raises(WrongError, match="still open"):
            attacks.dripping(trial)


def test_the_first_error_ends_a_trial():
    trial = Trial(Server(0, 0, deque()))

    def fail():
        raise WrongError("a wrong answer")

    trial.repeat("fails", fail)
    trial.repeat("goes on", lambda: trial.count("rounds"), 0.001)
    trial.wait(10)
    trial.stop()
    assert trial.is_over and len(trial.errors) == 1 and trial.errors[0].endswith("fails: a wrong answer")


def test_growth():
    first = flat.Usage(80 << 20, 90, 4)
    assert flat.growth(first, flat.Usage(80 << 20, 100, 4)) == []
    assert flat.growth(first, flat.Usage(80 << 20, 101, 5)) == [
        "open files grew from 90 to 101",
        "threads grew from 4 to 5",
    ]
    memory = flat.Memory(100)
    for second, mega in ((5, 900), (30, 100), (60, 900), (95, 130)):
        memory.add(second, mega << 20)
    assert memory.growth() == [] and str(memory) == "memory 100.0 → 130.0 MB"
    memory.add(99, 131 << 20)
    assert "memory grew" in memory.growth()[0]


def test_fewer_connections_where_few_files_may_be_open(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5500, 5500))
    assert crowd_size(10_000) == 2500
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20_000, 20_000))
    assert crowd_size(10_000) == 10_000
