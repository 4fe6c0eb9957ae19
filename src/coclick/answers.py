"""What a model answers, in the shapes of docs/json.md: for the command line and for the service."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coclick.errors import UserError
from coclick.models.base import Model
from coclick.run import Run
from coclick.text.analyzer import normalise

if TYPE_CHECKING:
    from coclick.models.projection._base import ProjectionModel
    from coclick.models.sparse_vectors import VectorModel

Answer = dict[str, Any]


def search(
    model: Model,
    queries: Sequence[str],
    k: int = 10,
    *,
    allow: Collection[str] | None = None,
    block: Collection[str] | None = None,
) -> list[Answer]:
    """The best documents of each query."""
    run = model.search(queries, k, allow=allow, block=block)
    return [{"query": query, "results": _documents(model, run, i)} for i, query in enumerate(queries)]


def rank(model: Model, query: str, candidates: Sequence[str | Mapping[str, str]]) -> Answer:
    """All candidates, best first, equal ones in the order given.

    A candidate is the id of a document, or fields of which `doc` is its id: where the model does not know
    that document, its other fields are scored instead.
    """
    graph = model.trained_on
    given = [{"doc": one} if isinstance(one, str) else dict(one) for one in candidates]
    rows = graph.docs.lookup([one["doc"] for one in given])
    scores = np.zeros(len(rows), np.float32)
    scores[rows >= 0] = model.score_rows(normalise(query), rows[rows >= 0])
    with_text = [i for i, one in enumerate(given) if rows[i] < 0 and len(one) > 1]
    if with_text:
        texts = [{name: text for name, text in given[i].items() if name != "doc"} for i in with_text]
        scores[with_text] = model.score_texts(query, texts)
    return {
        "query": query,
        "results": [
            {
                "doc": given[i]["doc"],
                "score": float(scores[i]),
                "title": graph.title(int(rows[i])) if rows[i] >= 0 else given[i].get("title", ""),
                "known": bool(rows[i] >= 0),
            }
            for i in np.argsort(-scores, kind="stable").tolist()
        ],
    }


def similar_queries(model: Model, queries: Sequence[str], k: int = 10) -> list[Answer]:
    """The nearest queries of each query."""
    run = model.similar_queries(queries, k)
    return [
        {"query": query, "results": [{"query": text, "score": score} for text, score in run.hits(i)]}
        for i, query in enumerate(queries)
    ]


def similar_docs(model: Model, docs: Sequence[str], k: int = 10) -> list[Answer]:
    """The nearest documents of each document."""
    run = model.similar_docs(docs, k)
    return [{"doc": doc, "results": _documents(model, run, i)} for i, doc in enumerate(docs)]


def expand(model: Model, query: str) -> Answer:
    """The words that stand for a query."""
    words = [{"word": word, "weight": weight} for word, weight in model.expand(query)]
    return {"query": query, "words": words}


def explain(model: Model, query: str, doc: str, clicks: int | None = 10) -> Answer:
    """Why a document has its score; `clicks` for each part, None for all."""
    return model.explain(query, doc, clicks).to_dict()


def query_vectors(model: Model, queries: Sequence[str]) -> list[Answer]:
    """The vectors of queries: words with weights, or plain numbers."""
    model = _with_vectors(model)
    found = model.embed_queries([normalise(query) for query in queries])
    return [{"query": query, **_vector(model, found, i)} for i, query in enumerate(queries)]


def doc_vectors(model: Model, docs: Sequence[str]) -> list[Answer]:
    """The vectors of documents that the model knows."""
    model = _with_vectors(model)
    rows = model.rows_of_docs(docs)
    return [
        {"doc": doc, **_vector(model, model.doc_index_.vectors, int(r))}
        for doc, r in zip(docs, rows, strict=True)
    ]


def _documents(model: Model, run: Run, query: int) -> list[Answer]:
    graph = model.trained_on
    rows, scores = run.rows[query].tolist(), run.scores[query].tolist()
    return [
        {"doc": graph.docs[row], "score": score, "title": graph.title(row)}
        for row, score in zip(rows, scores, strict=True)
        if row >= 0
    ]


def _with_vectors(model: Model) -> VectorModel | ProjectionModel:
    """A model whose scores are the dot products of its vectors."""
    from coclick.models.projection._base import ProjectionModel
    from coclick.models.projection._overlap import (
        OverlapProjection,
    )  # here: a wrong path is told before these are loaded
    from coclick.models.sparse_vectors import VectorModel

    if isinstance(model, VectorModel | ProjectionModel) and not isinstance(model, OverlapProjection):
        return model
    raise UserError(f"{model.name} has no vectors whose dot products are its scores")


def _vector(model: Any, vectors: Any, row: int) -> Answer:
    if isinstance(vectors, np.ndarray):
        return {"dimensions": vectors.shape[1], "values": vectors[row].tolist()}
    terms, weights = vectors.row(row)
    order = np.argsort(-weights, kind="stable")
    return {
        "dimensions": len(model.terms_),
        "terms": [
            {
                "term": model.terms_[t],
                "word": model.surfaces_[t],
                "id": t,
                "number": int(model.term_numbers[t]),
                "weight": weight,
            }
            for t, weight in zip(terms[order].tolist(), weights[order].tolist(), strict=True)
        ],
    }
