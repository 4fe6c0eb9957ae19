"""Parameters and bodies of requests, with their limits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.datastructures import QueryParams

from coclick.suggestions.suggestions import MAX_COMPLETIONS

MAX_QUERY_LENGTH = 1000  # characters
MAX_ID_LENGTH = 2048  # characters of a document id, which may be a URL
MAX_FIELD_LENGTH = 20_000  # characters of a candidate's text field
MAX_VIEWS, MAX_FEATURES = 10, 1000  # user views of a candidate, features in each
MAX_RESULTS = 1000
MAX_QUERIES = 100  # of a batch
MAX_CANDIDATES = 1000
MAX_LISTED_DOCS = 10_000  # allowed or blocked
MAX_CLICKS = 1000  # for each part of an explanation

Text = Annotated[str, StringConstraints(max_length=MAX_QUERY_LENGTH)]
DocId = Annotated[str, StringConstraints(max_length=MAX_ID_LENGTH)]
FieldText = Annotated[str, StringConstraints(max_length=MAX_FIELD_LENGTH)]
FeatureValues = Annotated[dict[Text, float], Field(max_length=MAX_FEATURES)]
ViewFeatures = Annotated[dict[Text, FeatureValues], Field(max_length=MAX_VIEWS)]

Q = Annotated[str, Query(alias="q", max_length=MAX_QUERY_LENGTH, description="Text of the query.")]
Doc = Annotated[str, Query(alias="doc", max_length=MAX_ID_LENGTH, description="Id of the document.")]
K = Annotated[int, Query(ge=1, le=MAX_RESULTS, description="Number of results.")]
Typed = Annotated[str, Query(alias="q", max_length=MAX_QUERY_LENGTH, description="What was typed so far.")]
Completions = Annotated[int, Query(ge=1, le=MAX_COMPLETIONS, description="Number of completions.")]
Clicks = Annotated[int, Query(ge=1, le=MAX_CLICKS, description="Number of clicks for each part.")]
_MODEL = "Name of the model; the first by default."
ModelName = Annotated[str | None, Query(alias="model", max_length=255, description=_MODEL)]
ModelField = Annotated[str | None, Field(max_length=255, description=_MODEL)]


class SearchParams(BaseModel):
    """Parameters of `GET /search`."""

    model_config = ConfigDict(extra="forbid")
    q: Annotated[str, Field(max_length=MAX_QUERY_LENGTH, description="Text of the query.")]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="Number of results.")] = 10
    model: ModelField = None
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
    model: ModelField = None


class ExpandRequest(_Body):
    """Several queries."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUERIES)]


class CorrectRequest(BaseModel):
    """Several queries as they were typed."""

    model_config = ConfigDict(extra="forbid")
    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUERIES)]


class SuggestRequest(CorrectRequest):
    """Several texts as far as they were typed."""

    k: Annotated[int, Field(ge=1, le=MAX_COMPLETIONS)] = 10


class SimilarQueriesRequest(ExpandRequest):
    """Several queries."""

    k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10


class SearchRequest(SimilarQueriesRequest):
    """Several queries, over all documents or a subset."""

    allow: Annotated[
        list[DocId] | None, Field(max_length=MAX_LISTED_DOCS, description="Return only these documents.")
    ] = None
    block: Annotated[
        list[DocId] | None, Field(max_length=MAX_LISTED_DOCS, description="Never return these documents.")
    ] = None


class Candidate(BaseModel):
    """A document by its id; if the model does not know it, its title and other fields are scored.

    `features` has features of user views by view; a text is a field like any other.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FieldText]
    doc: DocId
    title: FieldText = ""
    features: ViewFeatures | FieldText = {}


class RankRequest(_Body):
    """Candidates of another search engine."""

    query: Text
    candidates: Annotated[list[DocId | Candidate], Field(min_length=1, max_length=MAX_CANDIDATES)]


class SimilarDocumentsRequest(_Body):
    """Several documents."""

    docs: Annotated[list[DocId], Field(min_length=1, max_length=MAX_QUERIES)]
    k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10


class VectorRequest(_Body):
    """Several queries, several documents, or both."""

    queries: Annotated[list[Text], Field(max_length=MAX_QUERIES)] = []
    docs: Annotated[list[DocId], Field(max_length=MAX_QUERIES)] = []
