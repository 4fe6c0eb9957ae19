"""Training pairs: clicked pairs, negative samples, preferences, and the validation set.

Where all candidates of a query are clicked, no negative can be drawn: the clicked document is then compared
with itself, which has no effect on training.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import SkipPairs
from coclick.solvers.pairwise import Preferences

Ints = NDArray[np.int32]

_MAX_REDRAWS = 20  # of documents that turn out to be clicked
_MIN_PAIRS = 20  # with fewer, none are held out
_MAX_SHARE = 0.1  # of the pairs, where more than the wanted share is held out
MIN_HELD_OUT = 200  # pairs below which the share is raised


class Sampler:
    """The random choices of a training that learns from pairs: it has no other source of randomness.

    A test can record the choices, and train a reference implementation on them.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def hold_out(self, pairs: int, share: float, at_least: int = MIN_HELD_OUT) -> NDArray[np.bool_]:
        """Mark the pairs to hold out: a share of them, more if that is too few, none of very few pairs."""
        held = np.zeros(pairs, np.bool_)
        if pairs >= _MIN_PAIRS and share > 0:
            count = max(round(share * pairs), min(at_least, round(_MAX_SHARE * pairs)))
            held[self._random.choice(pairs, count, replace=False)] = True
        return held

    def draw_unclicked(self, clicks: Csr, queries: Ints, clicked: Ints, count: int, candidates: Ints) -> Ints:
        """Draw, for each clicked pair, `count` candidates without a click for the query, with replacement."""
        drawn = self._random.choice(candidates, (len(queries), count))
        asked = np.repeat(queries, count).reshape(drawn.shape)
        wrong = _is_clicked(clicks, asked, drawn)
        for _ in range(_MAX_REDRAWS):
            if not wrong.any():
                return drawn
            drawn[wrong] = self._random.choice(candidates, int(wrong.sum()))
            wrong[wrong] = _is_clicked(clicks, asked[wrong], drawn[wrong])
        return np.where(wrong, clicked[:, None], drawn)

    def prefer(self, clicks: Csr, queries: Ints, clicked: Ints, count: int, candidates: Ints) -> Preferences:
        """Prefer each clicked document to `count` drawn documents without a click for the query."""
        drawn = self.draw_unclicked(clicks, queries, clicked, count, candidates)
        return Preferences(np.repeat(queries, count), np.repeat(clicked, count), drawn.ravel())

    def order(self, count: int) -> NDArray[np.int64]:
        """Return the order of so many steps."""
        return self._random.permutation(count)

    def normal(self, rows: int, columns: int) -> NDArray[np.float32]:
        """Return initial values, with a standard deviation of 1."""
        return self._random.standard_normal((rows, columns), np.float32)


def pairs_with_features(clicks: Csr, queries: Csr, docs: Csr) -> tuple[Ints, Ints]:
    """Return the queries and documents of clicked pairs where both have features, by query."""
    for side, rows in (("queries", queries), ("documents", docs)):
        if not np.isfinite(rows.data).all():
            raise UserError(f"some features of {side} are not finite numbers")
    asked = np.repeat(np.arange(clicks.rows, dtype=np.int32), clicks.row_nnz())
    known = (queries.row_nnz() > 0)[asked] & (docs.row_nnz() > 0)[clicks.indices]
    if not known.any():
        raise UserError(
            "no clicked pair has features for both query and document: there is nothing to learn from",
            hint="check that clicked documents have texts in the chosen fields (fields=)",
        )
    return asked[known], clicks.indices[known]


def nonempty_rows(rows: Csr) -> Ints:
    """Return the rows that are not empty."""
    return np.flatnonzero(rows.row_nnz()).astype(np.int32)


def skip_preferences(skips: SkipPairs) -> Preferences:
    """Prefer clicked documents to skipped documents above them (Joachims 2002)."""
    queries = np.repeat(np.arange(len(skips.indptr) - 1, dtype=np.int32), np.diff(skips.indptr))
    return Preferences(queries, np.asarray(skips.clicked), np.asarray(skips.skipped))


def restrict_to_pairs(preferences: Preferences, queries: Ints, docs: Ints) -> Preferences:
    """Keep the preferences whose query and better document are among the given pairs."""
    width = np.int64(max(docs.max(initial=0), preferences.better.max(initial=0))) + 1
    chosen = np.isin(preferences.queries * width + preferences.better, queries * width + docs)
    return Preferences(*(column[chosen] for column in preferences))


def concatenate_preferences(*parts: Preferences) -> Preferences:
    """Concatenate preferences."""
    return Preferences(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _is_clicked(clicks: Csr, queries: Ints, docs: Ints) -> NDArray[np.bool_]:
    width = np.int64(clicks.columns)
    keys = np.repeat(np.arange(clicks.rows), clicks.row_nnz()) * width + clicks.indices
    asked = queries * width + docs
    position = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return keys[position] == asked
