"""Tables of examples: what our models show beside what the papers show.

Examples are chosen by a rule, not by hand: the query whose vector changed most, whose vectors differ most,
the first misspelt query of the sample, and so on. Each kind has a function that returns rows of text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from coclick.arrays.csr import Csr
from coclick.models.projection._base import ProjectionModel
from coclick.models.registry import create
from coclick.progress import quiet
from reproduce.jobs import Job, sampled_queries
from reproduce.logs import Log
from reproduce.paper import Examples
from reproduce.systems import NotMeasured, Systems

Rows = list[list[str]]  # the first is the header
_N_QUERIES = 40  # candidates for an example
_N_EXAMPLES = 3
_N_WORDS = 10
TOP_K = 3


def request(exhibit: Examples, job: Job, log: Log) -> Job:
    """Add what an exhibit shows to the job of one of its systems."""
    if exhibit.kind in ("vectors", "both sides"):
        return replace(job, expand=_judged_queries(log, seen=True))
    if exhibit.kind == "units":
        return replace(job, split=_judged_queries(log, seen=False))
    return replace(job, neighbours=exhibit.kind in ("similar", "difficult"))


def show(exhibit: Examples, systems: Systems) -> list[Rows]:
    """Return the tables of an exhibit."""
    return _KINDS[exhibit.kind](exhibit, systems)


def _judged_queries(log: Log, *, seen: bool) -> tuple[str, ...]:
    """The first judged queries of two to five words that have clicks, or have none."""
    texts = log.judged().texts
    chosen = [
        text
        for text, is_seen in zip(texts, log.group("seen").tolist(), strict=True)
        if is_seen == seen and 2 <= len(text.split()) <= 5
    ]
    return tuple(dict.fromkeys(chosen))[:_N_QUERIES]


# -- Jiang et al. 2016 ---------------------------------------------------------------------------------


def _vectors(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The queries whose vectors have the most weight on words that are not in the query."""
    [name] = exhibit.systems
    vectors: dict[str, list[tuple[str, float]]] = systems.result(name).info["vectors"]
    if not vectors:
        raise NotMeasured("no judged query has clicks")

    def new_weight(query: str) -> float:
        return sum(weight**2 for word, weight in vectors[query] if word not in query.split())

    chosen = sorted(vectors, key=lambda query: -new_weight(query))[:_N_EXAMPLES]
    table = [["query", "vector"], *([query, _format(vectors[query])] for query in chosen)]
    return [table, _rankings(exhibit, systems, chosen[0])]


def _both_sides(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The query whose vectors from the two sides differ most."""
    sides = [systems.result(name).info["vectors"] for name in exhibit.systems]
    if not sides[0]:
        raise NotMeasured("no judged query has clicks")

    def cosine(query: str) -> float:
        a, b = (dict(side[query]) for side in sides)
        return sum(weight * b.get(word, 0) for word, weight in a.items())

    both = [query for query in sides[0] if sides[0][query] and sides[1].get(query)]
    chosen = min(both, key=cosine)
    rows = [[name, _format(side[chosen])] for name, side in zip(exhibit.systems, sides, strict=True)]
    return [[["system", f"vector of “{chosen}”"], *rows], _rankings(exhibit, systems, chosen)]


def _units(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The unseen query with the most units."""
    [name] = exhibit.systems
    units = systems.result(name).info["units"]
    if not units:
        raise NotMeasured("every judged query has clicks")
    chosen = max(units, key=lambda query: len(units[query]))
    rows = [[unit, f"{weight:.3f}", _format(vector)] for unit, weight, vector in units[chosen]]
    return [[[f"unit of “{chosen}”", "weight", "vector"], *rows], _rankings(exhibit, systems, chosen)]


def _format(vector: list[tuple[str, float]]) -> str:
    return ", ".join(f"{word} {weight:.3f}" for word, weight in vector[:_N_WORDS])


def _rankings(exhibit: Examples, systems: Systems, query: str) -> Rows:
    """The first documents of some systems, with their grades."""
    judged, graph = systems.judged, systems.log.graph()
    at = judged.texts.index(query)
    pairs = slice(judged.starts[at], judged.starts[at + 1])
    columns = []
    for name in exhibit.rankings:
        order = np.argsort(-systems.scores(name)[pairs], kind="stable")[:TOP_K]
        columns.append(
            [f"{graph.title(judged.docs[at][i])} ({judged.grades[pairs][i]})" for i in order.tolist()]
        )
    return [[f"rank for “{query}”", *exhibit.rankings],
            *([str(i + 1), *row] for i, row in enumerate(zip(*columns, strict=True)))]  # fmt: skip


# -- Wu, Li & Xu 2013 ----------------------------------------------------------------------------------


def _weights(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The weights that tuning chose."""
    for name in exhibit.systems:
        systems.scores(name)
    rows = [[name, ", ".join(f"{w:g}" for w in systems.chosen[name])] for name in exhibit.systems]
    return [[["mix", "weight of the first"], *rows]]


def _matrices(exhibit: Examples, systems: Systems) -> list[Rows]:
    """Sizes and densities of the matrices whose singular vectors the models are."""
    graph = systems.log.graph()
    edges = _scipy(graph.clicks).astype(bool)
    rows = []
    for name in exhibit.systems:
        made = systems.paper.systems[name]
        assert isinstance(made, str)
        model = create(made.format(**systems.log.settings))
        if isinstance(model, ProjectionModel) and hasattr(model, "views"):
            joined = getattr(model, "combine", "concat") == "concat"
            views = [model.views] if joined else model.views.split("+")
            products = []
            for view in views:
                queries, docs = model._build_features(graph, view, quiet)
                products.append(_scipy(docs).astype(bool).T @ edges.T @ _scipy(queries).astype(bool))
        else:
            products = [edges.T]
        sizes = ", ".join(f"{m.shape[0]:,} × {m.shape[1]:,}" for m in products)
        densities = ", ".join(f"{m.nnz / m.shape[0] / m.shape[1]:.3%}" for m in products)
        rows.append([name, sizes, densities])
    return [[["model", "dimension", "density"], *rows]]


def _scipy(matrix: Csr) -> Any:
    shape = matrix.rows, matrix.columns
    return sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape)


def _similar(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The first queries of the sample of each kind, with their most similar queries."""
    [name] = exhibit.systems
    log = systems.log
    queries, neighbours = sampled_queries(log), systems.result(name).arrays["neighbours"]
    intents, names = log.intents(), log.graph().queries
    rows = []
    for kind, chosen in _kinds(log, queries).items():
        for i in chosen[:_N_EXAMPLES]:
            found = [names[int(row)] for row in neighbours[i, :TOP_K] if row >= 0]
            marked = [
                f"{q} ({'same' if intents.get(q) == intents[queries[i]] else 'other'} intent)" for q in found
            ]
            rows.append([kind, queries[i], "; ".join(marked) or "none"])
    return [[["kind", "query", "similar queries"], *rows]]


def _kinds(log: Log, queries: list[str]) -> dict[str, list[int]]:
    """The places of misspelt, run-together and rare queries in the sample."""
    graph = log.graph()
    clicks = graph.clicks.row_sums()[graph.queries.lookup(queries)]
    joined = {query.replace(" ", "") for query in graph.queries if " " in query}
    words = [word for query in graph.queries for word in query.split()]
    counts = dict(zip(*np.unique(words, return_counts=True), strict=True))
    rare = [any(counts[word] <= 2 and word.isalpha() for word in query.split()) for query in queries]
    together = [query in joined for query in queries]
    return {
        "rare word, often misspelt": [i for i in range(len(queries)) if rare[i] and not together[i]],
        "run together": [i for i in range(len(queries)) if together[i]],
        "tail": [i for i in range(len(queries)) if clicks[i] < 10 and len(queries[i].split()) > 3],
    }


def _difficult(exhibit: Examples, systems: Systems) -> list[Rows]:
    """Isolated islands: the only query of its only document. How many get a right similar query?"""
    log = systems.log
    graph, intents, queries = log.graph(), log.intents(), sampled_queries(log)
    of_docs = graph.clicks_by_doc.row_nnz()
    rows = graph.queries.lookup(queries).tolist()
    islands = [i for i, row in enumerate(rows) if (of_docs[graph.clicks.row(row)[0]] == 1).all()]
    if not islands:
        raise NotMeasured("the sample has no isolated island")
    right: dict[str, list[bool]] = {}
    texts: dict[str, list[list[str]]] = {}
    for name in exhibit.systems:
        neighbours = systems.result(name).arrays["neighbours"]
        texts[name] = [[graph.queries[int(r)] for r in neighbours[i, :TOP_K] if r >= 0] for i in islands]
        right[name] = [
            any(intents.get(other) == intents[queries[i]] for other in found)
            for i, found in zip(islands, texts[name], strict=True)
        ]
    first = exhibit.systems[0]
    shown = next((j for j, good in enumerate(right[first]) if good), 0)
    table = [
        [
            "model",
            f"islands with a right similar query, of {len(islands)}",
            f"similar to “{queries[islands[shown]]}”",
        ]
    ]
    return [
        table
        + [[name, str(sum(right[name])), "; ".join(texts[name][shown]) or "none"] for name in exhibit.systems]
    ]


# -- Gao et al. 2011 -----------------------------------------------------------------------------------


def _projection(exhibit: Examples, systems: Systems) -> list[Rows]:
    """The cost of the projection in each iteration of EM, where the solver reports it."""
    [name] = exhibit.systems
    curve = systems.result(name).info["stats"].get("curve", [])
    if not curve:
        raise NotMeasured("the model has no training curve")
    steps = [[str(one["round"]), f"{one['newton_steps']:.2f}"] for one in curve]
    return [[["iteration of EM", "Newton steps per pair"], *steps]]


_KINDS: dict[str, Callable[[Examples, Systems], list[Rows]]] = {
    "vectors": _vectors,
    "both sides": _both_sides,
    "units": _units,
    "weights": _weights,
    "matrices": _matrices,
    "similar": _similar,
    "difficult": _difficult,
    "projection": _projection,
}
