"""Options of `coclick serve`: what workers get, and what is refused before a model is opened."""

import pytest
from typer.testing import CliRunner

from coclick.cli import app
from coclick.errors import UserError
from coclick.service.app import for_worker
from coclick.service.settings import EngineSettings, Settings


def test_workers_get_the_same_settings(monkeypatch):
    monkeypatch.setenv("COCLICK_SERVE", "")  # restored afterwards
    engine = EngineSettings("http://x/_search", "{}", headers=(("Authorization", "ApiKey é"),))
    for given in (
        Settings((("a", "/a"),)),
        Settings((("a", "/a"), ("b", "/b")), "key", judgments="/j", review="/r", images=True, engine=engine),
    ):
        given.export_env()
        assert Settings.from_env() == given


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine-template", "template.json"], "the engine has no address"),
        (["--engine-url", "ftp://x", "--engine-template", "template.json"], "must start with http://"),
        (["--engine-url", "http://x/_search"], "where the query goes"),
        (
            ["--engine-url", "http://x/_search", "--engine-template", "missing.json"],
            "template cannot be read",
        ),
        (["--engine-url", "http://x/{{query}}", "--engine-headers", "headers"], "headers, line 2"),
        (["--judgments", "nowhere/judgments.tsv"], "no such directory"),
        (["--judgments", "headers"], "query<TAB>doc<TAB>grade"),
        (["--review", "headers"], "not a review file"),
        (["--review", "missing.tsv"], "cannot be read"),
        (["--graph", "missing"], "missing"),
    ],
)
def test_options_that_cannot_work(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "template.json").write_text('{"query": "{{query}}"}')
    (tmp_path / "headers").write_text("Authorization: x\nwrong\n")
    result = CliRunner().invoke(app, ["serve", "model", *options])
    assert isinstance(result.exception, UserError), result.exception
    assert said in f"{result.exception.what} {result.exception.where} {result.exception.hint}"


def test_an_error_in_a_worker_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COCLICK_SERVE", "")  # restored afterwards
    Settings((("gone", str(tmp_path / "gone")),)).export_env()
    with pytest.raises(SystemExit) as ended:
        for_worker()
    assert ended.value.code in (2, 3)
    assert capsys.readouterr().err.startswith("error: ")
