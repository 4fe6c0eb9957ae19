"""`coclick export`: output, exit codes, interruption."""

import json
import signal
import time

import pytest


def test_summary_and_json(run, model, tmp_path):
    code, out, err = run("export", model, "--to", "opensearch", "-o", tmp_path / "one")
    assert (code, err) == (0, "")
    assert "vpcg(own_weight=0) for opensearch" in out and "score error" in out
    code, out, _ = run("export", model, "--to", "qdrant", "-o", tmp_path / "two", "--json", "--queries", 3)
    stats = json.loads(out)
    assert code == 0
    assert stats["engine"] == "qdrant" and stats["queries"] == 3 and stats["index"] == "coclick"
    assert len((tmp_path / "two/queries.ndjson").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "sphinx", "-o", "new"], "unknown engine 'sphinx'"),
        (["--to", "vespa", "-o", "new", "--name", "My Docs"], "cannot be the name of an index"),
        (["--to", "vespa"], "--out"),
        (["-o", "new"], "--to"),
        (["--to", "vespa", "-o", "new", "--max-weights", "0"], "--max-weights"),
    ],
)
def test_mistakes(run, model, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("export", model, *arguments)
    assert code == 2 and said in err and not out
    assert not list(tmp_path.iterdir())


def test_existing_output_and_wrong_input(run, model, graph, tmp_path):
    assert run("export", graph, "--to", "solr", "-o", tmp_path / "out").code == 2
    assert run("export", model, "--to", "solr", "-o", tmp_path / "out").code == 0
    again = run("export", model, "--to", "solr", "-o", tmp_path / "out")
    assert again.code == 2 and "--force" in again.err
    assert run("export", model, "--to", "vespa", "-o", tmp_path / "out", "--force").code == 0
    other = run("export", model, "--to", "solr", "-o", model, "--force")
    assert other.code == 2 and "the output is a model, and an export does not replace it" in other.err
    shown = run("info", tmp_path / "out")
    assert shown.code == 2 and "this is an export, not a model" in shown.err


@pytest.mark.slow
def test_interrupted_export_leaves_no_partial_output(start, model, tmp_path):
    """Whenever Ctrl-C comes, the output is complete or missing, and no temporary file remains."""
    codes = set()
    first = start("export", model, "--to", "solr", "-o", tmp_path / "first")
    assert first.communicate(timeout=100) and first.returncode == 0  # compiled code is cached from now on
    for wait in (0.2, 0.5, 0.8, 1.1):
        process = start("export", model, "--to", "solr", "-o", tmp_path / f"out-{wait}")
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        if b"Could not import runpy module" in err:  # busy machine: Python itself had not started
            continue
        codes.add(process.returncode)
        assert b"Traceback" not in err or process.returncode == -signal.SIGINT
    assert codes <= {0, 130, 1, -signal.SIGINT}
    for path in tmp_path.iterdir():
        assert not path.name.startswith(".")
        assert (path / "manifest.json").exists()
