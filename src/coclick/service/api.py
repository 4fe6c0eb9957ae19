"""The routes of the API: GET for one query, POST for a batch and for re-ranking candidates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from coclick import answers
from coclick.answers import Answer, describe_model
from coclick.errors import UserError
from coclick.models.base import Model
from coclick.service import requests
from coclick.service.errors import JsonResponse
from coclick.service.executor import Executor
from coclick.service.loaded_models import LoadedModel, LoadedModels
from coclick.service.loaded_suggestions import ServedSuggestions
from coclick.service.metrics import Metrics
from coclick.service.openapi import ERROR_RESPONSES, batch_response, json_response
from coclick.service.requests import SEARCH_PARAMETERS, check_parameters, read_search
from coclick.service.watcher import Watcher


def router(
    models: LoadedModels,
    suggestions: ServedSuggestions,
    watcher: Watcher,
    executor: Executor,
    metrics: Metrics,
) -> APIRouter:
    """Create the routes of the API."""
    api = APIRouter(responses=ERROR_RESPONSES)
    known = [Depends(check_parameters)]

    async def call(model: str | None, function: Callable[..., Any], *args: Any) -> JsonResponse:
        return JsonResponse(await executor.call(models.get(model), function, *args))

    async def call_one(
        model: str | None, function: Callable[..., Any], name: str, *args: Any
    ) -> JsonResponse:
        """Answer a single query or document with a function for several."""
        return JsonResponse((await executor.call(models.get(model), function, [name], *args))[0])

    async def call_batch(model: str | None, function: Callable[..., Any], *args: Any) -> JsonResponse:
        return JsonResponse({"answers": await executor.call_batch(models.get(model), function, *args)})

    @api.get("/search", responses=json_response("SearchResponse"), openapi_extra=SEARCH_PARAMETERS)
    async def search(request: Request) -> Response:
        """Rank documents for a query."""
        given = read_search(request.query_params)
        return await call_one(given.model, answers.search, given.q, given.k, given.allow, given.block)

    @api.post("/search", responses=batch_response("SearchResponse"))
    async def search_batch(body: requests.SearchRequest) -> Response:
        """Rank documents for several queries, all documents or a subset."""
        return await call_batch(body.model, answers.search, body.queries, body.k, body.allow, body.block)

    @api.post("/rank", responses=json_response("RankResponse"))
    async def rank(body: requests.RankRequest) -> Response:
        """Re-rank the candidates of another search engine."""
        candidates = [item if isinstance(item, str) else _fields(item) for item in body.candidates]
        return await call(body.model, answers.rank, body.query, candidates)

    @api.get("/similar/queries", responses=json_response("SimilarQueriesResponse"), dependencies=known)
    async def similar_queries(
        q: requests.Q, k: requests.K = 10, model: requests.ModelName = None
    ) -> Response:
        """Find queries in the log that are similar to a query."""
        return await call_one(model, answers.similar_queries, q, k)

    @api.post("/similar/queries", responses=batch_response("SimilarQueriesResponse"))
    async def similar_queries_batch(body: requests.SimilarQueriesRequest) -> Response:
        """Find similar queries for several queries."""
        return await call_batch(body.model, answers.similar_queries, body.queries, body.k)

    @api.get("/similar/documents", responses=json_response("SimilarDocumentsResponse"), dependencies=known)
    async def similar_documents(
        doc: requests.Doc, k: requests.K = 10, model: requests.ModelName = None
    ) -> Response:
        """Find documents that are similar to a document."""
        return await call_one(model, answers.similar_docs, doc, k)

    @api.post("/similar/documents", responses=batch_response("SimilarDocumentsResponse"))
    async def similar_documents_batch(body: requests.SimilarDocumentsRequest) -> Response:
        """Find similar documents for several documents."""
        return await call_batch(body.model, answers.similar_docs, body.docs, body.k)

    @api.get("/expand", responses=json_response("ExpandResponse"), dependencies=known)
    async def expand(
        q: requests.Q | None = None,
        doc: requests.Doc | None = None,
        k: requests.K = 10,
        model: requests.ModelName = None,
    ) -> Response:
        """Return the words in a query's vector, or the k heaviest words learned for a document."""
        if (q is None) == (doc is None):
            raise UserError("give either a query or a document", where="query.q")
        if q is not None:
            return await call(model, answers.expand, q)
        return await call(model, answers.expand_doc, doc, k)

    @api.post("/expand", responses=batch_response("ExpandResponse"))
    async def expand_batch(body: requests.ExpandRequest) -> Response:
        """Expand several queries."""
        return await call_batch(body.model, _expand, body.queries)

    @api.get("/explain", responses=json_response("Explanation"), dependencies=known)
    async def explain(
        q: requests.Q, doc: requests.Doc, clicks: requests.Clicks = 10, model: requests.ModelName = None
    ) -> Response:
        """Explain a score: its parts, and the clicks they were learned from."""
        return await call(model, answers.explain, q, doc, clicks)

    @api.get("/vectors", responses=json_response("VectorResponse"), dependencies=known)
    async def vectors(
        q: requests.Q | None = None, doc: requests.Doc | None = None, model: requests.ModelName = None
    ) -> Response:
        """Return the vector of a query or document."""
        if (q is None) == (doc is None):
            raise UserError("give either a query or a document", where="query.q")
        if q is not None:
            return await call_one(model, answers.query_vectors, q)
        return await call_one(model, answers.doc_vectors, str(doc))

    @api.post("/vectors", responses=batch_response("VectorResponse"))
    async def vectors_batch(body: requests.VectorRequest) -> Response:
        """Return the vectors of several queries and documents."""
        return await call_batch(body.model, _vectors, body.queries, body.docs)

    @api.get("/suggest", responses=json_response("SuggestResponse"), dependencies=known)
    async def suggest(q: requests.Typed = "", k: requests.Completions = 10) -> Response:
        """Complete what was typed so far: queries of the log, the most used and successful first."""
        return JsonResponse(await executor.call(suggestions.get(), answers.complete, q, k))

    @api.post("/suggest", responses=batch_response("SuggestResponse"))
    async def suggest_batch(body: requests.SuggestRequest) -> Response:
        """Complete several texts."""
        found = await executor.call_batch(suggestions.get(), answers.complete_each, body.queries, body.k)
        return JsonResponse({"answers": found})

    @api.get("/correct", responses=json_response("CorrectResponse"), dependencies=known)
    async def correct(q: requests.Q) -> Response:
        """Say what a query was probably meant to be; `correction` is null if it is likely right."""
        return JsonResponse(await executor.call(suggestions.get(), answers.correct, q))

    @api.post("/correct", responses=batch_response("CorrectResponse"))
    async def correct_batch(body: requests.CorrectRequest) -> Response:
        """Correct several queries."""
        found = await executor.call_batch(suggestions.get(), answers.correct_each, body.queries)
        return JsonResponse({"answers": found})

    @api.get("/models", responses=json_response("ModelsResponse"), dependencies=known)
    async def list_models() -> Response:
        """List the models that are served, the default first, and the problems of new versions."""
        listed = [_describe(loaded) for loaded in models.all()]
        return JsonResponse({"models": listed, "problems": watcher.problems()})

    @api.get("/models/{name}", dependencies=known)
    async def describe(name: str) -> Response:
        """Describe a model: its parameters and training statistics."""
        loaded = models.get(name)
        return JsonResponse(_describe(loaded) | describe_model(loaded.model))

    @api.get("/health", responses=json_response("StatusResponse"))
    async def health() -> Response:
        """Return 200 while the process is alive."""
        return JsonResponse({"status": "alive"})

    @api.get("/ready", responses=json_response("ReadyResponse"))
    async def ready() -> Response:
        """Return 200 when all models are loaded, which is before the first request is accepted.

        `problems` says whether new versions on disk are not served; the old ones are, so it stays 200.
        """
        return JsonResponse({"status": "ready", "problems": watcher.public_problems()})

    @api.get("/metrics", response_class=PlainTextResponse)
    async def prometheus() -> Response:
        """Return counters and timings for Prometheus."""
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    return api


def _expand(model: Model, queries: list[str]) -> list[Answer]:
    return [answers.expand(model, query) for query in queries]


def _vectors(model: Model, queries: list[str], docs: list[str]) -> list[Answer]:
    query_vectors = answers.query_vectors(model, queries) if queries else []
    return query_vectors + (answers.doc_vectors(model, docs) if docs else [])


def _fields(candidate: requests.Candidate) -> dict[str, Any]:
    return {name: value for name, value in candidate.model_dump().items() if value or name == "doc"}


def _describe(loaded: LoadedModel) -> dict[str, Any]:
    stats = describe_model(loaded.model)
    assert loaded.model.artefact_ is not None
    return {
        "name": loaded.name,
        **{key: stats[key] for key in ("model", "summary", "can", "queries", "docs", "edges")},
        "digest": loaded.model.artefact_.digest,
        "loaded": datetime.fromtimestamp(loaded.loaded_at, UTC).isoformat(timespec="seconds"),
        "problem": loaded.problem,
    }
