"""The data of the page that rates results by hand."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from coclick.evaluation.judgment_files import GRADE_NAMES
from coclick.evaluation.rated_judgments import RatedJudgments
from coclick.service.loaded_models import LoadedModel
from coclick.service.studio.doc_fields import DocFields
from coclick.service.studio.log import spread_rows
from coclick.service.studio.uncertain_pairs import Pair, uncertain_pairs

N_QUERIES = 60  # of the log, from which the queue is made
MAX_PAIRS = 20  # of the queue that a page shows

GRADES = [[grade, name] for name, grade in sorted(GRADE_NAMES.items(), key=lambda item: item[1])]


class Queue:
    """Pairs to rate, most uncertain first; computed once for the same models."""

    def __init__(self) -> None:
        self._cached: tuple[list[tuple[str, float]], list[Pair]] | None = None
        self._lock = Lock()

    def __call__(self, loaded: Sequence[LoadedModel]) -> list[Pair]:
        """Return the pairs of queries from head to tail of the first model's log."""
        versions = [(one.name, one.loaded_at) for one in loaded]
        with self._lock:
            if self._cached is None or self._cached[0] != versions:
                graph = loaded[0].model.trained_on
                queries = [graph.queries[int(row)] for row in spread_rows(graph.clicks.row_sums(), N_QUERIES)]
                self._cached = versions, uncertain_pairs([one.model for one in loaded], queries)
            return self._cached[1]


def rate_page(
    ratings: RatedJudgments, queue: Queue, loaded: Sequence[LoadedModel], fields: DocFields, query: str
) -> dict[str, Any]:
    """Return the documents to rate: of a query, or the most uncertain ones that have no grade yet."""
    grades = ratings.grades()
    if query:
        known = ratings.of_query(query)
        pairs = sorted(uncertain_pairs([one.model for one in loaded], [query]), key=_best_rank)
    else:
        known = {}
        pairs = [pair for pair in queue(loaded) if pair.doc not in grades.get(pair.query, {})]
    names = [one.name for one in loaded]
    return {
        "query": query,
        "file": ratings.path.name,
        "rated": {"queries": sum(map(bool, grades.values())), "pairs": sum(map(len, grades.values()))},
        "left": len(pairs),
        "grades": GRADES,
        "pairs": [
            {
                "query": pair.query,
                "doc": pair.doc,
                "title": next(filter(None, (one.model.title(pair.doc) for one in loaded)), ""),
                "ranks": [
                    {"model": name, "rank": rank} for name, rank in zip(names, pair.ranks, strict=True)
                ],
                "uncertainty": round(pair.uncertainty, 3),
                "grade": known.get(pair.doc),
                **fields.of(pair.doc),
            }
            for pair in (pairs if query else pairs[:MAX_PAIRS])
        ],
    }


def _best_rank(pair: Pair) -> tuple[int, int]:
    """Order documents of a query as a rater expects them: by their best rank."""
    ranks = [rank for rank in pair.ranks if rank is not None]
    return min(ranks), sum(ranks)
