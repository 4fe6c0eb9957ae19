"""`TunedHybrid`: what exports into an index share whose hybrid queries mix the engine's BM25 with vectors."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from coclick.exporters.base import Exporter
from coclick.exporters.existing_index import ExistingIndex
from coclick.exporters.hybrid_weights import LUCENE, HybridWeight, TextScores, Way, tune_hybrid

_WHEN = """reads only the order of both lists, so it has no weights: take it where there are too few clicks to
tune one, or where you will change the boosts of your text query."""


class TunedHybrid(Exporter):
    """Tunes the weight of vectors, and says how."""

    mixes: ClassVar[Way] = "added"  # how hybrid queries mix both scores
    text_scores: ClassVar[TextScores] = LUCENE
    existing: ExistingIndex

    @cached_property
    def tuned(self) -> HybridWeight | str:
        """The weight of vectors in hybrid queries, or why it is not tuned."""
        return tune_hybrid(self.source.model, self.existing.text_fields, self.mixes, self.text_scores)

    @property
    def boost(self) -> float:
        """The factor of the vectors' score where both scores are added."""
        return self.tuned.weight if isinstance(self.tuned, HybridWeight) else 1.0

    def tuning_note(self) -> str:
        """Say how the weight was tuned."""
        if isinstance(self.tuned, HybridWeight):
            return self.tuned.sentence()
        return f"It was not tuned: {self.tuned}. Try others on your queries."

    def rrf_note(self) -> str:
        """Say when to use reciprocal rank fusion, and what it gives on the held-out clicks."""
        measured = f" {self.tuned.rrf_sentence()}" if isinstance(self.tuned, HybridWeight) else ""
        return f"Reciprocal rank fusion {_WHEN}{measured}"
