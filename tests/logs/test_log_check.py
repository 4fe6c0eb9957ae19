"""`check` describes a log, and the command it ends with builds the right graph."""

import json
import shlex
import time
from datetime import timedelta
from inspect import signature
from typing import get_type_hints

import pytest

from coclick.cli import main
from coclick.cli.build import build as build_command
from coclick.cli.check import check as check_command
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.logs import check
from coclick.logs.check_page import render_page
from coclick.logs.guess_columns import guess_columns
from coclick.logs.log_sample import LogSample
from logs.format_samples import SAMPLES, UBI_RECORDS
from logs.test_log_like import SHAPES, edges

SHOP = (
    "user,sku,category,query,click_time,query_time\n"
    "u1,9854804,abcat07,gears of war 3,2011-09-14 12:46:28.66,2011-09-14 12:45:07.064\n"
    "u2,9854804,abcat07,Gears of  War 3,2011-09-19 23:27:59.956,2011-09-19 23:27:47.408\n"
    "u2,2670133,abcat07,Madden 12,,2011-09-13 19:10:10\n"
)
GERMAN = (
    "Suchbegriff;Artikelnummer;Zeitpunkt;Kunde\n"
    "Schuhe;A-1;14.09.2011 12:46;k1\n"
    "Hüte für Männer;A-2;15.09.2011 09:01;k2\n"
    + "Hüte für Männer;A-2;15.09.2011 09:01;k3\n" * 4
    + "Hüte für Männer;A-2;gestern;k2\n"
)


def exit_code(*words):
    """Run a command; return its exit code."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as done:
        patch.setattr("sys.argv", ["coclick", *words])
        main()
    return done.value.code or 0


def run(command, capsys):
    """Run a command as the shell would; return the graph it built."""
    words = shlex.split(command)
    assert words[0] == "coclick" and exit_code(*words[1:]) == 0
    capsys.readouterr()
    return ClickGraph.open(words[words.index("-o") + 1])


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_shop_log(tmp_path, capsys):
    (tmp_path / "clicks.csv").write_text(SHOP)
    (tmp_path / "docs.tsv").write_text("doc\ttitle\n9854804\tGears of War 3\n")
    found = check(["clicks.csv"], "docs.tsv")
    uses = {use.name: use.field for use in found.files[0].columns}
    assert uses == {"user": "user", "sku": "doc", "category": "", "query": "query", "click_time": "timestamp",
                    "query_time": ""}  # fmt: skip
    assert found.files[0].columns[0].samples == ("u1", "u2")
    assert found.report.warnings == [
        "33% of the rows were rejected (1 of 3), most often: timestamp is missing",
    ]
    graph = run(found.command, capsys)
    assert edges(graph) == {("gears of war 3", "9854804"): 2} and graph.daily is not None


@pytest.mark.parametrize("shape", [*SHAPES, "array", "hits"])
def test_ubi_in_all_shapes(tmp_path, capsys, shape):
    hits = [{"_index": "ubi", "_id": str(i), "_source": record} for i, record in enumerate(UBI_RECORDS)]
    shapes = SHAPES | {
        "array": lambda r: json.dumps(r, indent=1),
        "hits": lambda r: json.dumps({"took": 1, "hits": {"hits": hits}}),
    }
    (tmp_path / "ubi.json").write_text(shapes[shape](UBI_RECORDS))
    found = check("ubi.json")
    assert found.format.startswith("OpenSearch User Behavior Insights")
    assert edges(run(found.command, capsys)) == SAMPLES["ubi"].clicks


@pytest.mark.parametrize("name", ["aol", "ga4", "elastic", "fusion"])
def test_known_formats(tmp_path, capsys, name):
    one = SAMPLES[name]
    (tmp_path / one.name).write_text(one.text)
    found = check(one.name, actions=one.actions)
    assert edges(run(found.command, capsys)) == one.clicks
    assert sum(found.stats["rejected"].values()) == len(one.rejected)


def test_a_german_export(tmp_path, capsys):
    (tmp_path / "klicks.csv").write_bytes(b"\xef\xbb\xbf" + GERMAN.encode())
    (tmp_path / "latin.csv").write_bytes(GERMAN.encode("latin-1"))
    for name in ("klicks.csv", "latin.csv"):
        found = check(name)
        assert found.files[0].delimiter == "semicolon"
        assert found.guessed == {"query": "Suchbegriff", "doc": "Artikelnummer", "timestamp": "Zeitpunkt",
                                 "user": "Kunde"}  # fmt: skip
        graph = run(f"{found.command} --force", capsys)
        assert edges(graph) == {("schuhe", "A-1"): 1, ("hüte für männer", "A-2"): 5}
        assert graph.daily.day.tolist() == [15232, 15231]  # 15 and 14 September 2011


def test_documents_that_do_not_match(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("query,doc\n" + "".join(f"hat,A{i}\n" for i in range(20)))
    (tmp_path / "docs.csv").write_text("doc,title\nA1,Hat\nB1,Boot\n")
    found = check("log.csv", "docs.csv")
    assert "DOCS has only 1 of the 20 documents" in found.report.warnings[0]
    assert len(edges(run(found.command, capsys))) == 20
    (tmp_path / "docs.csv").write_text("doc,title\nB1,Boot\n")
    assert "no document id in common" in check("log.csv", "docs.csv").problem


def test_personal_data(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc\nhat,A\nmail to ann@mail.example,A\n")
    assert check("log.csv").report.warnings == [
        "queries with personal data: email 1; --scrub pii removes it",
    ]


def test_what_cannot_be_built(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("a,b\n1,2\n3,4\n")
    found = check("log.csv")
    assert "no column for 'query'" in found.problem and found.hint
    assert [use.name for use in found.files[0].columns] == ["a", "b"]
    assert exit_code("check", "log.csv") == 2 and "cannot be built" in capsys.readouterr().out
    with pytest.raises(UserError, match="file not found"):
        check("missing.csv")


def test_json_and_html(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("query,doc,note\n<b>hat</b>,A,x\n")
    assert exit_code("check", "log.csv", "--json", "--html", "page.html") == 0
    assert json.loads(capsys.readouterr().out)["command"] == "coclick build log.csv -o graph"
    page = (tmp_path / "page.html").read_text()
    assert "&lt;b&gt;hat&lt;/b&gt;" in page and "<b>hat" not in page
    assert "ignored (looks like text)" in page and "coclick build log.csv" in page
    assert render_page(check("log.csv")) == page


def test_large_files_are_sampled(tmp_path):
    lines = ["query,doc", *(f"hat {i},A{i}" for i in range(300_000))]
    path = tmp_path / "large.csv"
    path.write_text("\n".join(lines))
    (tmp_path / "parts").mkdir()
    sample = LogSample.of([path], tmp_path / "parts", max_bytes=1)
    part = sample.sources[0].read_text()
    assert sample.cut == [str(path)] and sample.names == {str(sample.sources[0]): str(path)}
    assert path.read_text().startswith(part) and part.endswith("\n")  # whole lines
    assert 4_000_000 <= len(part) < 5_100_000
    small = tmp_path / "small.csv"
    small.write_text("query,doc\nhat,A\n")
    assert LogSample.of([small], tmp_path / "parts").sources == [small]


def test_the_time_of_a_check_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("coclick.logs.log_sample.MIN_BYTES", 20_000)
    monkeypatch.setattr("coclick.logs.log_sample.MAX_BYTES", 20_000)
    path = tmp_path / "large.csv"
    path.write_text("query,doc\n" + "hat,A\n" * 2_000_000)
    started = time.monotonic()
    found = check(path)
    assert found.sampled == [str(path)] and found.stats["rows"] < 300_000
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        ({"Requête": ["chat noir"], "Article": ["A1"], "Date": ["2024-01-01"]},
         {"query": "Requête", "doc": "Article", "timestamp": "Date"}),
        ({"x": ["red shoe", "blue hat"], "y": ["p-1", "p-2"]}, {"query": "x", "doc": "y"}),
        ({"x": ["1"], "y": ["2"]}, {}),
    ],
)  # fmt: skip
def test_columns_are_guessed_from_names_and_values(values, columns):
    assert guess_columns(values) == columns


def test_options_of_build(tmp_path, capsys):
    """What check says with options is what its command builds."""
    rows = [f"2026-03-0{day} 10:0{user}:00,u{user},hat,A" for day in (1, 2) for user in range(5)]
    rows += ["2026-03-01 10:00:00,u1,ann@example.com hat,A", "2026-03-01 10:00:00,u2,ann@example.com hat,A"]
    rows += ["2026-03-02 10:00:00,u1,cap,B", "2026-03-02 10:00:00,u1,cap,B", "2026-03-02 10:00:00,u1,,B"]
    (tmp_path / "log.csv").write_text("\n".join(["timestamp,user,query,doc", *rows]))
    options = {"min-users": "2", "min-clicks": "2", "scrub": "pii", "bots": "keep", "duplicates": "drop",
               "half-life": "1d", "language": "german", "max-rejected": "10%"}  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert exit_code("check", "log.csv", *words, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    given = shlex.split(found["command"])
    for name, value in options.items():
        share = {"10%": "10.0000%"}
        assert given[given.index(f"--{name}") + 1] == share.get(value, value), name
    graph = run(found["command"], capsys)
    assert edges(graph) == {("hat", "A"): pytest.approx(5 + (5 + 2) / 2)}
    for name in ("pairs_below_thresholds", "scrubbed", "bots", "duplicates", "half_life", "language"):
        assert graph.stats[name] == found["stats"][name], name
    assert graph.stats["duplicates"]["dropped"] == 1 and graph.stats["bots"] == {"policy": "keep"}
    assert exit_code("check", "log.csv", "--max-rejected", "1%") == 2
    assert "coclick build log.csv -o graph" in check("log.csv").command


def test_half_life_as_a_duration(tmp_path):
    (tmp_path / "log.csv").write_text("timestamp,query,doc\n2026-03-02,hat,A\n")
    assert "--half-life 36h " in check("log.csv", half_life=timedelta(days=1.5)).command


def test_options_are_defined_once():
    """Options of check are those of build: the same type, help and default."""
    hints = [get_type_hints(command, include_extras=True) for command in (build_command, check_command)]
    defaults = [signature(command).parameters for command in (build_command, check_command)]
    for name in hints[1].keys() - {"html", "json_", "return"}:
        assert hints[0][name] is hints[1][name] and defaults[0][name].default == defaults[1][name].default
