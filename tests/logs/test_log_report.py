"""What a build says it used, ignored and lost."""

import pytest

from coclick.errors import UserError
from coclick.logs import build
from coclick.logs.column_use import looks_like
from coclick.logs.report import build_report


def report_of(tmp_path, text, docs=None, **options):
    log = tmp_path / "log.csv"
    log.write_text(text)
    return log, build_report(build([log], docs, tmp_path / "graph", force=True, **options).stats)


def test_used_ignored_and_missing(tmp_path):
    rows = "".join(f"hat {i},A{i},2024-01-0{i},{i}.50,x{i}@mail.example\n" for i in range(1, 5))
    log, report = report_of(tmp_path, "q,sku,seen,price,mail\n" + rows)
    assert report.used == [f"{log}: q as query, sku as doc"]
    assert report.ignored == [
        f"{log}: seen (looks like a time), price (looks like a number), mail (looks like an e-mail address)"
    ]
    assert [line.partition(":")[0] for line in report.missing] == [
        "no times", "no users", "no positions", "no impressions",
    ]  # fmt: skip
    assert report.lost == report.warnings == []


def test_losses_above_5_percent_are_warnings(tmp_path):
    rows = ["hat,A,2024-01-01"] * 95
    _, report = report_of(tmp_path, "\n".join(["query,doc,timestamp", *rows, *["hat,,2024-01-01"] * 5]))
    assert report.lost == ["5 rows: doc is missing"] and report.warnings == []
    _, report = report_of(tmp_path, "\n".join(["query,doc,timestamp", *rows, *["hat,,2024-01-01"] * 6]))
    assert report.warnings == ["6% of the rows were rejected (6 of 101), most often: doc is missing"]


def test_documents_that_do_not_match(tmp_path):
    docs = tmp_path / "docs.tsv"
    docs.write_text("doc\ttitle\nA1\tone\nsku-2\ttwo\n")
    rows = "".join(f"hat,A{i}\n" for i in range(1, 41))
    _, report = report_of(tmp_path, "query,doc\n" + rows, docs)
    assert report.warnings == [
        "DOCS has only 1 of the 40 documents in the log; it lacks 'A10', 'A11', 'A12' and has 'sku-2'"
    ]


def test_a_build_stops_when_too_much_is_lost(tmp_path):
    text = "query,doc\nhat,A\nhat,\nhat,\n"
    with pytest.raises(UserError, match=r"67% of the rows were rejected \(2 of 3\)") as error:
        report_of(tmp_path, text)
    assert "log.csv, line 3" in str(error.value) and not (tmp_path / "graph").exists()
    report_of(tmp_path, text, max_rejected=0.67)
    with pytest.raises(UserError, match="between 0% and 100%"):
        report_of(tmp_path, text, max_rejected=5)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("2024-01-01", "a time"), ("14/09/2011 12:46", "a time"), ("10/Oct/2000:13:55:36 -0700", "a time"),
        ("1709287200", "a time"), ("1709287200000", "a time"), ("12.5", "a number"),
        ("a@b.example", "an e-mail address"),
        ("https://a.example/x", "a URL"), ("abcat0701002", "an id"), ("gears of war 3", "text"),
        ("", "empty"),
        ('{"a": 1}', "JSON"),
    ],
)  # fmt: skip
def test_what_values_look_like(value, kind):
    assert looks_like([value]) == kind
