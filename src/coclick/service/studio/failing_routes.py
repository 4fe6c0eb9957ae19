"""Queries that fail, in clusters with the fix that would help. Needs `--graph`."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from coclick.failing import find_failing
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.service.errors import JsonResponse
from coclick.service.loaded_models import LoadedModels

MAX_CLUSTERS = 100
_PATIENCE = 3.0  # seconds; then the page asks again


class Failing:
    """The failing queries of a graph, found once, in a separate thread: that may take a minute."""

    def __init__(self, graph: ClickGraph, models: LoadedModels) -> None:
        self._graph, self._models = graph, models
        self._pool = ThreadPoolExecutor(1, "coclick-failing")
        self._found: Future[dict[str, Any]] | None = None

    async def __call__(self) -> dict[str, Any]:
        """Return what was found, or `ready: false` while it is not there yet."""
        if self._found is None:
            self._found = self._pool.submit(self._compute)
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await asyncio.shield(asyncio.wrap_future(self._found))
        except TimeoutError:
            return {"ready": False}
        return {"ready": True, **found}

    def _compute(self) -> dict[str, Any]:
        found = find_failing(self._graph, self._model())
        clusters = found["clusters"][:MAX_CLUSTERS]
        return found | {"clusters": clusters, "all_clusters": len(found["clusters"])}

    def _model(self) -> Model | None:
        """A served model of the same graph that finds similar queries, or none: then one is trained."""
        for loaded in self._models.all():
            same = loaded.model.trained_on.queries.digest == self._graph.queries.digest
            if same and "similar" in loaded.model.capabilities:
                return loaded.model
        return None


def add(routes: APIRouter, models: LoadedModels, graph: ClickGraph) -> None:
    """Add the route."""
    failing = Failing(graph, models)

    @routes.get("/studio/failing.json")
    async def list_failing() -> Response:
        return JsonResponse(await failing())
