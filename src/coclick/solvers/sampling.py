"""Pairs to learn from: what was clicked, what was not, what was preferred to what, and what is held out.

Where a query has clicked every candidate there is nothing to draw: its document is then compared with itself,
which teaches nothing and harms nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import Skips
from coclick.solvers.pairwise import Preferences

Ints = NDArray[np.int32]

_REDRAWS = 20  # of a document that turned out to be clicked
_FEWEST = 20  # pairs, below which none can be spared for validation
_MOST_SPARED = 0.1  # of the pairs, where the wanted share would be too few to tell anything
_ENOUGH = 200  # held-out pairs that tell something


def learnable_pairs(clicks: Csr, queries: Csr, docs: Csr) -> tuple[Ints, Ints]:
    """Queries and documents of the clicked pairs that have features on both sides, by query."""
    for side, rows in (("queries", queries), ("documents", docs)):
        if not np.isfinite(rows.data).all():
            raise UserError(f"some features of {side} are not finite numbers")
    asked = np.repeat(np.arange(clicks.rows, dtype=np.int32), clicks.row_nnz())
    known = (queries.row_nnz() > 0)[asked] & (docs.row_nnz() > 0)[clicks.indices]
    if not known.any():
        raise UserError(
            "no clicked pair has features on both sides, so there is nothing to learn from",
            hint="do the clicked documents have texts? which fields are read? (fields=)",
        )
    return asked[known], clicks.indices[known]


def with_features(rows: Csr) -> Ints:
    """The rows that are not empty."""
    return np.flatnonzero(rows.row_nnz()).astype(np.int32)


def draw_unclicked(
    clicks: Csr, queries: Ints, clicked: Ints, count: int, candidates: Ints, random: np.random.Generator
) -> Ints:
    """For each clicked pair `count` of the candidates that the query has not clicked, with replacement."""
    drawn = random.choice(candidates, (len(queries), count))
    asked = np.repeat(queries, count).reshape(drawn.shape)
    wrong = _is_clicked(clicks, asked, drawn)
    for _ in range(_REDRAWS):
        if not wrong.any():
            return drawn
        drawn[wrong] = random.choice(candidates, int(wrong.sum()))
        wrong[wrong] = _is_clicked(clicks, asked[wrong], drawn[wrong])
    return np.where(wrong, clicked[:, None], drawn)


def sampled_preferences(
    clicks: Csr, queries: Ints, clicked: Ints, count: int, candidates: Ints, random: np.random.Generator
) -> Preferences:
    """Every clicked pair over `count` documents that the query has not clicked."""
    drawn = draw_unclicked(clicks, queries, clicked, count, candidates, random)
    return Preferences(np.repeat(queries, count), np.repeat(clicked, count), drawn.ravel())


def skip_preferences(skips: Skips) -> Preferences:
    """Joachims' rule: a clicked document over one that stood above it and was passed over."""
    queries = np.repeat(np.arange(len(skips.indptr) - 1, dtype=np.int32), np.diff(skips.indptr))
    return Preferences(queries, np.asarray(skips.clicked), np.asarray(skips.skipped))


def among(preferences: Preferences, queries: Ints, docs: Ints) -> Preferences:
    """Those whose query and better document are one of the pairs."""
    width = np.int64(max(docs.max(initial=0), preferences.better.max(initial=0))) + 1
    chosen = np.isin(preferences.queries * width + preferences.better, queries * width + docs)
    return Preferences(*(column[chosen] for column in preferences))


def joined(*parts: Preferences) -> Preferences:
    """One after the other."""
    return Preferences(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def hold_out(pairs: int, share: float, random: np.random.Generator) -> NDArray[np.bool_]:
    """Which of the pairs are held out: a share of them, more where that is too few, none of very few."""
    held = np.zeros(pairs, np.bool_)
    if pairs >= _FEWEST and share > 0:
        count = max(round(share * pairs), min(_ENOUGH, round(_MOST_SPARED * pairs)))
        held[random.choice(pairs, count, replace=False)] = True
    return held


def _is_clicked(clicks: Csr, queries: Ints, docs: Ints) -> NDArray[np.bool_]:
    width = np.int64(clicks.columns)
    keys = np.repeat(np.arange(clicks.rows), clicks.row_nnz()) * width + clicks.indices
    asked = queries * width + docs
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return keys[place] == asked
