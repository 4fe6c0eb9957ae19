"""Jobs on a small log: generated vectors by group of queries, and timings."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coclick.evaluation.unit_vectors import compare_units
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import threads
from reproduce.jobs import HELD_OUT, Job, JobResult, linked_queries
from reproduce.measure import measure
from reproduce.paper import Paper, Threads, UnseenVectors
from reproduce.systems import NotMeasured

SPEC = "vpcg(preset=paper)"
ROWS = ("BOW", "Unigram+equal", "Unit+equal", "VG")
ORDER = "VG > BOW"


@pytest.fixture(scope="module")
def graph():
    """Sixty queries of two words; every third has a document of its own, the others share ten."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(12)]
    clicks = [
        (" ".join(rng.choice(words, 2, replace=False)), f"own{i}" if i % 3 == 0 else f"shared{i % 10}", 5.0)
        for i in range(60)
    ]
    return ClickGraph.from_clicks([*clicks, *((word, f"page {word}", 3.0) for word in words[:4])])


@pytest.fixture
def log(graph, tmp_path):
    found: Any = SimpleNamespace(directory=tmp_path, settings={}, graph=lambda: graph)
    return found


def exhibit(queries="all"):
    values = dict.fromkeys(ROWS, 0.5)
    return UnseenVectors("Table 5", "web-unseen", SPEC, values, (ORDER,), queries)


def systems(log, made=()):
    paper = Paper("test", "Doe 2020", "", "", "t", 0.05, "best", dict(made), ())
    found: Any = SimpleNamespace(paper=paper, log=log)
    return found


def test_linked_queries_share_a_document_with_a_query_that_stays(graph):
    held = graph.split("queries", HELD_OUT, 0).held_out
    rows = [row for row in range(held.rows) if held.row_nnz()[row]]
    staying = {
        doc for row in range(held.rows) if row not in rows for doc in graph.clicks.row(row)[0].tolist()
    }
    expected = [bool(staying & {*held.row(row)[0].tolist()}) for row in rows]
    assert 0 < sum(expected) < len(expected)
    assert linked_queries(graph, HELD_OUT).tolist() == expected


def test_groups_of_held_out_queries(log, graph, monkeypatch):
    monkeypatch.setattr("reproduce.measure.MIN_QUERIES", 1)
    job = Job(SPEC, units=True)
    job.run(log)
    expected = dict(zip(ROWS, compare_units(graph, SPEC)[1:], strict=True))
    every = measure(exhibit(), systems(log))
    for row in ROWS:
        for name in ("cosine", "nDCG@10", "coverage"):
            assert every["rows"][row][name] == pytest.approx(expected[row][name], abs=1e-4)
    arrays = JobResult.read(job, log).arrays
    linked, covered = arrays["linked"], arrays["covered"][1:].all(axis=0)
    for queries, chosen in (("linked", linked), ("covered", covered), ("covered+linked", linked & covered)):
        if not chosen.any():
            with pytest.raises(NotMeasured, match="only 0 held-out queries"):
                measure(exhibit(queries), systems(log))
            continue
        found = measure(exhibit(queries), systems(log))
        assert found["queries"] == chosen.sum() < every["queries"]
        assert found["rows"]["BOW"]["cosine"] == pytest.approx(arrays["cosine"][1][chosen].mean())
        if "covered" in queries:
            assert found["rows"]["Unigram+equal"]["coverage"] == 1


def test_training_is_timed_with_each_number_of_threads(log, monkeypatch):
    used = []

    def fit(graph):
        used.append(threads())

    monkeypatch.setattr("reproduce.jobs.create", lambda spec: SimpleNamespace(fit=fit))
    usual = threads()
    figure = Threads("Figure 2", "web-week", "RMLS", (1, 2), {1: 1380, 20: 277})
    made = {"RMLS": "rmls(dim=4)"}
    Job("rmls(dim=4)", timed=(1, 2)).run(log)
    assert used == [1, 2] * 3
    assert threads() == usual
    found = measure(figure, systems(log, made))
    assert {count: len(seconds) for count, seconds in found["timings"].items()} == {"1": 3, "2": 3}
