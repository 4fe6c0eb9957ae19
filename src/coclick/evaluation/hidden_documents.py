"""Hide the clicks of some documents: a test of how models rank documents that nobody has clicked yet.

In a thin log most documents have no clicks. Held-out clicks are then misleading: they are all on documents
that have other clicks, so a model wins that ranks no others. Here a fifth of the queries is held out, and of
the clicked documents a part loses all its clicks in training. Held-out clicks are on both kinds of documents.
The rankings are restricted to the documents that have clicks in the log: of the others nobody knows whether
they are relevant.
"""

from __future__ import annotations

import numpy as np

from coclick.arrays.csr import Csr
from coclick.errors import counted
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import hold_out_queries, remove_doc_interactions

QUERIES = 0.2  # share of the queries that is held out


def split_with_hidden_documents(graph: ClickGraph, share: float, seed: int = 0) -> tuple[ClickGraph, Csr]:
    """Return a graph to train on, where a share of the documents has lost its clicks, and held-out clicks."""
    random = np.random.default_rng([seed, 2])  # other numbers than other splits draw
    hidden = random.random(len(graph.docs)) < share
    split = hold_out_queries(graph, random.random(len(graph.queries)) < QUERIES)
    return remove_doc_interactions(split.train, hidden), split.held_out


def restrict_to_clicked(judgments: Judgments, graph: ClickGraph) -> Judgments:
    """Restrict rankings to the documents with clicks in the graph, and note it."""
    rows = np.flatnonzero(graph.clicks_by_doc.row_nnz() > 0)
    note = (
        f"only the {counted(len(rows), 'document')} with clicks are ranked, "
        "and a part of them has no clicks in training"
    )
    names = frozenset(graph.docs[row] for row in rows.tolist())
    return Judgments(judgments.queries, judgments.grades, candidates=names, notes=(note,))
