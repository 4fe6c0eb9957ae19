"""Compiled code of the features: the highest scores of each part, and the ranks of documents among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
_TINY = np.float32(1e-30)


@jit
def find_best(scores: Floats, searched: Mask, finding: Mask, best: Floats, candidates: Mask) -> None:
    """Find the highest scores above 0 of each searched part: of equal ones, those of lower rows.

    `best` gets them in descending order, filled up with zeros. `candidates` marks the documents of the parts
    in `finding`.
    """
    n_docs, depth = scores.shape[1], best.shape[1]
    above = np.empty(n_docs, np.float32)
    for part in range(len(scores)):
        if not searched[part]:
            continue
        size = 0
        for doc in range(n_docs):
            if scores[part, doc] > 0:
                above[size] = scores[part, doc]
                size += 1
        lowest, ties = np.float32(0), n_docs
        if size > depth:
            lowest = np.partition(above[:size], size - depth)[size - depth]
            ties = depth
            for i in range(size):
                if above[i] > lowest:
                    ties -= 1
        kept = 0
        for doc in range(n_docs):
            score = scores[part, doc]
            if score > 0 and score >= lowest:
                if score == lowest:
                    if ties == 0:
                        continue
                    ties -= 1
                best[part, kept] = score
                kept += 1
                if finding[part]:
                    candidates[doc] = True
        best[part, :kept] = np.sort(best[part, :kept])[::-1]


@jit
def describe(scores: Floats, best: Floats, features: Floats) -> None:
    """Write score, score divided by the highest, and 1 / rank of each document, part after part.

    The rank is that among the best scores, which descend and are filled up with zeros; lower scores have
    rank infinity. Equal scores share a rank.
    """
    depth = best.shape[1]
    for part in range(len(scores)):
        highest = max(best[part, 0], _TINY) if depth else _TINY
        for doc in range(scores.shape[1]):
            score = scores[part, doc]
            features[doc, 3 * part] = score
            features[doc, 3 * part + 1] = score / highest
            features[doc, 3 * part + 2] = 0
            if depth and score > 0 and score >= best[part, depth - 1]:
                low, high = 0, depth
                while low < high:
                    middle = (low + high) >> 1
                    if best[part, middle] > score:
                        low = middle + 1
                    else:
                        high = middle
                features[doc, 3 * part + 2] = 1 / (1 + low)
