import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

import planted
from coclick import Suggestions, train
from coclick.service.app import create_app
from coclick.service.loaded_models import LoadedModels
from coclick.service.settings import Settings


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    return planted.graph().save(tmp_path_factory.mktemp("served") / "graph")


@pytest.fixture(scope="session")
def models(graph, tmp_path_factory):
    """The directory of three trained models."""
    home = tmp_path_factory.mktemp("models")
    train("vpcg", graph).save(home / "vpcg")
    train("pls(dim=8)", graph).save(home / "pls")
    train("popularity", graph).save(home / "popularity")
    return home


@pytest.fixture(scope="session")
def suggestions(graph, tmp_path_factory):
    """The directory of suggestions from the same graph."""
    return Suggestions.build(graph).save(tmp_path_factory.mktemp("suggestions") / "saved").artefact.path


@pytest.fixture
def settings(models):
    return Settings(tuple((name, str(models / name)) for name in ("vpcg", "pls", "popularity")))


@pytest.fixture
def client(settings):
    """A client that calls the application without a network."""
    return in_process(settings)


def in_process(settings):
    app = create_app(LoadedModels(settings.models), settings)
    return Client(httpx.ASGITransport(app, raise_app_exceptions=False))


class Client:
    """One request at a time, each in its own event loop."""

    def __init__(self, transport):
        self._transport = transport

    def __call__(self, method, path, **given):
        import asyncio

        async def ask():
            async with httpx.AsyncClient(transport=self._transport, base_url="http://localhost") as client:
                return await client.request(method, path, **given)

        return asyncio.run(ask())

    def get(self, path, headers=None, **params):
        return self("GET", path, params=params, headers=headers)

    def post(self, path, **body):
        return self("POST", path, json=body)


@contextmanager
def running(*arguments, **more):
    """Start a server in a new process on a free local port: (process, address)."""
    command = [sys.executable, "-m", "coclick", "serve", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more) as process:
        try:
            yield process, address_of(process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(30)


def address_of(process):
    """Return the address of the server once it is ready."""
    for line in process.stderr:
        if "serves at" in line:
            address = line.split()[-1].rstrip("/")
            break
    else:
        raise AssertionError(f"the server ended with {process.wait()}")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if httpx.get(address + "/ready").status_code == 200:
                return address
        except httpx.TransportError:
            time.sleep(0.02)
    raise AssertionError("the server was not ready in a minute")
