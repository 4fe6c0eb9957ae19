"""`cl_lsa`: cross-lingual latent semantic analysis of clicked pairs (paper 001 §4.1; Dumais et al. 1997).

Like `lsa`, but a text is a query together with the title of a document that was clicked for it,

    P = (q + d for each clicked pair, weighted)        A = leading right singular vectors of P

with both sides over one vocabulary, so that words which meet across clicks meet in the space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coclick.arrays.csr import Csr, hstack, vstack
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import TitleProjection
from coclick.models.projection.click_evidence import Weight, weigh
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class CLLSA(TitleProjection):
    """Texts by the leading singular vectors of queries joined with the titles clicked for them."""

    name = "cl_lsa"
    summary = "texts in a space learned from queries joined with clicked titles"

    weight: Weight = "log1p"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of the sums of the two rows of each pair, which are a product of two matrices."""
        queries, docs = self.featurise(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        edges = self.edge_weights(graph)
        pairs = _one_row_a_pair(edges)
        found = truncated_svd([pairs, vstack(queries, docs)], self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        both = DenseMap.of([found.right])
        self.build_embeddings(both, both, progress)

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """As the parameter says."""
        return weigh(graph.clicks, self.weight)


def _one_row_a_pair(edges: Csr) -> Csr:
    """For each pair a row with the root of its weight at its query and at its document.

    The second moment of the pairs, which the singular vectors belong to, then has each pair by its weight.
    """
    roots, one_each = np.sqrt(edges.data), np.arange(edges.nnz + 1)
    query_of = np.repeat(np.arange(edges.rows, dtype=np.int32), edges.row_nnz())
    return hstack(
        Csr(one_each, query_of, roots, edges.rows), Csr(one_each, edges.indices, roots, edges.columns)
    )
