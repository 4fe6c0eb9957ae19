"""The service as one application."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from coclick._version import __version__
from coclick.errors import CoclickError
from coclick.jit.threads import set_threads
from coclick.service import api, errors
from coclick.service.connections import Connections
from coclick.service.executor import Executor
from coclick.service.loaded_models import LoadedModels
from coclick.service.loaded_suggestions import ServedSuggestions
from coclick.service.metrics import Metrics
from coclick.service.middleware import ServiceMiddleware
from coclick.service.openapi import ServiceApp
from coclick.service.settings import Settings
from coclick.service.studio import routes as studio
from coclick.service.studio.files import read_files
from coclick.service.watcher import Watcher


def create_app(models: LoadedModels, settings: Settings) -> FastAPI:
    """Create the application that serves these models."""
    executor, metrics = Executor(), Metrics()
    suggestions = ServedSuggestions(settings.suggestions)
    watcher = Watcher(models, suggestions, settings.watch, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        connections = Connections(settings.limits, metrics)
        tasks = [asyncio.create_task(watcher.run()), asyncio.create_task(connections.run())]
        yield {"connections": connections}  # the server hands it to LimitedProtocol
        for task in tasks:
            task.cancel()
        watcher.close()
        executor.close()

    app = ServiceApp(
        title="coclick",
        version=__version__,
        description="Learn search relevance from click logs: vectors of readable words that say why "
        "they match.",
        lifespan=lifespan,
        docs_url=None,  # both pages would load scripts from other hosts
        redoc_url=None,
    )
    for part in (
        api.router(models, suggestions, watcher, executor, metrics),
        studio.router(models, executor, settings),
    ):
        app.router.routes.extend(part.routes)  # `include_router` would build each route a second time
    errors.install_handlers(app, read_files()["studio.html"].not_found)
    app.add_middleware(ServiceMiddleware, settings=settings, metrics=metrics)
    return app


def for_process() -> FastAPI:
    """Create the application in a process of `coclick serve`, with the settings that its parent stored."""
    set_threads(1)  # per kernel: requests run in parallel instead
    settings = Settings.from_env()
    return create_app(LoadedModels(settings.models), settings)


def for_worker() -> FastAPI:
    """Create the application in one of several workers; print errors, because uvicorn does not."""
    try:
        return for_process()
    except CoclickError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        sys.exit(error.exit_code)
