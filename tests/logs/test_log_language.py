"""`build` guesses the language of the texts or takes it, stores it, and models use it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import coclick
from coclick import cli
from coclick.errors import UserError
from text.shops import SHOPS

GUESSED = {"code": "de", "share": 1.0, "source": "guessed"}


def write_shop(directory: Path, titles: list[str], queries: list[str]) -> tuple[Path, Path]:
    """A log with one click for each query, and the file of documents."""
    log, docs = directory / "log.tsv", directory / "docs.tsv"
    docs.write_text("doc\ttitle\n" + "".join(f"d{i}\t{title}\n" for i, title in enumerate(titles)))
    log.write_text("query\tdoc\tclicks\n" + "".join(f"{query}\td{i}\t1\n" for i, query in enumerate(queries)))
    return log, docs


@pytest.mark.parametrize("code", ["de", "ar", "ja", "th"])
def test_build_guesses_the_language(code: str, tmp_path: Path) -> None:
    shop = SHOPS[code]
    graph = coclick.build(*write_shop(tmp_path, shop.titles, shop.queries), tmp_path / "graph")
    assert graph.stats["language"]["code"] == code
    assert graph.stats["language"]["source"] == "guessed"
    model = coclick.train("bm25", tmp_path / "graph")
    for query, title in shop.finds.items():
        [(doc, _)] = model.search(query, 1).hits()
        assert graph.title(doc) == title


def test_without_documents_queries_tell(tmp_path: Path) -> None:
    log, _ = write_shop(tmp_path, [], SHOPS["de"].queries)
    assert coclick.build(log, None, tmp_path / "graph").stats["language"] == GUESSED


def test_the_language_is_named(tmp_path: Path) -> None:
    log, docs = write_shop(tmp_path, SHOPS["de"].titles, SHOPS["de"].queries)
    graph = coclick.build(log, docs, tmp_path / "graph", language="pt-BR")
    assert graph.stats["language"] == {"code": "pt", "share": None, "source": "given"}
    with pytest.raises(UserError, match=r"no language 'germn' \(did you mean 'german'\?\)"):
        coclick.build(log, docs, tmp_path / "graph", language="germn", force=True)
    assert coclick.ClickGraph.open(tmp_path / "graph").stats["language"]["code"] == "pt"


def test_merged_graphs_have_the_language_of_the_larger_log(tmp_path: Path) -> None:
    graphs = []
    for code, size in (("de", 8), ("fr", 3)):
        (tmp_path / code).mkdir()
        files = write_shop(tmp_path / code, SHOPS[code].titles, SHOPS[code].queries[:size])
        graphs.append(coclick.build(*files, tmp_path / code / "graph"))
    for one, other in (graphs, graphs[::-1]):
        assert one.merge(other).stats["language"]["code"] == "de"


def command(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["coclick", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def test_the_command_says_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log, docs = write_shop(tmp_path, SHOPS["de"].titles, SHOPS["de"].queries)
    build = ["build", str(log), "--docs", str(docs), "-o", str(tmp_path / "graph"), "--force"]
    assert command(build, monkeypatch) == 0
    assert "language: German, guessed: 100% of the recognised texts" in capsys.readouterr().out
    assert command([*build, "--language", "fr"], monkeypatch) == 0
    assert "language: French\n" in capsys.readouterr().out
    assert command([*build, "--language", "xx"], monkeypatch) == 2
    assert "there is no language 'xx'" in capsys.readouterr().err
    log.write_text("query\tdoc\tclicks\nrtx 3080\tp1\t3\n")
    assert command(["build", str(log), "-o", str(tmp_path / "other")], monkeypatch) == 0
    assert "name it, such as --language de" in capsys.readouterr().out
    assert (
        command(["train", "bm25", str(tmp_path / "graph"), "-o", str(tmp_path / "model")], monkeypatch) == 0
    )
    assert command(["info", str(tmp_path / "model")], monkeypatch) == 0
    assert "french" in capsys.readouterr().out
