"""Dwell time as weight: long clicks count with another weight; expected counts by hand."""

import pytest

from coclick.errors import UserError
from coclick.logs import build
from coclick.logs.schema import weighted_actions

HEADER = "query\tdoc\taction\tuser\ttimestamp\tdwell"
ROWS = [
    "shoe\tA\tclick\tann\t2024-01-01T10:00:00\t45",
    "shoe\tA\tclick\tbob\t2024-01-01T10:00:00\t30",  # not above 30
    "shoe\tB\tclick\tcat\t2024-01-01T10:00:00\t",  # unknown
    "shoe\tC\tclick\tdan\t2024-01-01T10:00:00\t200.5",
    "shoe\tD\tcart\tdan\t2024-01-01T10:09:00\t999",  # not a click
    "shoe\tC\timpression\teve\t2024-01-01T10:00:00\t99",
]


def clicks(place, rows=ROWS, header=HEADER, **options):
    log = place / "log.tsv"
    log.write_text("\n".join([header, *rows]))
    graph = build([log], None, place / "graph", force=True, **options)
    docs, values = graph.clicks.row(0)
    return {graph.docs[doc]: value for doc, value in zip(docs.tolist(), values.tolist(), strict=True)}, graph


def test_a_long_click_counts_with_its_weight_instead(tmp_path):
    found, graph = clicks(tmp_path, actions={"click": 1, "cart": 7, "dwell>30s": 3})
    assert found == {"A": 4, "B": 1, "C": 3, "D": 7}
    assert graph.stats["actions"] == {"cart": 7, "click": 1, "dwell>30s": 3}
    assert sum(graph.pairs.navigational.tolist()) == 4, "the only click of each session, long or not"
    assert sum(graph.daily.clicks.tolist()) == 15


def test_the_highest_threshold_wins(tmp_path):
    actions = {"click": 0.5, "dwell > 30": 2, "dwell>3m": 5, "Dwell>20000ms": 1}
    assert clicks(tmp_path, actions=actions)[0] == {"A": 2 + 1, "B": 0.5, "C": 5}


def test_in_a_log_without_actions_every_row_is_a_click(tmp_path):
    rows = ["shoe\tA\tann\t31", "shoe\tB\tann\t5"]
    found = clicks(tmp_path, rows, "query\tdoc\tuser\tdwell", actions={"click": 1, "dwell>30s": 3})[0]
    assert found == {"A": 3, "B": 1}


def test_it_applies_to_all_actions_if_none_is_a_click(tmp_path):
    rows = [row.replace("click", "opened") for row in ROWS]
    assert clicks(tmp_path, rows, actions={"opened": 1, "dwell>1m": 2})[0] == {"A": 2, "B": 1, "C": 2}


@pytest.mark.parametrize(
    ("actions", "what"),
    [
        ({"click": 1, "dwell>": 3}, "cannot read 'dwell>'"),
        ({"click": 1, "dwell>=30s": 3}, "cannot read 'dwell>=30s'"),
        ({"click": 1, "dwell<30s": 3}, "cannot read 'dwell<30s'"),
        ({"click": 1, "dwell>30h": 3}, "cannot read 'dwell>30h'"),
        ({"dwell>30s": 3}, "no action counts as a click"),
        ({"click": 1, "dwell>30s": 0}, "the weight of the action 'dwell>30s' must be a positive number"),
    ],
)
def test_mistakes(actions, what):
    with pytest.raises(UserError, match=what):
        weighted_actions(actions)


def test_a_log_without_dwell_says_so(tmp_path):
    rows = [row.rpartition("\t")[0] for row in ROWS]
    with pytest.raises(UserError, match="'dwell>30s' needs a log of events with a column for the dwell time"):
        clicks(tmp_path, rows, HEADER.rpartition("\t")[0], actions={"click": 1, "dwell>30s": 3})
