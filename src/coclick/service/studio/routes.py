"""The routes of the studio: pages at `/` and `/studio/VIEW`, each with its data at `/studio/VIEW.json`.

All pages are the same HTML; its scripts fetch the JSON of the page. All state is in the URL, so that a link
opens the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from coclick.service.errors import JsonResponse, UnknownAddressError
from coclick.service.executor import Executor
from coclick.service.loaded_models import LoadedModel, LoadedModels
from coclick.service.requests import MAX_ID_LENGTH, MAX_QUERY_LENGTH, Doc, ModelName, Q
from coclick.service.studio import views
from coclick.service.studio.files import read_files
from coclick.service.studio.log import describe_log
from coclick.service.studio.per_model_cache import PerModelCache
from coclick.service.studio.report import Report

VIEWS = ("compare", "why", "walk", "query", "document", "topics", "leaderboard", "log")
MAX_RESULTS = 50
N_TOPICS = 100  # by default
_CAPABILITIES = ("similar", "expand", "explain", "topics", "translate")

Text = Annotated[str, Query(max_length=MAX_QUERY_LENGTH)]
Id = Annotated[str, Query(max_length=MAX_ID_LENGTH)]
Name = Annotated[str | None, Query(max_length=255)]


def router(models: LoadedModels, executor: Executor, report: Path | None = None) -> APIRouter:
    """Create the routes of the studio, which are not part of the OpenAPI document."""
    routes = APIRouter(include_in_schema=False)
    log_of = PerModelCache(describe_log)
    _add_comparison(routes, models, executor, log_of)
    _add_pages_of_one_model(routes, models, executor, log_of)
    _add_topics(routes, models, executor)
    _add_leaderboard(routes, executor, Report(report))
    _add_shell(routes)  # last: /studio/{view} matches the JSON routes, too
    return routes


def _add_comparison(
    routes: APIRouter, models: LoadedModels, executor: Executor, log_of: PerModelCache
) -> None:
    @routes.get("/studio/models.json")
    async def list_models() -> Response:
        return JsonResponse([_describe(loaded) for loaded in models.all()])

    @routes.get("/studio/compare.json")
    async def compare(
        q: Text = "", a: Name = None, b: Name = None, k: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 10
    ) -> Response:
        first = models.get(a)
        others = [b] if b else [name for name in models.names() if name != first.name][:1]
        sides = [(side.name, side.model) for side in (first, *map(models.get, others))]
        view = await executor.run_in_thread(views.compare, q, k, sides)
        found = any(side["results"] for side in view["sides"])
        examples = [] if found else (await executor.run_in_thread(log_of, first))["examples"]
        return JsonResponse(view | {"examples": examples})

    @routes.get("/studio/log.json")
    async def log(model: ModelName = None) -> Response:
        loaded = models.get(model)
        return JsonResponse({"model": loaded.name, **await executor.run_in_thread(log_of, loaded)})


def _add_pages_of_one_model(
    routes: APIRouter, models: LoadedModels, executor: Executor, log_of: PerModelCache
) -> None:
    async def respond(model: str | None, page: Callable[..., views.View], *names: str) -> JsonResponse:
        """The data of a page; without a query or document, examples of them."""
        loaded = models.get(model)
        if not any(names):
            log = await executor.run_in_thread(log_of, loaded)
            return JsonResponse({"model": loaded.name, "examples": log["examples"], "top": log["top"]})
        return JsonResponse(await executor.run_in_thread(page, loaded.name, loaded.model, *names))

    @routes.get("/studio/why.json")
    async def why(q: Q, doc: Doc, model: ModelName = None) -> Response:
        loaded = models.get(model)
        return JsonResponse(await executor.run_in_thread(views.why, loaded.name, loaded.model, q, doc))

    @routes.get("/studio/query.json")
    async def query(q: Text = "", model: ModelName = None) -> Response:
        return await respond(model, views.query_page, q)

    @routes.get("/studio/document.json")
    async def document(doc: Id = "", model: ModelName = None) -> Response:
        return await respond(model, views.document_page, doc)

    @routes.get("/studio/walk.json")
    async def walk(query: Text = "", doc: Id = "", model: ModelName = None) -> Response:
        return await respond(model, views.walk_page, query, doc)


def _add_topics(routes: APIRouter, models: LoadedModels, executor: Executor) -> None:
    topics_of = PerModelCache(views.topics)

    @routes.get("/studio/topics.json")
    async def topics(
        model: ModelName = None, word: Text = "", n: Annotated[int, Query(ge=1, le=10_000)] = N_TOPICS
    ) -> Response:
        loaded = models.get(model) if model else _with_topics(models)

        def compute() -> views.View:
            found = topics_of(loaded) if "topics" in loaded.model.capabilities else None
            return {
                "model": loaded.name,
                "topics": found and found[:n],
                "all": len(found or ()),
                "translation": views.translation(loaded.model, word) if word else None,
            }

        return JsonResponse(await executor.run_in_thread(compute))


def _add_leaderboard(routes: APIRouter, executor: Executor, report: Report) -> None:
    @routes.get("/studio/leaderboard.json")
    async def leaderboard() -> Response:
        return JsonResponse(await executor.run_in_thread(report.read))


def _add_shell(routes: APIRouter) -> None:
    files = read_files()
    shell = files.pop("studio.html")

    @routes.get("/")
    async def home(request: Request) -> Response:
        return shell.response(request)

    @routes.get("/studio/{view}")
    async def page(request: Request, view: str) -> Response:
        if view not in VIEWS:
            raise UnknownAddressError(f"the studio has no view {view!r}", hint=f"views: {', '.join(VIEWS)}")
        return shell.response(request)

    @routes.get("/studio/static/{name:path}")
    async def file(request: Request, name: str) -> Response:
        if name not in files:
            raise UnknownAddressError(f"the studio has no file {name!r}")
        return files[name].response(request)


def _describe(loaded: LoadedModel) -> dict[str, Any]:
    model = loaded.model
    return {
        "name": loaded.name,
        "spec": str(model),
        "summary": model.summary,
        "can": [name for name in _CAPABILITIES if name in model.capabilities],
    }


def _with_topics(models: LoadedModels) -> LoadedModel:
    """The first model with topics, else the first that translates, else the first."""
    for capability in ("topics", "translate"):
        for loaded in models.all():
            if capability in loaded.model.capabilities:
                return loaded
    return models.get()
