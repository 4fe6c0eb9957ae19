"""Large-margin training of bilinear maps on preferences, in batches.

A preference says that document b is better than document w for query q. With features x of queries and y of
documents and the maps L, R, the score is f(q, d) = (x_q L)·(y_d R), and the loss of a preference is

    max(0, margin − f(q, b) + f(q, w))

For a batch of preferences, with both embeddings from the maps before the batch, every violated one takes a
step along its gradient:

    L += rate · x_q ⊗ (y_b − y_w) R        R += rate · (y_b − y_w) ⊗ x_q L
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.kernels.products import times_dense
from coclick.solvers.pairwise import Preferences

Floats = NDArray[np.float32]

BATCH = 256


def large_margin_epoch(
    queries: Csr,
    docs: Csr,
    preferences: Preferences,
    order: NDArray[np.int64],
    maps: tuple[Floats, Floats],
    rate: float,
    margin: float,
) -> float:
    """Take one step for each preference, batch by batch in the given order; return the mean loss.

    The maps are changed in place. The loss of a preference is that before its batch.
    """
    total = 0.0
    for first in range(0, len(order), BATCH):
        asked, better, worse = (column[order[first : first + BATCH]] for column in preferences)
        x, x_columns = _compact(queries.take(asked))
        b, b_columns = _compact(docs.take(better))
        w, w_columns = _compact(docs.take(worse))
        left, right = maps
        embedded = times_dense(x, left[x_columns])
        difference = times_dense(b, right[b_columns]) - times_dense(w, right[w_columns])
        loss = margin - np.einsum("ij,ij->i", embedded, difference, dtype=np.float64)
        total += float(np.maximum(loss, 0).sum())
        violated = np.float32(rate) * (loss > 0).astype(np.float32)[:, None]
        left[x_columns] += times_dense(x.transpose(), violated * difference)
        right[b_columns] += times_dense(b.transpose(), violated * embedded)
        right[w_columns] -= times_dense(w.transpose(), violated * embedded)
    return total / max(len(order), 1)


def _compact(rows: Csr) -> tuple[Csr, NDArray[np.int32]]:
    """Return rows over only the columns that they have, and these columns."""
    columns = np.unique(rows.indices)
    return rows.only_columns(columns), columns
