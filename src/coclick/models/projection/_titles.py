"""`TitleProjection`: base of the projections of Gao et al. 2011, of queries and titles with one map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coclick.models.projection._base import ProjectionModel
from coclick.models.spec import Range


@dataclass
class TitleProjection(ProjectionModel):
    """Base class of the projections of Gao et al. 2011 (§4, §5.3).

    Queries and titles have one vocabulary of unstemmed words and one map; scores are cosines.
    """

    requires = ("texts",)
    cosine = True

    fields: str = "title"
    stem: bool = False
    remove_stop_words: bool = False
    max_vocabulary: Annotated[int, Range(1)] = 40_000  # most frequent words
