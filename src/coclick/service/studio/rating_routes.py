"""Rating by hand: the page's data, and the only request of it that writes. Both need `--judgments FILE`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from coclick.evaluation.rated_judgments import HIGHEST_GRADE, RatedJudgments
from coclick.service.errors import JsonResponse
from coclick.service.executor import Executor
from coclick.service.loaded_models import LoadedModels
from coclick.service.requests import MAX_QUERY_LENGTH, DocId, Text
from coclick.service.studio.doc_fields import DocFields
from coclick.service.studio.rating import Queue, rate_page


class RatingRequest(BaseModel):
    """A grade for a document of a query; null removes it."""

    model_config = ConfigDict(extra="forbid")
    query: Text
    doc: DocId
    grade: Annotated[int, Field(ge=0, le=HIGHEST_GRADE)] | None


def add(
    routes: APIRouter,
    models: LoadedModels,
    executor: Executor,
    ratings: RatedJudgments,
    fields: DocFields,
    may_write: Sequence[Any],
) -> None:
    """Add the routes; `may_write` are the dependencies that check who sends a rating."""
    queue = Queue()

    @routes.get("/studio/rate.json")
    async def rate_view(q: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)] = "") -> Response:
        return JsonResponse(await executor.run_in_thread(rate_page, ratings, queue, models.all(), fields, q))

    @routes.post("/studio/rate.json", dependencies=may_write)
    async def rate(body: RatingRequest) -> Response:
        await executor.run_in_thread(ratings.rate, body.query, body.doc, body.grade)
        return JsonResponse({"query": body.query, "doc": body.doc, "grade": body.grade})
