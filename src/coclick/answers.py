"""Answers of models and descriptions of artefacts as plain values: the JSON of command line and service.

The shapes are documented in docs/json.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.graph.added_documents import check_view_features, group_by_view
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.capabilities import CAPABILITIES
from coclick.models.persistence import open_model
from coclick.models.registry import model_class, model_names
from coclick.models.shared_evidence import shared_evidence
from coclick.models.spec import parameters_of
from coclick.models.text_model import TextModel
from coclick.results import Contribution, Run
from coclick.storage.artefact import Artefact
from coclick.suggestions import suggestions
from coclick.text.query import Query

Answer = dict[str, Any]


def search(
    model: Model,
    queries: Sequence[str],
    k: int = 10,
    allow: Collection[str] | None = None,
    block: Collection[str] | None = None,
) -> list[Answer]:
    """Return the best documents of each query, and the evidence for the query."""
    parsed = model._queries(queries)
    run = model._run(*model._search_masked(parsed, k, allow, block), queries)
    return [
        {"query": query, "results": _documents(model, run, i), **evidence(model, parsed[i])}
        for i, query in enumerate(queries)
    ]


def evidence(model: Model, query: Query) -> Answer:
    """Return the clicks of a query, what the model knows of it, and how far its results can be trusted."""
    graph = model.trained_on
    clicks = float(graph.clicks.row(query.row)[1].sum(dtype=np.float64)) if query.row >= 0 else 0.0
    confidence = model._confidence(query)
    return {
        "confidence": confidence,
        "guess": confidence == 0,
        "evidence": {"clicks": _number(clicks), "known_text": model._known_text(query)},
    }


def rank(model: Model, query: str, candidates: Sequence[str | Mapping[str, Any]]) -> Answer:
    """Return all candidates, best first; ties keep the given order.

    A candidate is the id of a document, or a mapping of fields with its id in `doc`: if the model does not
    know that document, the other fields are scored. The field `features`, unless it is a text, has features
    of user views: `{"tags": {"sport": 1.0}}`.
    """
    graph = model.trained_on
    [parsed] = Query.list_of([query], graph.queries)
    given = [{"doc": one} if isinstance(one, str) else dict(one) for one in candidates]
    rows = graph.docs.lookup([one["doc"] for one in given])
    scores = np.zeros(len(rows), np.float32)
    scores[rows >= 0] = model._score(parsed, rows[rows >= 0])
    with_text = [i for i, one in enumerate(given) if rows[i] < 0 and len(one) > 1]
    if with_text:
        texts = [
            {name: text for name, text in given[i].items() if name != "doc" and isinstance(text, str)}
            for i in with_text
        ]
        features = [_features(given[i]) for i in with_text]
        named = group_by_view(features, [given[i]["doc"] for i in with_text])
        check_view_features(named, model.user_views)  # by id, for the message
        scores[with_text] = model.score_texts(query, texts, features)
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
        **evidence(model, parsed),
    }


def _features(candidate: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    given = candidate.get("features", {})
    return {} if isinstance(given, str) else given


def similar_queries(model: Model, queries: Sequence[str], k: int = 10) -> list[Answer]:
    """Return the nearest queries of each query, damped where there is little evidence for it."""
    run = model.similar_queries(queries, k, damped=True)
    parsed = model._queries(queries)
    return [
        {"query": query, "results": _similar(model, parsed[i], run, i), **evidence(model, parsed[i])}
        for i, query in enumerate(queries)
    ]


def _similar(model: Model, query: Query, run: Run, place: int) -> list[Answer]:
    """The similar queries of one query, with their clicks and those on the documents of both queries."""
    rows = run.rows[place][run.rows[place] >= 0]
    found = shared_evidence(model.trained_on, query, rows)
    return [
        {"query": text, "score": score, "clicks": _number(clicks), "shared_clicks": _number(shared)}
        for (text, score), clicks, shared in zip(
            run.hits(place), found.clicks, found.shared_clicks, strict=True
        )
    ]


def similar_docs(model: Model, docs: Sequence[str], k: int = 10) -> list[Answer]:
    """Return the nearest documents of each document, with their clicks."""
    run = model.similar_docs(docs, k)
    answers: list[Answer] = [{"doc": doc, "results": _documents(model, run, i)} for i, doc in enumerate(docs)]
    clicked = model.trained_on.clicks_by_doc
    for answer, rows in zip(answers, run.rows, strict=True):
        for hit, row in zip(answer["results"], rows[rows >= 0].tolist(), strict=True):
            hit["clicks"] = _number(clicked.row(row)[1].sum(dtype=np.float64))
    return answers


def expand(model: Model, query: str) -> Answer:
    """Return the words that stand for a query, with weights."""
    words = [{"word": word, "weight": weight} for word, weight in model.expand(query)]
    return {"query": query, "words": words}


def expand_doc(model: Model, doc: str, k: int = 10, clicks: int = 3, *, new: bool = True) -> Answer:
    """Return the learned words of a document with weights, and what they were learned from."""
    found = model.explain_expansion(doc, k, clicks, new=new)
    return {"doc": doc, "words": [_learned_word(part) for part in found]}


def explain(model: Model, query: str, doc: str, clicks: int | None = 10) -> Answer:
    """Explain a score, with at most `clicks` clicked pairs per contribution, None for all."""
    return model.explain(query, doc, clicks).to_dict()


def topics(model: Model, words: int) -> list[Answer]:
    """Return the topics of a model: their words in queries and their words in titles."""
    sides = ("query_words", "title_words")
    found = model.describe_topics(words)
    return [topic | {side: _probabilities(topic[side]) for side in sides} for topic in found]


def translate(model: Model, word: str, k: int) -> list[Answer]:
    """Return the query words that a title word translates to, with probabilities."""
    return _probabilities(model.translate(word, k))


def _probabilities(words: Sequence[tuple[str, float]]) -> list[Answer]:
    return [{"word": word, "probability": probability} for word, probability in words]


def query_vectors(model: Model, queries: Sequence[str]) -> list[Answer]:
    """Return the vectors of queries: terms with weights, or plain numbers."""
    found = _with_vectors(model).embed_queries(queries)
    return [{"query": query, **_vector(model, found, i)} for i, query in enumerate(queries)]


def doc_vectors(model: Model, docs: Sequence[str]) -> list[Answer]:
    """Return the vectors of documents that the model knows."""
    found = _with_vectors(model).embed_docs(docs)
    return [{"doc": doc, **_vector(model, found, i)} for i, doc in enumerate(docs)]


def _learned_word(part: Contribution) -> Answer:
    plain = asdict(part)
    return {
        "word": part.label,
        "weight": part.value,
        **{name: plain[name] for name in ("clicks", "edges", "parts")},
    }


def _documents(model: Model, run: Run, query: int) -> list[Answer]:
    graph = model.trained_on
    rows, scores = run.rows[query].tolist(), run.scores[query].tolist()
    return [
        {"doc": graph.docs[row], "score": score, "title": graph.title(row)}
        for row, score in zip(rows, scores, strict=True)
        if row >= 0
    ]


def _with_vectors(model: Any) -> Any:
    """Return the model if its scores are the dot products of its vectors, else raise."""
    if "export" not in model.capabilities:
        raise UserError(f"{model.name} has no vectors whose dot products are its scores")
    return model


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
                "word": model.display_terms_[t],
                "id": t,
                "number": int(model.term_numbers[t]),
                "weight": weight,
            }
            for t, weight in zip(terms[order].tolist(), weights[order].tolist(), strict=True)
        ],
    }


_BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)  # lower bounds; the last bin is open


def complete(found: suggestions.Suggestions, text: str, k: int = 10) -> Answer:
    """Return the queries that complete a text, best first."""
    return {"text": text, "completions": [one._asdict() for one in found.complete(text, k)]}


def correct(
    found: suggestions.Suggestions, text: str, min_confidence: float = suggestions.MIN_CONFIDENCE
) -> Answer:
    """Return what a query was probably meant to be; `correction` is None if nothing is proposed."""
    correction = found.correct(text, min_confidence=min_confidence)
    sure = None if correction is None else correction.confidence
    return {"query": text, "correction": correction and correction.query, "confidence": sure}


def complete_each(found: suggestions.Suggestions, texts: Sequence[str], k: int = 10) -> list[Answer]:
    """Return the completions of several texts, in their order."""
    return [complete(found, text, k) for text in texts]


def correct_each(
    found: suggestions.Suggestions, texts: Sequence[str], min_confidence: float = suggestions.MIN_CONFIDENCE
) -> list[Answer]:
    """Return the corrections of several queries, in their order."""
    return [correct(found, text, min_confidence) for text in texts]


def describe(path: str | Path) -> dict[str, Any]:
    """Describe the graph or model in a directory: what `coclick info` shows."""
    source = Artefact(path)
    head = {"kind": source.kind, "path": str(path), "bytes": source.size(), "digest": source.digest}
    if source.kind == "graph":
        return head | describe_graph(ClickGraph.read(source))
    if source.kind == suggestions.KIND:
        return head | dict(suggestions.Suggestions.read(source).stats)
    return head | describe_model(open_model(path))


def describe_graph(graph: ClickGraph) -> dict[str, Any]:
    """Return sizes, degree distributions, the number of texts per field, and what the build counted."""
    clicks, by_doc = graph.clicks, graph.clicks_by_doc
    counted = dict(graph.stats)
    by_view = counted.pop("views", {})
    names = ("pairs", "daily", "skips", "searches", "followups")
    return {
        "queries": len(graph.queries),
        "docs": len(graph.docs),
        "edges": clicks.nnz,
        "clicks": _number(clicks.data.sum(dtype=np.float64)),
        "queries_with_clicks": int((clicks.row_nnz() > 0).sum()),
        "docs_with_clicks": int((by_doc.row_nnz() > 0).sum()),
        "docs_per_query": distribution(clicks.row_nnz()),
        "queries_per_doc": distribution(by_doc.row_nnz()),
        "clicks_per_query": distribution(clicks.row_sums()),
        "clicks_per_edge": distribution(clicks.data),
        "texts": {name: int((np.diff(text.offsets) > 0).sum()) for name, text in graph.texts.items()},
        "views": {name: view.stats() | by_view.get(name, {}) for name, view in graph.views.items()},
        "tables": [name for name in names if getattr(graph, name) is not None],
        "build": counted,
    }


def describe_model(model: Model) -> dict[str, Any]:
    """Return the specification, every parameter, what it was trained on, and the statistics of training."""
    manifest = model.artefact_.manifest if model.artefact_ else {}
    return {
        "model": str(model),
        "summary": model.summary,
        "parameters": manifest.get("parameters", {}),
        "can": [capability for capability in CAPABILITIES if capability in model.capabilities],
        "graph": manifest.get("graph", ""),
        "queries": len(model.graph_.queries),
        "docs": len(model.graph_.docs),
        "edges": model.graph_.clicks.nnz,
        "build": dict(model.graph_.stats),
        "training": model.stats_,
    } | ({"language": model.language_} if isinstance(model, TextModel) and model.language_ else {})


def distribution(values: NDArray[Any]) -> dict[str, Any]:
    """Return mean, percentiles and a histogram of the values above zero."""
    positive = np.asarray(values)[np.asarray(values) > 0]
    if not len(positive):
        return {"count": 0, "mean": 0, "median": 0, "p90": 0, "p99": 0, "max": 0, "histogram": []}
    places = np.searchsorted(_BINS, positive, side="right") - 1
    counts = np.bincount(np.maximum(places, 0), minlength=len(_BINS))
    labels = [_bin_label(low, high) for low, high in zip(_BINS, (*_BINS[1:], None), strict=True)]
    median, p90, p99 = np.percentile(positive, [50, 90, 99])
    return {
        "count": len(positive),
        "mean": round(float(positive.mean(dtype=np.float64)), 3),
        "median": _number(median),
        "p90": _number(p90),
        "p99": _number(p99),
        "max": _number(positive.max()),
        "histogram": [[label, int(count)] for label, count in zip(labels, counts, strict=True) if count],
    }


def _bin_label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}"


def _number(value: Any) -> int | float:
    """Whole numbers as integers: click counts are whole unless actions have fractional weights."""
    return int(value) if float(value).is_integer() else round(float(value), 3)


def describe_models() -> list[dict[str, Any]]:
    """List every model with its summary, its presets with their sources, and its parameters' defaults."""
    return [
        {
            "name": name,
            "summary": model_class(name).summary,
            "presets": {preset: values.source for preset, values in model_class(name).presets.items()},
            "parameters": {field.name: field.default for field in parameters_of(model_class(name))},
        }
        for name in model_names()
    ]
