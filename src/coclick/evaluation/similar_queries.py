"""Judgments of similar queries: from held-out clicks, from intents, or from graded pairs.

They are directed: the grade of query b for query a says how well b can stand in for a. From held-out clicks
it is the share of a's held-out clicks that b explains,

    gain(b | a) = Σ_d P(d | a) · discount(r_b(d)),    discount(r) = 1 / log2(1 + r) if r ≤ 10, else 0

with P(d | a) the share of d in the held-out clicks of a, and r_b(d) its rank among the clicks of b: what
users of a would get from the documents that users of b click most. A broad query explains little of a narrow
one, because the wanted document is far down among its clicks, and a narrow query little of a broad one,
because it has few of the wanted documents. A cosine cannot tell these apart: it is the same in both
directions. Documents with equally many clicks share their discounts. Grades are percentages of the largest
gain of a, which does not change nDCG.

The clicks of b are held out, too. Otherwise a model that memorises clicks would know half of each label. Only
if whole queries are held out, so that no query has clicks on both sides, are they those that models know.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError, counted
from coclick.evaluation.holdout import split_clicks
from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.judgment_files import lines, read_text
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import remove_queries
from coclick.text.normalise import normalise, normalise_batch

MAX_QUERIES = 5000  # a mean over more queries changes little
MAX_GRADE = 100
MAX_PAIRS = 1_000_000  # judged pairs in memory: popular documents are clicked for thousands of queries
_DEPTH = 10  # clicked documents of a query that count
_BLOCK = 256  # queries whose gains are in memory at a time


def judge_by_clicks(graph: ClickGraph, rule: str | None = None, seed: int = 0) -> EvaluationData:
    """Hold out clicks; the queries that have some are judged.

    Models are trained on, and may only return, the queries that have other clicks: in use they would not know
    the rest either. Where more than `MAX_QUERIES` have held-out clicks, or these have more than `MAX_PAIRS`
    similar queries, a random sample of them is judged.
    """
    train, held_out, rule = split_clicks(graph, rule, seed)
    has_train, has_held_out = train.clicks.row_nnz() > 0, held_out.row_nnz() > 0
    known = remove_queries(train, ~has_train)
    names = known.queries.to_list()
    on_both_sides = has_held_out[has_train]
    explaining, candidates = train.clicks, None
    if on_both_sides.any():
        explaining = held_out
        candidates = frozenset(names[i] for i in np.flatnonzero(on_both_sides).tolist())
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(has_held_out))[:MAX_QUERIES]
    texts = graph.queries.take(rows).to_list()
    discounts = rank_discounts(explaining.take(np.flatnonzero(has_train)))
    gains = _gains(_row_shares(held_out.take(rows)), discounts)
    grades: dict[str, dict[str, int]] = {}
    drawn = n_pairs = 0
    for text, own, (others, values) in zip(texts, known.queries.lookup(texts), gains, strict=True):
        percent = _percent_of_best(np.where(others == own, 0, values))
        pairs = zip(others.tolist(), percent.tolist(), strict=True)
        if found := {names[other]: grade for other, grade in pairs if grade}:
            grades[text] = found
        drawn, n_pairs = drawn + 1, n_pairs + len(found)
        if n_pairs >= MAX_PAIRS:
            break
    if not grades:
        raise UserError(
            f"the holdout {rule} leaves no query that shares held-out clicks with another query",
            hint="use another holdout, such as queries:0.2, or judgments of pairs of queries",
        )
    notes = _notes(
        len(grades),
        {
            "have no held-out clicks": int((~has_held_out).sum()),
            "are not in the random sample": int(has_held_out.sum()) - drawn,
            "share their held-out clicks with no other query": drawn - len(grades),
        },
    )
    if candidates is not None:
        notes.append(
            f"of the {counted(len(names), 'query')} that models know, {len(candidates):,} have held-out "
            "clicks and are judged; the others are removed from results"
        )
    judgments = Judgments(
        {text: text for text in sorted(grades)}, grades, notes=tuple(notes), candidates=candidates
    )
    return EvaluationData(known, judgments, f"held-out clicks, {rule}")


def rank_discounts(clicks: Csr) -> Csr:
    """Replace the clicks of each row by 1 / log2(1 + rank), 0 beyond rank 10; ties share their discounts."""
    row_of = np.repeat(np.arange(clicks.rows), clicks.row_nnz())
    order = np.lexsort((-clicks.data, row_of))
    rank = np.arange(clicks.nnz) - clicks.indptr[row_of] + 1  # of the entries in this order
    discounts = np.where(rank <= _DEPTH, 1 / np.log2(1 + rank), 0)
    ordered = clicks.data[order]
    starts = np.flatnonzero((rank == 1) | (ordered != np.roll(ordered, 1)))
    size = np.diff(np.append(starts, clicks.nnz))
    values = np.empty(clicks.nnz, np.float32)
    values[order] = np.repeat(np.add.reduceat(discounts, starts) / size, size)
    return clicks.with_data(values).positive()


def read_intents(path: str | Path) -> Judgments:
    """Read lines of `query<TAB>intent`; queries of one intent have grade 1 for each other.

    A header is optional. The intents.tsv of `coclick sample` is such a file.
    """
    intents: dict[str, str] = {}
    for number, (where, line) in enumerate(lines(read_text(path), path)):
        query, tab, intent = line.partition("\t")
        if not tab:
            raise UserError("the line has no tab", where=where, hint="expected query<TAB>intent")
        if number > 0 or query.strip().lower() != "query":
            intents[normalise(query)] = intent.split("\t")[0].strip()
    if not intents:
        raise UserError("the file has no intents", where=str(path))
    members: dict[str, dict[str, int]] = {}
    for query, intent in intents.items():
        members.setdefault(intent, {})[query] = 1
    grades = {query: members[intent] for query, intent in intents.items()}
    return Judgments({query: query for query in grades}, grades)


def judge_by_pairs(graph: ClickGraph, judgments: Judgments, seed: int = 0) -> Judgments:
    """Restrict judgments of queries for queries to those that can be found; sample them if there are many.

    A query without a relevant other query in the graph is left out: no ranking of it could be right.
    """
    ids = list(judgments.queries)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(ids))[:MAX_QUERIES]).tolist()
    queries, grades, missing = {}, {}, 0
    for query in (ids[i] for i in drawn):
        itself = normalise(judgments.queries[query])
        others = list(judgments.grades[query])
        texts = normalise_batch(others)
        known = graph.queries.lookup(texts) >= 0
        missing += int((~known).sum())
        found = {
            text: judgments.grades[query][other]
            for text, other, in_graph in zip(texts, others, known.tolist(), strict=True)
            if in_graph and text != itself
        }
        if any(found.values()):
            queries[query], grades[query] = judgments.queries[query], found
    if not grades:
        raise UserError(
            "none of the judged queries has a similar query in the graph",
            hint=f"judged queries: {', '.join(ids[:3])}",
        )
    reasons = {
        "are not in the random sample": len(ids) - len(drawn),
        "have no similar query in the graph": len(drawn) - len(grades),
    }
    notes = _notes(len(grades), reasons)
    if missing:
        notes.append(f"{counted(missing, 'judged pair')} left out: their second query is not in the graph")
    return Judgments(queries, grades, judgments.unknown, notes=tuple(notes))


def _gains(wanted: Csr, offered: Csr) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
    """Yield for each row of `wanted` the rows of `offered` that share a column, and the dot products."""
    by_column = offered.transpose().to_scipy()
    for first in range(0, wanted.rows, _BLOCK):
        block = wanted.row_slice(first, min(first + _BLOCK, wanted.rows))
        product = Csr.from_scipy(block.to_scipy() @ by_column)
        yield from (product.row(i) for i in range(product.rows))


def _percent_of_best(gains: NDArray[np.float32]) -> NDArray[np.int32]:
    return np.rint(MAX_GRADE * gains / gains.max(initial=1e-9)).astype(np.int32)


def _row_shares(clicks: Csr) -> Csr:
    """Divide the clicks of each row by their sum."""
    return clicks.with_data((clicks.data / np.repeat(clicks.row_sums(), clicks.row_nnz())).astype(np.float32))


def _notes(used: int, left_out: dict[str, int]) -> list[str]:
    """Say how many queries are evaluated, and how many are not for which reason."""
    reasons = [f"{count:,} {reason}" for reason, count in left_out.items() if count]
    return [f"{counted(used, 'query')} evaluated; left out: {'; '.join(reasons)}"] if reasons else []
