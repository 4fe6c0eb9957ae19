"""What answers look like, for the OpenAPI document: docs/reference/json.md in types."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Hit(BaseModel):
    """A document with its score."""

    doc: str
    score: float
    title: str


class SearchAnswer(BaseModel):
    """Best first; documents without a score above zero are never returned."""

    query: str
    results: list[Hit]


class SearchAnswers(BaseModel):
    """In the order of the queries."""

    answers: list[SearchAnswer]


class Ranked(Hit):
    """A candidate; `known` if the model has the document."""

    known: bool


class RankAnswer(BaseModel):
    """All candidates, best first."""

    query: str
    results: list[Ranked]


class QueryHit(BaseModel):
    """A query of the log with its score."""

    query: str
    score: float


class SimilarQueriesAnswer(BaseModel):
    """Best first."""

    query: str
    results: list[QueryHit]


class SimilarQueriesAnswers(BaseModel):
    """In the order of the queries."""

    answers: list[SimilarQueriesAnswer]


class SimilarDocumentsAnswer(BaseModel):
    """Best first."""

    doc: str
    results: list[Hit]


class SimilarDocumentsAnswers(BaseModel):
    """In the order of the documents."""

    answers: list[SimilarDocumentsAnswer]


class WordWeight(BaseModel):
    """A word with its weight."""

    word: str
    weight: float


class ExpandAnswer(BaseModel):
    """Heaviest first."""

    query: str
    words: list[WordWeight]


class ExpandAnswers(BaseModel):
    """In the order of the queries."""

    answers: list[ExpandAnswer]


class Click(BaseModel):
    """An edge of the click graph and its share of what it helps to explain."""

    query: str
    doc: str
    clicks: float
    share: float


class Contribution(BaseModel):
    """A summand of its parent's value."""

    kind: str
    label: str
    value: float
    clicks: list[Click]
    edges: int
    parts: list[Contribution]


class ExplainAnswer(BaseModel):
    """The values of parts add up to their parent at every level."""

    query: str
    doc: str
    score: float
    parts: list[Contribution]
    words: list[dict[str, Any]] | None = None


class Term(BaseModel):
    """An entry of a sparse vector: the term, how people write it, its column, its number in exports."""

    term: str
    word: str
    id: int
    number: int
    weight: float


class VectorAnswer(BaseModel):
    """The vector of a query or of a document: `terms` of a sparse one, `values` of a dense one."""

    query: str | None = None
    doc: str | None = None
    dimensions: int
    terms: list[Term] | None = None
    values: list[float] | None = None


class VectorAnswers(BaseModel):
    """Of the queries, then of the documents."""

    answers: list[VectorAnswer]


class ServedModel(BaseModel):
    """A model that is served."""

    name: str
    model: str
    summary: str
    can: list[str]
    queries: int
    docs: int
    edges: int
    digest: str
    loaded: str
    problem: str | None


class Models(BaseModel):
    """The default first."""

    models: list[ServedModel]


class Status(BaseModel):
    """Whether the service is there."""

    status: str


class Fault(BaseModel):
    """What was wrong, where, and what to do."""

    message: str
    where: str | None
    hint: str | None


class Problem(BaseModel):
    """Every answer that is not the one that was asked for."""

    error: Fault
