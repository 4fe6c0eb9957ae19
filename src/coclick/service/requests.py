"""What requests bring, and its limits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.datastructures import QueryParams

from coclick.service.settings import (
    CANDIDATES,
    CHARACTERS,
    CLICKS,
    FIELD_CHARACTERS,
    ID_CHARACTERS,
    LISTED,
    QUERIES,
    RESULTS,
)

Text = Annotated[str, StringConstraints(max_length=CHARACTERS)]
DocId = Annotated[str, StringConstraints(max_length=ID_CHARACTERS)]
FieldText = Annotated[str, StringConstraints(max_length=FIELD_CHARACTERS)]

Q = Annotated[str, Query(alias="q", max_length=CHARACTERS, description="The query's text.")]
Doc = Annotated[str, Query(alias="doc", max_length=ID_CHARACTERS, description="A document's id.")]
K = Annotated[int, Query(ge=1, le=RESULTS, description="How many results.")]
Clicks = Annotated[int, Query(ge=1, le=CLICKS, description="How many clicks behind each part.")]
ModelName = Annotated[
    str | None, Query(alias="model", max_length=255, description="A model's name; left out, the first.")
]


class Search(BaseModel):
    """What `GET /search` takes."""

    q: Annotated[str, Field(max_length=CHARACTERS, description="The query's text.")]
    k: Annotated[int, Field(ge=1, le=RESULTS, description="How many results.")] = 10
    model: Annotated[
        str | None, Field(max_length=255, description="A model's name; left out, the first.")
    ] = None
    allow: Annotated[list[DocId] | None, Field(max_length=QUERIES, description="Only these documents.")] = (
        None
    )
    block: Annotated[list[DocId] | None, Field(max_length=QUERIES, description="Never these documents.")] = (
        None
    )


SEARCH_PARAMETERS = {
    "parameters": [
        {"name": name, "in": "query", "required": name == "q", "schema": schema}
        for name, schema in Search.model_json_schema()["properties"].items()
    ]
}


def read_search(params: QueryParams) -> Search:
    """Read it here rather than by FastAPI: that takes longer than the search itself."""
    given = {name: params.getlist(name) if name in ("allow", "block") else params[name] for name in params}
    try:
        return Search.model_validate(given)
    except ValidationError as error:
        found = [{**one, "loc": ("query", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(found) from None


class _Body(BaseModel):
    """Fields that are not known are refused, rather than passed over."""

    model_config = ConfigDict(extra="forbid")
    model: Annotated[
        str | None, Field(max_length=255, description="A model's name; left out, the first.")
    ] = None


class Searches(_Body):
    """Several queries at once, over all documents or over some."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=QUERIES)]
    k: Annotated[int, Field(ge=1, le=RESULTS)] = 10
    allow: Annotated[list[DocId] | None, Field(max_length=LISTED, description="Only these.")] = None
    block: Annotated[list[DocId] | None, Field(max_length=LISTED, description="Never these.")] = None


class Candidate(BaseModel):
    """A document by its id; if the model does not know it, its title and other fields are scored."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FieldText]
    doc: DocId
    title: FieldText = ""


class Ranking(_Body):
    """Candidates of another engine, to be ranked."""

    query: Text
    candidates: Annotated[list[DocId | Candidate], Field(min_length=1, max_length=CANDIDATES)]


class SimilarQueries(_Body):
    """Several queries at once."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=QUERIES)]
    k: Annotated[int, Field(ge=1, le=RESULTS)] = 10


class SimilarDocuments(_Body):
    """Several documents at once."""

    docs: Annotated[list[DocId], Field(min_length=1, max_length=QUERIES)]
    k: Annotated[int, Field(ge=1, le=RESULTS)] = 10


class Queries(_Body):
    """Several queries at once."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=QUERIES)]


class Things(_Body):
    """Several queries, several documents, or both."""

    queries: Annotated[list[Text], Field(max_length=QUERIES)] = []
    docs: Annotated[list[DocId], Field(max_length=QUERIES)] = []
