"""Split the contributions of parts to a score further, by the explanations of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coclick.models.base import Model
from coclick.results import Contribution
from coclick.text.query import Query


def part_contributions(
    parts: Sequence[Model],
    query: Query,
    doc: int,
    clicks: int | None,
    scores: Sequence[NDArray[np.float32]],
    values: Sequence[float],
    labels: Sequence[str],
) -> list[Contribution]:
    """Return the contribution of each part; if the part can explain its score, in the same proportions.

    Parameters: `parts`; `query`, `doc` and `clicks` as of `Model._explain`; for each part, `scores` of the
    document (one of each), what they add to the sum (`values`), and `labels`.
    """
    contributions = []
    for part, [score], value, label in zip(parts, scores, values, labels, strict=True):
        explained = value != 0 and "explain" in part.capabilities
        inner = part._explain(query, doc, clicks).parts if explained else []
        scaled = [_scaled(one, value / float(score)) for one in inner]
        contributions.append(Contribution("model", label, value, parts=scaled))
    return contributions


def _scaled(part: Contribution, factor: float) -> Contribution:
    inner = [_scaled(one, factor) for one in part.parts]
    return replace(part, value=part.value * factor, parts=inner)
