"""`bltm`: the bilingual topic model (paper 001 §3.1), its regularised forms, and `plsa`.

A query and the title of a document that was clicked for it share a mixture θ of topics, but say them in two
languages: each topic z has a distribution φ^q_z of words in queries and another, φ^d_z, of words in titles.
All are found by expectation maximisation with Dirichlet priors α and β (Eq. 3–8: `coclick.solvers.em`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.likelihood._base import Counts
from coclick.models.likelihood._topics import TopicModel
from coclick.models.registry import register
from coclick.solvers.em import Corpus


@register
@dataclass
class BLTM(TopicModel):
    """Topics shared by queries and the titles clicked for them."""

    name = "bltm"
    summary = "queries from titles through topics that both share, each in its own words"


@register
@dataclass
class PLSA(TopicModel):
    """Probabilistic latent semantic analysis of titles (Hofmann 1999; paper 001 §2.2, §5.2).

    Topics are learned from the titles of all documents alone and generate the words of queries as they do
    those of titles (Eq. 2). It uses no clicks: it is the baseline for `bltm`.
    """

    name = "plsa"
    summary = "queries from titles through topics of titles alone"

    def corpus(self, graph: ClickGraph, counts: Counts) -> Corpus:
        """Every document with a title, once."""
        held = np.flatnonzero(counts.docs.row_nnz()).astype(np.int32)
        if not len(held):
            raise UserError(f"no document has a text in {self.fields!r}", hint="name another field")
        nobody = np.empty(0, np.int32)
        return Corpus(None, counts.docs, nobody, held, np.ones(len(held), np.float32))


@register
@dataclass
class BLTMPR(TopicModel):
    """The bilingual topic model with posterior regularisation (paper 001 §3.2, App. A).

    Like `bltm`, but in every clicked pair the query and the title must have the same expected fraction of
    their words in each topic: after each E-step the posteriors are projected onto the nearest ones that do.
    Without it the longer text alone decides the topics of the pair.
    """

    name = "bltm_pr"
    summary = "bltm in which a query and its title must agree on their topics"
    max_docs = 500_000

    iterations: int = 16

    def options(self) -> dict[str, Any]:
        """Regularised."""
        return {"regularise": True}


@register
@dataclass
class BLTMPR1V(TopicModel):
    """`bltm_pr` over a merged vocabulary (paper 001 §5.2): one word distribution per topic for both sides."""

    name = "bltm_pr_1v"
    summary = "bltm_pr in which queries and titles share their words"
    max_docs = 500_000

    iterations: int = 16

    def options(self) -> dict[str, Any]:
        """Regularised, with one distribution a topic."""
        return {"regularise": True, "shared": True}
