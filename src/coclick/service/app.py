"""The service as one application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from coclick._version import __version__
from coclick.jit.threads import set_threads
from coclick.service import api
from coclick.service import errors as problems
from coclick.service.executor import Work
from coclick.service.loaded_models import Catalogue
from coclick.service.metrics import Metrics
from coclick.service.middleware import Guard
from coclick.service.openapi import Documented
from coclick.service.settings import Settings
from coclick.service.studio.routes import router as studio

log = logging.getLogger("coclick.service")


def create_app(catalogue: Catalogue, settings: Settings) -> FastAPI:
    """The application over these models."""
    work, metrics = Work(), Metrics()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(catalogue, settings.watch, metrics))
        yield
        watching.cancel()
        work.close()

    app = Documented(
        title="coclick",
        version=__version__,
        description="Search click logs into relevance: rank, find similar, expand, and say why.",
        lifespan=lifespan,
        docs_url=None,  # both would load scripts from elsewhere
        redoc_url=None,
    )
    report = Path(settings.report) if settings.report else None
    for part in (api.router(catalogue, work, metrics), studio(catalogue, work, report)):
        app.router.routes.extend(part.routes)  # as they are: `include_router` would make each a second time
    problems.install(app)
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    return app


def for_worker() -> FastAPI:
    """The application of a process that was started by `coclick serve`."""
    set_threads(1)  # of a kernel: several requests are answered side by side
    settings = Settings.told()
    return create_app(Catalogue(settings.models), settings)


async def _watch(catalogue: Catalogue, seconds: float, metrics: Metrics) -> None:
    """Look at the models' directories from time to time, beside the requests."""
    while True:
        await asyncio.sleep(seconds)
        for served in await asyncio.to_thread(catalogue.refresh):
            if served.problem:
                log.warning("%s changed, but the old one stays: %s", served.name, served.problem)
            else:
                log.warning("%s changed, and the new one is served", served.name)
            metrics.refreshed(taken=served.problem is None)
