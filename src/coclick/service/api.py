"""The addresses of the API: GET for one question, POST for several and for ranking candidates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from coclick import answers
from coclick.answers import Answer, describe_model
from coclick.errors import UserError
from coclick.models.base import Model
from coclick.service import requests as taken
from coclick.service.errors import Json
from coclick.service.executor import Work
from coclick.service.loaded_models import Catalogue, Served
from coclick.service.metrics import Metrics
from coclick.service.openapi import PROBLEMS, answered


def router(catalogue: Catalogue, work: Work, metrics: Metrics) -> APIRouter:
    """All addresses, for these models."""
    api = APIRouter(responses=PROBLEMS)

    async def ask(model: str | None, question: Callable[..., Any], *args: Any) -> Json:
        return Json(await work.ask(catalogue.get(model), question, *args))

    async def ask_several(model: str | None, question: Callable[..., Any], *args: Any) -> Json:
        return Json({"answers": await work.ask_several(catalogue.get(model), question, *args)})

    @api.get("/search", responses=answered("SearchAnswer"), openapi_extra=taken.SEARCH_PARAMETERS)
    async def search(request: Request) -> Response:
        """Rank documents for a query."""
        asked = taken.read_search(request.query_params)
        return await ask(asked.model, _search, asked.q, asked.k, asked.allow, asked.block)

    @api.post("/search", responses=answered("SearchAnswers"))
    async def search_several(body: taken.Searches) -> Response:
        """Rank documents for several queries, over all documents or over some."""
        return await ask_several(body.model, _searches, body.queries, body.k, body.allow, body.block)

    @api.post("/rank", responses=answered("RankAnswer"))
    async def rank(body: taken.Ranking) -> Response:
        """Rank the candidates of another engine: its second stage."""
        candidates = [one if isinstance(one, str) else _fields(one) for one in body.candidates]
        return await ask(body.model, answers.rank, body.query, candidates)

    @api.get("/similar/queries", responses=answered("SimilarQueriesAnswer"))
    async def similar_queries(q: taken.Q, k: taken.K = 10, model: taken.ModelName = None) -> Response:
        """Find queries of the log that are like a query."""
        return await ask(model, _similar_queries, q, k)

    @api.post("/similar/queries", responses=answered("SimilarQueriesAnswers"))
    async def similar_queries_several(body: taken.SimilarQueries) -> Response:
        """The same for several queries."""
        return await ask_several(body.model, answers.similar_queries, body.queries, body.k)

    @api.get("/similar/documents", responses=answered("SimilarDocumentsAnswer"))
    async def similar_documents(doc: taken.Doc, k: taken.K = 10, model: taken.ModelName = None) -> Response:
        """Find documents that are like a document."""
        return await ask(model, _similar_documents, doc, k)

    @api.post("/similar/documents", responses=answered("SimilarDocumentsAnswers"))
    async def similar_documents_several(body: taken.SimilarDocuments) -> Response:
        """The same for several documents."""
        return await ask_several(body.model, answers.similar_docs, body.docs, body.k)

    @api.get("/expand", responses=answered("ExpandAnswer"))
    async def expand(q: taken.Q, model: taken.ModelName = None) -> Response:
        """The words that stand for a query."""
        return await ask(model, answers.expand, q)

    @api.post("/expand", responses=answered("ExpandAnswers"))
    async def expand_several(body: taken.Queries) -> Response:
        """The same for several queries."""
        return await ask_several(body.model, _expand, body.queries)

    @api.get("/explain", responses=answered("ExplainAnswer"))
    async def explain(
        q: taken.Q, doc: taken.Doc, clicks: taken.Clicks = 10, model: taken.ModelName = None
    ) -> Response:
        """Say exactly why a document has its score, and which clicks taught that."""
        return await ask(model, answers.explain, q, doc, clicks)

    @api.get("/vectors", responses=answered("VectorAnswer"))
    async def vectors(
        q: taken.Q | None = None, doc: taken.Doc | None = None, model: taken.ModelName = None
    ) -> Response:
        """The vector of a query or of a document."""
        if (q is None) == (doc is None):
            raise UserError("name either a query or a document", where="query.q")
        if q is not None:
            return await ask(model, _query_vector, q)
        return await ask(model, _doc_vector, doc)

    @api.post("/vectors", responses=answered("VectorAnswers"))
    async def vectors_several(body: taken.Things) -> Response:
        """The vectors of several queries and documents."""
        return await ask_several(body.model, _vectors, body.queries, body.docs)

    @api.get("/models", responses=answered("Models"))
    async def models() -> Response:
        """The models that are served, the default first."""
        return Json({"models": [_describe(served) for served in catalogue.all()]})

    @api.get("/models/{name}")
    async def model(name: str) -> Response:
        """All that is known of a model: parameters and figures of its training."""
        served = catalogue.get(name)
        return Json(_describe(served) | describe_model(served.model))

    @api.get("/health", responses=answered("Status"))
    async def health() -> Response:
        """Whether the process lives."""
        return Json({"status": "alive"})

    @api.get("/ready", responses=answered("Status"))
    async def ready() -> Response:
        """Whether all models are loaded: they are before the first request is taken."""
        return Json({"status": "ready"})

    @api.get("/metrics", response_class=PlainTextResponse)
    async def figures() -> Response:
        """Counters and times for Prometheus."""
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    return api


Listed = list[str] | None


def _search(model: Model, query: str, k: int, allow: Listed, block: Listed) -> Answer:
    return answers.search(model, [query], k, allow=allow, block=block)[0]


def _searches(model: Model, queries: list[str], k: int, allow: Listed, block: Listed) -> list[Answer]:
    return answers.search(model, queries, k, allow=allow, block=block)


def _similar_queries(model: Model, query: str, k: int) -> Answer:
    return answers.similar_queries(model, [query], k)[0]


def _similar_documents(model: Model, doc: str, k: int) -> Answer:
    return answers.similar_docs(model, [doc], k)[0]


def _expand(model: Model, queries: list[str]) -> list[Answer]:
    return [answers.expand(model, query) for query in queries]


def _query_vector(model: Model, query: str) -> Answer:
    return answers.query_vectors(model, [query])[0]


def _doc_vector(model: Model, doc: str) -> Answer:
    return answers.doc_vectors(model, [doc])[0]


def _vectors(model: Model, queries: list[str], docs: list[str]) -> list[Answer]:
    of_queries = answers.query_vectors(model, queries) if queries else []
    return of_queries + (answers.doc_vectors(model, docs) if docs else [])


def _fields(candidate: taken.Candidate) -> dict[str, str]:
    return {name: text for name, text in candidate.model_dump().items() if text or name == "doc"}


def _describe(served: Served) -> dict[str, Any]:
    figures = describe_model(served.model)
    assert served.model.artefact_ is not None
    return {
        "name": served.name,
        **{key: figures[key] for key in ("model", "summary", "can", "queries", "docs", "edges")},
        "digest": served.model.artefact_.digest,
        "loaded": datetime.fromtimestamp(served.loaded, UTC).isoformat(timespec="seconds"),
        "problem": served.problem,
    }
