"""`plsa`: probabilistic latent semantic analysis of titles (Hofmann 1999; paper 001 §2.2, §5.2).

Topics are learned from the titles of all documents alone, and bring forth the words of queries as they do
those of titles (Eq. 2). Clicks have no part in it: it is what `bltm` is to be compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import register
from coclick.models.likelihood._base import Counts
from coclick.models.likelihood._topics import TopicModel
from coclick.solvers.em import Corpus


@register
@dataclass
class PLSA(TopicModel):
    """Topics of titles."""

    name = "plsa"
    summary = "queries from titles through topics of titles alone"

    def corpus(self, graph: ClickGraph, counts: Counts) -> Corpus:
        """Every document with a title, once."""
        held = np.flatnonzero(counts.docs.lengths()).astype(np.int32)
        if not len(held):
            raise UserError(f"no document has a text in {self.fields!r}", hint="name another field")
        nobody = np.empty(0, np.int32)
        return Corpus(None, counts.docs, nobody, held, np.ones(len(held), np.float32))
