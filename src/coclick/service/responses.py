"""The responses of the API for the OpenAPI document: the shapes of docs/json.md as types.

Explanations are declared once, as dataclasses in `coclick.results`. A test compares the other shapes with
the answers of `coclick.answers` and the examples in docs/json.md.
"""

from __future__ import annotations

from pydantic import BaseModel

from coclick.results import Click, Contribution, Explanation


class Hit(BaseModel):
    """A document with its score."""

    doc: str
    score: float
    title: str


class Evidence(BaseModel):
    """The clicks of a query, and the share of its text that the model knows."""

    clicks: float
    known_text: float


class QueryEvidence(BaseModel):
    """How far the results of a query can be trusted: 0 for guesses, near 1 if it was clicked often."""

    query: str
    confidence: float
    guess: bool
    evidence: Evidence


class SearchResponse(QueryEvidence):
    """Documents, best first; only scores above zero."""

    results: list[Hit]


class RankedHit(Hit):
    """A candidate; `known` if the model has the document."""

    known: bool


class RankResponse(QueryEvidence):
    """All candidates, best first."""

    results: list[RankedHit]


class QueryHit(BaseModel):
    """A query of the log with its score, its clicks, and those on documents clicked for both queries."""

    query: str
    score: float
    clicks: float
    shared_clicks: float


class SimilarQueriesResponse(QueryEvidence):
    """Queries, best first."""

    results: list[QueryHit]


class SimilarHit(Hit):
    """A document with its clicks for all queries."""

    clicks: float


class SimilarDocumentsResponse(BaseModel):
    """Documents, best first."""

    doc: str
    results: list[SimilarHit]


class WordWeight(BaseModel):
    """A word with its weight; of a document also what it was learned from."""

    word: str
    weight: float
    clicks: list[Click] | None = None
    edges: int | None = None
    parts: list[Contribution] | None = None


class ExpandResponse(BaseModel):
    """Words of a query or document, heaviest first."""

    query: str | None = None
    doc: str | None = None
    words: list[WordWeight]


class TermWeight(BaseModel):
    """An entry of a sparse vector: term, display form, column, number in exports, weight."""

    term: str
    word: str
    id: int
    number: int
    weight: float


class VectorResponse(BaseModel):
    """The vector of a query or document: `terms` if it is sparse, `values` if it is dense."""

    query: str | None = None
    doc: str | None = None
    dimensions: int
    terms: list[TermWeight] | None = None
    values: list[float] | None = None


class Completion(BaseModel):
    """A query of the log that completes what was typed, with the typos in it."""

    query: str
    score: float
    typos: int


class SuggestResponse(BaseModel):
    """Queries that complete a text, best first."""

    text: str
    completions: list[Completion]


class CorrectResponse(BaseModel):
    """What a query was probably meant to be; both are null if nothing is proposed."""

    query: str
    correction: str | None
    confidence: float | None


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


class ModelsResponse(BaseModel):
    """All models, the default first, and what keeps new versions on disk from being served."""

    models: list[ServedModel]
    problems: list[str]


class StatusResponse(BaseModel):
    """The state of the service."""

    status: str


class ReadyResponse(StatusResponse):
    """The state of the service, and whether new versions on disk are not served."""

    problems: list[str]


class ErrorDetail(BaseModel):
    """What is wrong, where, and what to do."""

    message: str
    where: str | None
    hint: str | None


class ErrorResponse(BaseModel):
    """The response to every request that fails."""

    error: ErrorDetail


RESPONSES: tuple[type, ...] = (
    SearchResponse,
    RankResponse,
    SimilarQueriesResponse,
    SimilarDocumentsResponse,
    ExpandResponse,
    Explanation,
    VectorResponse,
    SuggestResponse,
    CorrectResponse,
    ModelsResponse,
    StatusResponse,
    ReadyResponse,
    ErrorResponse,
)
