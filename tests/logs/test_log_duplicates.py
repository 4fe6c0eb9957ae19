"""Events that were delivered twice count once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.logs import build
from coclick.logs.report import build_report
from logs.test_log_like import edges

HEAD = "event_id,query,doc,user,timestamp\n"


def write(path, rows, head=HEAD):
    path.write_text(head + "".join(f"{row}\n" for row in rows))
    return path


def test_an_id_counts_once(tmp_path):
    rows = ["1,hat,A,u1,2024-01-01T10:00", "2,hat,A,u1,2024-01-01T10:00", "1,hat,A,u1,2024-01-01T10:00"]
    graph = build([write(tmp_path / "log.csv", rows)], None, tmp_path / "graph")
    assert edges(graph) == {("hat", "A"): 2}
    assert graph.stats["duplicates"] == {"by_id": 1, "exact": 0, "dropped": 0}
    assert graph.stats["rows"] == graph.stats["right"] == 3
    assert "1 event with the id of another one, counted once" in build_report(graph.stats).notes


def test_rows_without_an_id_are_kept(tmp_path):
    rows = [",hat,A,u1,2024-01-01T10:00"] * 2 + ["1,hat,A,u1,2024-01-01T10:00"] * 2
    graph = build([write(tmp_path / "log.csv", rows)], None, tmp_path / "graph")
    assert edges(graph) == {("hat", "A"): 3}


def test_a_column_that_is_not_an_id(tmp_path):
    rows = [f"{i % 2},hat,A,u{i},2024-01-01T10:00" for i in range(10)]
    graph = build([write(tmp_path / "log.csv", rows)], None, tmp_path / "graph")
    assert edges(graph) == {("hat", "A"): 10}
    assert build_report(graph.stats).notes[0].startswith("event_id has 2 values in 10 rows")


def test_equal_rows_are_counted_and_dropped_on_request(tmp_path):
    head = HEAD.removeprefix("event_id,")
    rows = ["hat,A,u1,2024-01-01T10:00"] * 3 + ["hat,A,u1,2024-01-01T10:01", "hat,A,u2,2024-01-01T10:00"]
    log = write(tmp_path / "log.csv", rows, head)
    counted = build([log], None, tmp_path / "graph")
    assert edges(counted) == {("hat", "A"): 5}
    assert counted.stats["duplicates"] == {"by_id": 0, "exact": 2, "dropped": 0}
    dropped = build([log], None, tmp_path / "dropped", duplicates="drop")
    assert edges(dropped) == {("hat", "A"): 3}
    assert dropped.stats["duplicates"] == {"by_id": 0, "exact": 2, "dropped": 2}
    with pytest.raises(UserError, match="count or drop"):
        build([log], None, tmp_path / "x", duplicates="twice")  # type: ignore[arg-type]


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_delivering_some_rows_again_changes_nothing(tmp_path_factory, data):
    tmp_path = tmp_path_factory.mktemp("log")
    rows = [f"{i},q{i % 5},d{i % 7},u{i % 3},2024-01-01T10:{i:02}" for i in range(20)]
    again = data.draw(st.lists(st.sampled_from(rows), max_size=20))
    mixed = data.draw(st.permutations([*rows, *again]))
    once = build([write(tmp_path / "once.csv", rows)], None, tmp_path / "once")
    twice = build([write(tmp_path / "twice.csv", mixed)], None, tmp_path / "twice")
    assert edges(once) == edges(twice)
    assert twice.stats["duplicates"]["by_id"] == len(again)
