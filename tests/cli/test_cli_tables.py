"""Tables and labelled lines in terminals of any width: nothing is cut off, no word is broken needlessly."""

import json
import re

import pytest

from coclick.cli import render_check, render_comparison, render_export, terminal
from coclick.cli.terminal import Bar, print_labelled, print_table

COLUMNS = ["model", "nDCG@10", "95 %", "", "difference to best", ""]
ROWS = [
    ["backoff(neighbours + vpcg)", 0.7038, "0.679–0.730", "", "", Bar(0.7, 0.7)],
    ["bm25", 0.6008, "0.572–0.629", "*", "not significant (240–615–32)", Bar(0.6, 0.7)],
]


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a function prints in a terminal of some width, as lines without blanks at their ends."""

    def lines(width, function, *arguments):
        terminal.console.cache_clear()
        monkeypatch.setattr(terminal, "_PIPE_WIDTH", width)
        function(*arguments)
        terminal.console.cache_clear()
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return lines


def test_a_table_that_fits_has_a_line_for_each_row_and_bars(printed):
    lines = printed(120, print_table, "title", COLUMNS, ROWS)
    assert len(lines) == 4 and "█" * terminal.BAR in lines[2]
    assert lines[3].split()[:4] == ["bm25", "0.6008", "0.572–0.629", "*"]


@pytest.mark.parametrize("width", [78, 90])
def test_a_narrow_table_is_wrapped_between_words_and_has_no_bars(printed, width):
    lines = printed(width, print_table, "", COLUMNS, ROWS)
    shown = " ".join(lines)
    assert max(map(len, lines)) <= width and "█" not in shown
    for word in ("nDCG@10", "0.7038", "0.679–0.730", "backoff(neighbours", "significant", "(240–615–32)"):
        assert word in shown


def test_a_table_that_is_too_wide_becomes_blocks(printed):
    assert printed(44, print_table, "", COLUMNS, ROWS) == [
        "backoff(neighbours + vpcg)",
        "  nDCG@10  0.7038",
        "  95 %     0.679–0.730",
        "bm25",
        "  nDCG@10             0.6008",
        "  95 %                0.572–0.629 *",
        "  difference to best  not significant",
        "                      (240–615–32)",
    ]


def test_words_longer_than_the_terminal_are_broken_but_complete(printed):
    lines = printed(40, print_table, "", ["id", "n"], [["x" * 100, 1]])
    assert "".join(lines).count("x") == 100 and max(map(len, lines)) <= 40


def test_titles_are_wrapped_and_not_cut_off(printed):
    title = "850 queries (time), 393 queries (documents); judged by held-out clicks; 442 documents"
    lines = printed(40, print_table, title, ["a"], [["b"]])
    assert " ".join(lines[:-2]) == title


def test_texts_are_wrapped_beside_their_labels(printed):
    lines = printed(
        30, print_labelled, [("lost", "texts of 5 documents"), ("merged spellings", "two and three")]
    )
    assert lines == [
        "lost             texts of 5",
        "                 documents",
        "merged spellings two and three",
    ]  # fmt: skip


def test_columns_that_no_model_has_are_left_out(printed, run, graph, tmp_path):
    out = tmp_path / "stats.json"
    assert run("compare", graph, "--holdout", "queries:0.3", "--only", "bm25", "--json", out).code == 0
    stats = json.loads(out.read_text())
    stats["splits"].append({**stats["splits"][0], "name": "unjudged", "models": 0})
    heading = printed(110, render_comparison.comparison, stats, None)[1]
    assert heading.split()[:2] == ["model", stats["splits"][0]["name"]] and "unjudged" not in heading


@pytest.mark.parametrize(
    ("count", "line"), [(1, "1 document without a vector"), (2, "2 documents without a vector")]
)
def test_one_document_that_is_left_out(count, line):
    stats = {"left_out": {"documents without a vector": count}}
    assert render_export._left_out(stats) == [["left out", line]]


def test_check_names_what_it_counted(printed, run, tmp_path):
    from coclick import check

    (tmp_path / "log.tsv").write_text("query\tdoc\tclicks\na\td\t1\nA\td\t2\n")
    lines = printed(100, render_check.check_report, check([tmp_path / "log.tsv"]))
    found = [re.match(r"(format|rows|right|merged spellings) +", line) for line in lines]
    assert len(ends := [match.end() for match in found if match]) == 4
    assert len(set(ends)) == 1, "values are aligned"
