"""LETOR text: round trip, files of other tools, and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.ltr.letor import Letor, parse_letor, read_letor

WORD = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1)
NUMBERS = st.floats(width=32)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    rows = sum(sizes)
    numbers = draw(st.lists(NUMBERS, min_size=rows * width, max_size=rows * width))
    return Letor(
        [draw(WORD) for _ in range(width)],
        np.array(numbers, np.float32).reshape(rows, width),
        np.array(draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows)), np.int32),
        np.array(sizes, np.int32),
        [draw(WORD) for _ in sizes],
        [draw(WORD) for _ in range(rows)],
    )


@given(tables())
def test_round_trip(table):
    again = parse_letor(table.lines())
    np.testing.assert_array_equal(again.features, table.features)
    assert again.features.tobytes() == table.features.tobytes() or np.isnan(table.features).any()
    for name in ("grades", "sizes"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()
    assert (again.names, again.queries, again.docs) == (table.names, table.queries, table.docs)


def test_lines_by_hand():
    table = Letor(
        ["bm25 score", "clicks"],
        np.array([[0.5, 0.1], [1e-20, np.nan]], np.float32),
        np.array([2, 0], np.int32),
        np.array([1, 1], np.int32),
        ["ny hotel", "flu"],
        ["d 1", "d2"],
    )
    assert list(table.lines()) == [
        "# feature 1: bm25 score",
        "# feature 2: clicks",
        "2 qid:1 1:0.5 2:0.1 # d 1\tny hotel",
        "0 qid:2 1:1e-20 2:NaN # d2\tflu",
    ]


def test_file_of_another_tool(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("4 qid:3 1:9.5 3:1\n\n3\tqid:3\t2:2.0\t# 7555\trambo\n0 qid:a\n")
    table = read_letor(path)
    assert table.features.tolist() == [[9.5, 0, 1], [0, 2, 0], [0, 0, 0]]
    assert table.grades.tolist() == [4, 3, 0]
    assert table.sizes.tolist() == [2, 1]
    assert table.docs == ["", "7555", ""]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no feature rows"),
        ("2 1:0.5", "no qid"),
        ("x qid:1 1:0.5", "line 1"),
        ("2 qid:1 0:0.5", "from 1 to 100,000"),
        ("2 qid:1 100001:0.5", "from 1 to 100,000"),
        ("1e308 qid:1 1:0.5", "the grade 1e308 is too large"),
        ("2 qid:1 1:1 1:2", "twice"),
        ("1 qid:1\n1 qid:2\n1 qid:1", "together"),
    ],
)
def test_errors_name_the_line(tmp_path, text, what):
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=what):
        read_letor(path)
