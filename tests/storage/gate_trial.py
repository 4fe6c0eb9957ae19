"""Damage every array of every stored type, and run everything that reads it.

PYTHONPATH=src:tests python tests/storage/gate_trial.py STRIDE [NAME…]

Prints one JSON object: the number of cases, and what was wrong by artefact and case. A stride of 1 runs all
cases, which takes about half an hour; of 20, every twentieth.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import coclick
import planted
from coclick import ClickGraph, Suggestions, model_names
from coclick.graph.search_tables import FollowUps, SearchStats
from coclick.jit.threads import set_threads
from storage.consumers import outcomes, run_cases
from storage.damage import Damaged

# Small ones of what is large by default, and forms with state that the default does not have.
SPECS = {
    "lsi_qd": "lsi_qd(dim=5)",
    "mix": "0.8*clicks + 0.2*bm25",
    "backoff": "backoff(clicks + vpcg(start=doc) + 0.5*bm25)",
    "ltr": "ltr(parts=bm25 + vpcg + clicks + popularity,n_trees=5)",
    "rmls": "rmls(iterations=2)",
    "ssi": "ssi(dim=5)",
    "svdfeature": "svdfeature(dim=5)",
    "learned mix": "clicks + bm25",
    "views": "mpls(dim=10,views=title+chars+clicks+tags)",
    "ids": "pls(dim=5,views=ids)",
    "approximate": "pls(dim=10,index=approximate)",
}


def full_graph() -> ClickGraph:
    """The planted graph with every table that a graph can have."""
    graph = planted.graph()
    queries, docs = graph.queries.to_list(), graph.docs.to_list()
    tags = [scipy.sparse.csr_array(np.eye(len(ids), 4, k=-1) + 0.5) for ids in (queries, docs)]
    graph = graph.with_view("tags", (queries, tags[0]), (docs, tags[1]), doc_features=list("abcd"))
    pointers = np.arange(len(queries) + 1)
    ones = np.ones(len(queries), np.int32)
    after = ((pointers[:-1] + 1) % len(queries)).astype(np.int32)
    return replace(
        graph,
        searches=SearchStats(pointers, 5 * ones, ones, 7 * ones, 0 * ones),
        followups=FollowUps(pointers, after, ones, ones),
    )


def build(folder: Path, names: list[str]) -> dict[str, tuple[Path, str]]:
    """Save a graph, suggestions and models; return the path and kind of each by name."""
    graph = full_graph().save(folder / "graph")
    found = {"graph": (folder / "graph", "graph"), "suggestions": (folder / "suggestions", "suggestions")}
    Suggestions.build(graph).save(folder / "suggestions")
    for number, name in enumerate([*model_names(), *(name for name in SPECS if name not in model_names())]):
        if not names or name in names:
            path = folder / f"model-{number}"
            coclick.train(SPECS.get(name, name), graph).save(path)
            found[name] = (path, "model")
    return {name: one for name, one in found.items() if not names or name in names}


def trial(stride: int, names: list[str]) -> dict[str, Any]:
    """Run the cases, and count them."""
    set_threads(1)  # no threads that a fork would lose
    report: dict[str, Any] = {"cases": 0, "wrong": {}, "seconds": {}}
    with tempfile.TemporaryDirectory(prefix="gate-") as folder:
        artefacts = build(Path(folder), names)
        for name, (path, kind) in artefacts.items():
            sound = outcomes(path, kind, exports=stride == 1)  # loads the compiled code for all children
            if wrong := {key: what for key, what in sound.items() if what not in ("answer", "refused")}:
                report["wrong"][name] = {"sound": [f"{key}: {what}" for key, what in wrong.items()]}
        for number, (name, (path, kind)) in enumerate(artefacts.items()):
            started = time.monotonic()
            cases = list(Damaged(path).cases(stride, number))
            report["cases"] += len(cases)
            if found := run_cases(path, kind, cases, exports=stride == 1):
                report["wrong"].setdefault(name, {}).update(found)
            report["seconds"][name] = round(time.monotonic() - started, 1)
            print(name, len(cases), found or "", file=sys.stderr, flush=True)
    return report


if __name__ == "__main__":
    print(json.dumps(trial(int(sys.argv[1]), sys.argv[2:]), indent=1))
