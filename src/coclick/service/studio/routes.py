"""Where the studio is: pages at `/` and `/studio/VIEW`, each with its JSON at `/studio/VIEW.json`.

A page is always the same shell; its scripts ask for the JSON at the page's own address. All state is in the
address, so a link brings a colleague to the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from coclick.errors import NotFoundError
from coclick.service.errors import Json
from coclick.service.executor import Work
from coclick.service.loaded_models import Catalogue, Served
from coclick.service.requests import Doc, ModelName, Q
from coclick.service.settings import CHARACTERS, ID_CHARACTERS
from coclick.service.studio import views
from coclick.service.studio.files import read_files
from coclick.service.studio.log import describe_log
from coclick.service.studio.per_model_cache import OncePerModel
from coclick.service.studio.report import Report

VIEWS = ("compare", "why", "walk", "query", "document", "topics", "leaderboard", "log")
RESULTS = 50
TOPICS = 100  # that are shown unless more are asked for
_ABILITIES = ("similar", "expand", "explain", "topics", "translate")

Text = Annotated[str, Query(max_length=CHARACTERS)]
Id = Annotated[str, Query(max_length=ID_CHARACTERS)]
Side = Annotated[str | None, Query(max_length=255)]


def router(catalogue: Catalogue, work: Work, report: Path | None = None) -> APIRouter:
    """All addresses of the studio, which are for people: the API's document does not list them."""
    routes = APIRouter(include_in_schema=False)
    log_of = OncePerModel(describe_log)
    _add_comparison(routes, catalogue, work, log_of)
    _add_pages_of_one_model(routes, catalogue, work, log_of)
    _add_topics(routes, catalogue, work)
    _add_leaderboard(routes, work, Report(report))
    _add_shell(routes)  # last: /studio/{view} would take the JSON's addresses, too
    return routes


def _add_comparison(routes: APIRouter, catalogue: Catalogue, work: Work, log_of: OncePerModel) -> None:
    @routes.get("/studio/models.json")
    async def models() -> Response:
        return Json([_described(served) for served in catalogue.all()])

    @routes.get("/studio/compare.json")
    async def compare(
        q: Text = "", a: Side = None, b: Side = None, k: Annotated[int, Query(ge=1, le=RESULTS)] = 10
    ) -> Response:
        first = catalogue.get(a)
        others = [b] if b else [name for name in catalogue.names() if name != first.name][:1]
        sides = [(side.name, side.model) for side in (first, *map(catalogue.get, others))]
        view = await work.elsewhere(views.compare, q, k, sides)
        found = any(side["results"] for side in view["sides"])
        examples = [] if found else (await work.elsewhere(log_of, first))["examples"]
        return Json(view | {"examples": examples})

    @routes.get("/studio/log.json")
    async def log(model: ModelName = None) -> Response:
        served = catalogue.get(model)
        return Json({"model": served.name, **await work.elsewhere(log_of, served)})


def _add_pages_of_one_model(
    routes: APIRouter, catalogue: Catalogue, work: Work, log_of: OncePerModel
) -> None:
    async def ask(model: str | None, page: Callable[..., views.View], *asked: str) -> Json:
        """A page of what is asked for; without anything, what one could ask for."""
        served = catalogue.get(model)
        if not any(asked):
            log = await work.elsewhere(log_of, served)
            return Json({"model": served.name, "examples": log["examples"], "top": log["top"]})
        return Json(await work.elsewhere(page, served.name, served.model, *asked))

    @routes.get("/studio/why.json")
    async def why(q: Q, doc: Doc, model: ModelName = None) -> Response:
        served = catalogue.get(model)
        return Json(await work.elsewhere(views.why, served.name, served.model, q, doc))

    @routes.get("/studio/query.json")
    async def query(q: Text = "", model: ModelName = None) -> Response:
        return await ask(model, views.query_page, q)

    @routes.get("/studio/document.json")
    async def document(doc: Id = "", model: ModelName = None) -> Response:
        return await ask(model, views.document_page, doc)

    @routes.get("/studio/walk.json")
    async def walk(query: Text = "", doc: Id = "", model: ModelName = None) -> Response:
        return await ask(model, views.walk_page, query, doc)


def _add_topics(routes: APIRouter, catalogue: Catalogue, work: Work) -> None:
    topics_of = OncePerModel(views.topics)

    @routes.get("/studio/topics.json")
    async def topics(
        model: ModelName = None, word: Text = "", n: Annotated[int, Query(ge=1, le=10_000)] = TOPICS
    ) -> Response:
        served = catalogue.get(model) if model else _with_topics(catalogue)

        def ask() -> views.View:
            found = topics_of(served) if "topics" in served.model.capabilities else None
            return {
                "model": served.name,
                "topics": found and found[:n],
                "all": len(found or ()),
                "translation": views.translation(served.model, word) if word else None,
            }

        return Json(await work.elsewhere(ask))


def _add_leaderboard(routes: APIRouter, work: Work, report: Report) -> None:
    @routes.get("/studio/leaderboard.json")
    async def leaderboard() -> Response:
        return Json(await work.elsewhere(report.read))


def _add_shell(routes: APIRouter) -> None:
    files = read_files()
    shell = files.pop("studio.html")

    @routes.get("/")
    async def home(request: Request) -> Response:
        return shell.answer(request)

    @routes.get("/studio/{view}")
    async def page(request: Request, view: str) -> Response:
        if view not in VIEWS:
            raise NotFoundError(f"the studio has no view {view!r}", hint=f"there are {', '.join(VIEWS)}")
        return shell.answer(request)

    @routes.get("/studio/static/{name:path}")
    async def file(request: Request, name: str) -> Response:
        if name not in files:
            raise NotFoundError(f"the studio has no file {name!r}")
        return files[name].answer(request)


def _described(served: Served) -> dict[str, Any]:
    model = served.model
    return {
        "name": served.name,
        "spec": str(model),
        "summary": model.summary,
        "can": [ability for ability in _ABILITIES if getattr(model, f"can_{ability}")],
    }


def _with_topics(catalogue: Catalogue) -> Served:
    """The first model with topics; without one, the first that translates; without one, the first."""
    every = catalogue.all()
    able = [one for one in every if "topics" in one.model.capabilities] + [
        one for one in every if "translate" in one.model.capabilities
    ]
    return (able or every)[0]
