"""Parameters and bodies of requests, with their limits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.datastructures import QueryParams

from coclick.service.settings import (
    MAX_CANDIDATES,
    MAX_CLICKS,
    MAX_FIELD_LENGTH,
    MAX_ID_LENGTH,
    MAX_LISTED_DOCS,
    MAX_QUERIES,
    MAX_QUERY_LENGTH,
    MAX_RESULTS,
)

Text = Annotated[str, StringConstraints(max_length=MAX_QUERY_LENGTH)]
DocId = Annotated[str, StringConstraints(max_length=MAX_ID_LENGTH)]
FieldText = Annotated[str, StringConstraints(max_length=MAX_FIELD_LENGTH)]

Q = Annotated[str, Query(alias="q", max_length=MAX_QUERY_LENGTH, description="Text of the query.")]
Doc = Annotated[str, Query(alias="doc", max_length=MAX_ID_LENGTH, description="Id of the document.")]
K = Annotated[int, Query(ge=1, le=MAX_RESULTS, description="Number of results.")]
Clicks = Annotated[int, Query(ge=1, le=MAX_CLICKS, description="Number of clicks for each part.")]
ModelName = Annotated[
    str | None, Query(alias="model", max_length=255, description="Name of the model; the first by default.")
]


class SearchParams(BaseModel):
    """Parameters of `GET /search`."""

    model_config = ConfigDict(extra="forbid")
    q: Annotated[str, Field(max_length=MAX_QUERY_LENGTH, description="Text of the query.")]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="Number of results.")] = 10
    model: Annotated[
        str | None, Field(max_length=255, description="Name of the model; the first by default.")
    ] = None
    allow: Annotated[
        list[DocId] | None, Field(max_length=MAX_QUERIES, description="Return only these documents.")
    ] = None
    block: Annotated[
        list[DocId] | None, Field(max_length=MAX_QUERIES, description="Never return these documents.")
    ] = None


SEARCH_PARAMETERS = {
    "parameters": [
        {"name": name, "in": "query", "required": name == "q", "schema": schema}
        for name, schema in SearchParams.model_json_schema()["properties"].items()
    ]
}


def read_search(params: QueryParams) -> SearchParams:
    """Read the parameters of `GET /search`; FastAPI would take longer than the search itself."""
    given = {name: params.getlist(name) if name in ("allow", "block") else params[name] for name in params}
    try:
        return SearchParams.model_validate(given)
    except ValidationError as error:
        errors = [{**item, "loc": ("query", *item["loc"])} for item in error.errors(include_url=False)]
        raise RequestValidationError(errors) from None


async def check_parameters(request: Request) -> None:
    """Raise if a request has a parameter that its route does not declare."""
    known = {field.alias for field in request.scope["route"].dependant.query_params}
    if unknown := [name for name in request.query_params if name not in known]:
        raise RequestValidationError([{"type": "extra_forbidden", "loc": ("query", n)} for n in unknown])


class _Body(BaseModel):
    """Unknown fields are rejected, not ignored."""

    model_config = ConfigDict(extra="forbid")
    model: Annotated[
        str | None, Field(max_length=255, description="Name of the model; the first by default.")
    ] = None


class SearchRequest(_Body):
    """Several queries, over all documents or a subset."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUERIES)]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10
    allow: Annotated[
        list[DocId] | None, Field(max_length=MAX_LISTED_DOCS, description="Return only these documents.")
    ] = None
    block: Annotated[
        list[DocId] | None, Field(max_length=MAX_LISTED_DOCS, description="Never return these documents.")
    ] = None


class Candidate(BaseModel):
    """A document by its id; if the model does not know it, its title and other fields are scored."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FieldText]
    doc: DocId
    title: FieldText = ""


class RankRequest(_Body):
    """Candidates of another search engine."""

    query: Text
    candidates: Annotated[list[DocId | Candidate], Field(min_length=1, max_length=MAX_CANDIDATES)]


class SimilarQueriesRequest(_Body):
    """Several queries."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUERIES)]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10


class SimilarDocumentsRequest(_Body):
    """Several documents."""

    docs: Annotated[list[DocId], Field(min_length=1, max_length=MAX_QUERIES)]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10


class ExpandRequest(_Body):
    """Several queries."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUERIES)]


class VectorRequest(_Body):
    """Several queries, several documents, or both."""

    queries: Annotated[list[Text], Field(max_length=MAX_QUERIES)] = []
    docs: Annotated[list[DocId], Field(max_length=MAX_QUERIES)] = []
