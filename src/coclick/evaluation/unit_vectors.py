"""Evaluation of the vectors that `vpcg` generates for unseen queries (Jiang et al. 2016, Table 5).

Some queries are held out with all their clicks, and a model is trained on the rest. The methods differ only
in how they build vectors for the held-out queries. `cosine` is the mean cosine to the vectors that these
queries have when their clicks are known. `nDCG@10` ranks all documents, with held-out clicks as relevant. The
paper reports only cosines, but on a dense graph even one mean vector for all queries has a high cosine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation.measures import measure
from coclick.graph.click_graph import ClickGraph
from coclick.models.propagation.iterations import propagate_once, row_dots
from coclick.models.propagation.vpcg import VPCG
from coclick.models.registry import create
from coclick.progress import Progress, quiet
from coclick.text.term_matrix import count_terms, unit_rows

# Those of the paper. With own words all methods come near a bag of words.
WORD_UNITS = "vpcg(units=words,own_weight=0)"


def compare_units(
    graph: ClickGraph,
    spec: str = WORD_UNITS,
    fraction: float = 0.2,
    seed: int = 0,
    progress: Progress = quiet,
) -> list[dict[str, Any]]:
    """Return for each method its cosine, its nDCG@10 and its coverage (queries that have a vector).

    Parameters:
        graph: the click graph.
        spec: a `vpcg` model with units.
        fraction: the share of queries to hold out.
        seed: random seed.
    """
    return [
        {
            "method": method,
            "cosine": round(float(found["cosine"].mean()), 4),
            "nDCG@10": round(float(found["nDCG@10"].mean()), 4),
            "coverage": round(float(found["covered"].mean()), 4),
        }
        for method, found in unit_values(graph, spec, fraction, seed, progress).items()
    ]


def unit_values(
    graph: ClickGraph,
    spec: str = WORD_UNITS,
    fraction: float = 0.2,
    seed: int = 0,
    progress: Progress = quiet,
) -> dict[str, dict[str, NDArray[Any]]]:
    """Return for each method the cosine and nDCG@10 of every held-out query, and whether it has a vector.

    The parameters are those of `compare_units`; the queries are the rows of `graph.split("queries", fraction,
    seed).held_out` that have clicks.
    """
    truth, learner = create(spec), create(spec)
    if not isinstance(truth, VPCG) or truth.units == "none":
        raise UserError(f"{spec} generates no vectors from units", hint='use "vpcg" or "vpcg(units=chars)"')
    train, held = graph.split("queries", fraction, seed)
    rows = np.flatnonzero(held.row_nnz() > 0)
    if not len(rows) or not train.clicks.nnz:
        raise UserError("the graph has too few queries to hold some out")
    truth.fit(graph, progress)
    learner.fit(train, progress)
    assert isinstance(learner, VPCG)
    texts = [graph.queries[int(row)] for row in rows]  # the terms stay the same: held-out texts do too
    targets = truth.embed_queries(texts)
    grades = {str(row): {graph.docs[int(doc)]: 1 for doc in held.row(row)[0]} for row in rows.tolist()}
    return {
        method: {
            "cosine": row_dots(vectors, targets),
            "nDCG@10": _ndcg(learner, vectors, rows.tolist(), grades),
            "covered": vectors.row_nnz() > 0,
        }
        for method, vectors in _methods(learner, texts).items()
    }


def _methods(model: VPCG, texts: list[str]) -> dict[str, Csr]:
    """The vectors of unseen queries by each method of Table 5, and the mean vector as a baseline."""
    assert model.units_ is not None and model.query_index_ is not None
    tokens = model._analyzer.lookup_terms(texts, model.terms_)
    counts = count_terms(tokens, len(model.terms_))
    units = model.units_
    equal = replace(units, weights=np.ones_like(units.weights))  # also of units whose learned weight is 0
    clicked = np.flatnonzero(model.graph_.clicks.row_nnz() > 0)
    ones = np.ones(len(clicked), np.float32)
    ends = np.array([0, len(clicked)])
    everything = Csr(ends, clicked.astype(np.int32), ones, len(model.graph_.queries))
    queries = model.query_index_.vectors
    mean = propagate_once(everything, queries, model.max_terms)
    return {
        "mean vector of all queries": mean.take(np.zeros(len(texts), np.int32)),
        "bag of words": unit_rows(counts),
        "vectors of one-word queries, equal weights": propagate_once(
            _one_word_queries(model, texts), queries, model.max_terms
        ),
        "unit vectors, equal weights": equal.generate(equal.mixture(texts, model._splitter), model.max_terms),
        f"unit vectors, {model.unit_weights} weights": units.generate(
            units.mixture(texts, model._splitter), model.max_terms
        ),
    }


def _one_word_queries(model: VPCG, texts: list[str]) -> Csr:
    """For each text, the rows of the one-word queries with clicks that are among its words."""
    words = [sorted(set(model._analyzer.words(text))) for text in texts]
    rows = model.graph_.queries.lookup([word for found in words for word in found])
    text = np.repeat(np.arange(len(texts)), [len(found) for found in words])
    known = (rows >= 0) & (model.graph_.clicks.row_nnz()[rows] > 0)
    return Csr.from_triples(
        text[known], rows[known], np.ones(int(known.sum())), (len(texts), len(model.graph_.queries))
    )


def _ndcg(
    model: VPCG, vectors: Csr, rows: list[int], grades: dict[str, dict[str, int]]
) -> NDArray[np.float64]:
    """The nDCG@10 of every query."""
    found, _ = model.doc_index_.search(vectors, min(10, len(model.graph_.docs)))
    docs = model.graph_.docs
    run = {str(row): [docs[int(d)] for d in found[i] if d >= 0] for i, row in enumerate(rows)}
    values = measure(grades, run, ("nDCG@10",))
    return np.array([values[str(row)]["nDCG@10"] for row in rows])
