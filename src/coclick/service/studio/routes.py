"""The routes of the studio: pages at `/` and `/studio/VIEW`, each with its data at `/studio/VIEW.json`.

All pages are the same HTML; its scripts fetch the JSON of the page. All state is in the URL, so that a link
opens the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from coclick.errors import NotFoundError
from coclick.service.errors import JsonResponse, UnknownAddressError
from coclick.service.executor import Executor
from coclick.service.loaded_models import LoadedModel, LoadedModels
from coclick.service.requests import MAX_ID_LENGTH, MAX_QUERY_LENGTH, Doc, ModelName, Q
from coclick.service.settings import Settings
from coclick.service.studio import views
from coclick.service.studio.doc_fields import DocFields
from coclick.service.studio.files import read_files
from coclick.service.studio.log import describe_log
from coclick.service.studio.per_model_cache import PerModelCache
from coclick.service.studio.report import Report
from coclick.service.studio.same_origin import SameOrigin

if TYPE_CHECKING:
    from coclick.evaluation.rated_judgments import RatedJudgments
    from coclick.service.studio.engine import Engine

VIEWS = (
    "compare",
    "why",
    "walk",
    "query",
    "document",
    "topics",
    "leaderboard",
    "log",
    "rate",
    "rules",
    "failing",
)
ENGINE = "/engine"  # the user's own engine beside models, whose names have no slash
MAX_RESULTS = 50
N_TOPICS = 100  # by default
_CAPABILITIES = ("similar", "expand", "explain", "topics", "translate")

Text = Annotated[str, Query(max_length=MAX_QUERY_LENGTH)]
Id = Annotated[str, Query(max_length=MAX_ID_LENGTH)]
Name = Annotated[str | None, Query(max_length=255)]


def router(models: LoadedModels, executor: Executor, settings: Settings) -> APIRouter:
    """Create the routes of the studio, which are not part of the OpenAPI document."""
    routes = APIRouter(include_in_schema=False)
    log_of = PerModelCache(describe_log)
    fields = DocFields(settings.graph, settings.images)
    engine, ratings = _open_engine(settings), _open_ratings(settings)
    may_write = [Depends(SameOrigin(settings.api_key is not None))]
    _add_options(routes, models, _options(settings, engine))
    _add_comparison(routes, models, executor, _Comparison(models, engine, ratings, fields), log_of)
    _add_pages_of_one_model(routes, models, executor, log_of, fields)
    _add_topics(routes, models, executor)
    _add_leaderboard(routes, executor, Report(Path(settings.report) if settings.report else None))
    if ratings is None:
        _add_missing(routes, "rate", "results cannot be rated on this server", "--judgments FILE")
    else:
        from coclick.service.studio import rating_routes

        rating_routes.add(routes, models, executor, ratings, fields, may_write)
    if settings.review is None:
        _add_missing(routes, "rules", "there are no rules to review on this server", "--review review.tsv")
    else:
        from coclick.service.studio import rule_routes

        rule_routes.add(routes, executor, Path(settings.review), may_write)
    if fields.graph is None:
        _add_missing(routes, "failing", "failing queries need the searches of a graph", "--graph GRAPH")
    else:
        from coclick.service.studio import failing_routes

        failing_routes.add(routes, models, fields.graph)
    _add_shell(routes)  # last: /studio/{view} matches the JSON routes, too
    return routes


# What an option asks for is imported only with it: it would delay every start of the service.


def _open_engine(settings: Settings) -> Engine | None:
    if settings.engine is None:
        return None
    from coclick.service.studio.engine import Engine

    return Engine(settings.engine)


def _open_ratings(settings: Settings) -> RatedJudgments | None:
    if settings.judgments is None:
        return None
    from coclick.evaluation.rated_judgments import RatedJudgments

    return RatedJudgments(Path(settings.judgments))


def _options(settings: Settings, engine: Engine | None) -> dict[str, Any]:
    """What this server was started with: pages and buttons that are not there otherwise."""
    return {
        "rate": settings.judgments is not None,
        "rules": settings.review is not None,
        "failing": settings.graph is not None,
        "engine": engine.address if engine else None,
    }


def _add_missing(routes: APIRouter, view: str, what: str, option: str) -> None:
    """Say which option a page needs."""

    @routes.get(f"/studio/{view}.json")
    async def missing() -> Response:
        raise NotFoundError(what, hint=f"start it with an option: coclick serve MODEL {option}")


def _add_options(routes: APIRouter, models: LoadedModels, options: dict[str, Any]) -> None:
    @routes.get("/studio/models.json")
    async def list_models() -> Response:
        return JsonResponse([_describe(loaded) for loaded in models.all()])

    @routes.get("/studio/options.json")
    async def list_options() -> Response:
        return JsonResponse(options)


class _Comparison:
    """Rankings of models and of the user's engine, side by side."""

    def __init__(
        self, models: LoadedModels, engine: Engine | None, ratings: RatedJudgments | None, fields: DocFields
    ) -> None:
        self._models, self._engine, self._ratings, self._fields = models, engine, ratings, fields

    def sides(self, a: str | None, b: str | None) -> list[Callable[[str, int], views.View]]:
        """Return the functions that rank: those that are named, else the first model beside the engine or
        another model."""
        first = a or self._models.names()[0]
        others = [ENGINE] if self._engine else []
        others += [name for name in self._models.names() if name != first]
        return [self._rank(name) for name in (first, *([b] if b else others[:1]))]

    def _rank(self, name: str) -> Callable[[str, int], views.View]:
        if name == ENGINE and self._engine:
            return partial(views.live_ranking, name, self._engine, self._models.get().model)
        loaded = self._models.get(name)
        return partial(views.ranking, loaded.name, loaded.model)

    def __call__(self, q: str, k: int, sides: list[Callable[[str, int], views.View]]) -> views.View:
        """Return the data of the page."""
        view = views.compare(q, k, sides)
        for hit in (hit for side in view["sides"] for hit in side["results"]):
            hit["image"] = self._fields.of(hit["doc"])["image"]
        return view | {"grades": self._ratings.of_query(q) if self._ratings else None}


def _add_comparison(
    routes: APIRouter,
    models: LoadedModels,
    executor: Executor,
    comparison: _Comparison,
    log_of: PerModelCache,
) -> None:
    @routes.get("/studio/compare.json")
    async def compare(
        q: Text = "", a: Name = None, b: Name = None, k: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 10
    ) -> Response:
        view = await executor.run_in_thread(comparison, q, k, comparison.sides(a, b))
        found = any(side["results"] for side in view["sides"])
        examples = [] if found else (await executor.run_in_thread(log_of, models.get()))["examples"]
        return JsonResponse(view | {"examples": examples})

    @routes.get("/studio/log.json")
    async def log(model: ModelName = None) -> Response:
        loaded = models.get(model)
        return JsonResponse({"model": loaded.name, **await executor.run_in_thread(log_of, loaded)})


def _add_pages_of_one_model(
    routes: APIRouter, models: LoadedModels, executor: Executor, log_of: PerModelCache, fields: DocFields
) -> None:
    async def respond(model: str | None, page: Callable[..., views.View], *names: Any) -> JsonResponse:
        """The data of a page; without a query or document, examples of them."""
        loaded = models.get(model)
        if not any(name for name in names if isinstance(name, str)):
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
        return await respond(model, views.document_page, fields, doc)

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
