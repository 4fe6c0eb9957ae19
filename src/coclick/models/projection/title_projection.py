"""`TitleProjection`: what the projections of paper 001 have in common (§4, §5.3).

Queries and titles over one vocabulary of whole words, one map for both sides, and cosines of the images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coclick.models.projection._base import ProjectionModel
from coclick.models.spec import Range


@dataclass
class TitleProjection(ProjectionModel):
    """A model that projects the words of queries and titles alike."""

    needs = ("texts",)
    cosine = True

    fields: str = "title"
    stem: bool = False
    stop_words: bool = False
    vocabulary: Annotated[int, Range(1)] = 40_000  # of the commonest words
