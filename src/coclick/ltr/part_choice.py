"""Choose further parts of `ltr`: those that rank held-out clicks better than the parts without them.

The parts are trained without the queries of the first fold. Trees that are grown on half of these queries
rank the other half, and the reverse, with and without each further part. A part is chosen if it gains, by a
paired test. Parts that would take too long are not tried. That is decided by the sizes of texts, not by the
clock: the same log always gives the same model.

In a thin log, held-out clicks are on the documents that the engine has shown, and those that it should have
shown have none. So there the further parts join without a test, if impressions are known. Without these, what
the further parts find would be negative examples: see `coclick.ltr.folds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.significance import t_test
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.boosting import Boosting
from coclick.ltr.features import RankingFeatures
from coclick.ltr.folds import Examples, Sampling, first_fold, is_thin
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.progress import Progress, quiet

FURTHER = ("wtm(fields=all)", "lsi_dt")
LEVEL = 0.05  # of the test
MIN_QUERIES = 100  # with fewer, a test says little
MAX_TEXT = 20_000_000  # bytes of the texts of documents
MAX_CLICKED_TEXT = 20_000_000  # the same, each document as often as queries clicked it
_N_TREES = 50


class Choice(NamedTuple):
    """The chosen parts, and the examples of the first fold with them."""

    parts: list[Model]
    first_fold: Examples | None


def choose_parts(
    graph: ClickGraph,
    parts: Sequence[Model],
    features: RankingFeatures,
    sampling: Sampling,
    boosting: Boosting,
    progress: Progress = quiet,
) -> Choice:
    """Return those of the further parts that help, trained on the graph."""
    if not _is_small(graph):
        return Choice([], None)
    with progress("further parts"):
        specs = FURTHER if len(graph.texts) > 1 else FURTHER[1:]  # of one field, all is the same as the title
        further = [create(spec).fit(graph) for spec in specs]
        everything = [*parts, *further]
        wide = replace(RankingFeatures.of(everything, graph, features.depth), doc_names=features.doc_names,
                       doc_values=features.doc_values)  # fmt: skip
        examples = first_fold(graph, everything, wide, sampling)
        if is_thin(graph) and "impressions" in graph.provides:
            return Choice(further, examples)
        if examples is None or len(examples.queries) < MIN_QUERIES:
            return Choice([], None)
        boosting = replace(boosting, n_trees=min(boosting.n_trees, _N_TREES))
        halves = np.arange(len(examples.queries)) % 2
        names = np.array(wide.names)
        of_further = [np.array([name.startswith(f"{part} ") for name in names]) for part in further]
        unwanted = np.any(of_further, axis=0)
        before = boosting.rank_folds(_columns(examples, ~unwanted), halves)
        chosen, kept = [], ~unwanted
        for part, own in zip(further, of_further, strict=True):
            if _helps(boosting.rank_folds(_columns(examples, ~unwanted | own), halves) - before):
                chosen.append(part)
                kept |= own
        return Choice(chosen, _columns(examples, kept))


def _helps(gain: NDArray[np.float64]) -> bool:
    return bool(gain.mean() > 0) and t_test(gain) < LEVEL


def _columns(examples: Examples, chosen: NDArray[np.bool_]) -> Examples:
    return replace(examples, features=np.ascontiguousarray(examples.features[:, chosen]))


def _is_small(graph: ClickGraph) -> bool:
    sizes = np.sum([np.diff(column.offsets) for column in graph.texts.values()], axis=0)
    clicked = sizes @ graph.clicks_by_doc.row_nnz()
    return bool(sizes.sum() <= MAX_TEXT and clicked <= MAX_CLICKED_TEXT)
