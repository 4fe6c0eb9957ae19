"""Errors and damaged artefacts: one plain message, the right exit code, nothing on standard output."""

import json
import shutil
from importlib import import_module

import pytest

import coclick
import planted
from coclick.cli import MODULES
from coclick.cli.arguments import RENAMED_OPTIONS

MISTAKES = {
    "no graph": ("info {there}/nothing", "no such directory"),
    "no model": ("search {there}/nothing hotel", "no such directory"),
    "a graph for a model": ("search {graph} hotel", "this is a graph, not a model"),
    "a model for a graph": ("train vpcg {model} -o {there}/new", "not a graph where: {model} try: name"),
    "an empty directory": ("info {there}", "manifest.json"),
    "a file": ("info {there}/file", "is not a directory"),
    "an unknown command": ("serach {model} hotel", "No such command 'serach'"),
    "an unknown option": ("search {model} hotel --kk 3", "No such option"),
    "a missing argument": ("search {model}", "Missing argument"),
    "no results wanted": ("search {model} hotel -k 0", "'-k'"),
    "a number that is none": ("search {model} hotel -k many", "'-k'"),
    "an unknown model": ("train vpgc {graph} -o {there}/new", "did you mean 'vpcg'"),
    "an unknown parameter": ("train vpcg(itrations=2) {graph} -o {there}/new", "did you mean 'iterations'"),
    "a wrong parameter": ("train vpcg(max_terms=many) {graph} -o {there}/new", "max_terms cannot be 'many'"),
    "a specification that is none": ("train vpcg(max_terms=2 {graph} -o {there}/new", "vpcg(max_terms=2"),
    "no graph to train on": ("train vpcg {there}/nothing -o {there}/new", "no such directory"),
    "an output that exists": ("train vpcg {graph} -o {model}", "--force"),
    "an output of another kind": ("train vpcg {graph} -o {graph} --force", "a model does not replace it"),
    "an output in a file": ("train vpcg {graph} -o {there}/file/new", "not one"),
    "an unknown document": ("explain {model} hotel hotel-99", "no document has the id 'hotel-99'"),
    "an unknown neighbour": ("similar {model} --docs hotel-99", "no document has the id 'hotel-99'"),
    "neither query nor document": ("similar {model}", "give either a query or"),
    "one query and many": ("similar {model} hotel -o {there}/new.tsv", "leave out --queries and -o"),
    "a file without queries": ("similar {model} --queries {there}/file", "the file has no queries"),
    "similar queries as a table of another kind": ("similar {model} -o {there}/new.xls", "use .tsv"),
    "a list that is not there": ("search {model} hotel --allow {there}/nothing", "cannot be read"),
    "documents that are not there": ("add {model} {there}/nothing", "{there}/nothing"),
    "a log that is not there": ("build {there}/nothing.tsv -o {there}/new", "{there}/nothing.tsv"),
    "an action that is none": ("build {there}/file -o {there}/new --actions click=a", "click=1,cart=3"),
    "judgments that are not there": (
        "evaluate {graph} --queries {there}/nothing --qrels {there}/nothing --models vpcg",
        "{there}/nothing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_user_error(run, graph, model, tmp_path, mistake):
    (tmp_path / "file").write_text("")
    paths = {"graph": graph, "model": model, "there": tmp_path}
    command, message = (text.format(**paths) for text in MISTAKES[mistake])
    done = run(*command.split(" "))
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.replace("│", "").split())
    assert "Traceback" not in done.err and len(done.err.splitlines()) < 10
    assert not (tmp_path / "new").exists()


def test_unsupported_operations_are_refused(run, graph, tmp_path):
    assert run("train", "popularity", graph, "-o", tmp_path / "model").code == 0
    for command in (["expand"], ["similar"], ["explain"]):
        done = run(*command, tmp_path / "model", "hotel", *(["hotel-0"] if command == ["explain"] else []))
        assert done.code == 2 and "popularity cannot" in done.err and "vpcg" in done.err


def test_training_again_needs_force(run, graph, tmp_path):
    out = tmp_path / "model"
    first = ["train", "bm25", graph, "-o", out]
    assert run(*first).code == 0
    assert run(*first).code == 2
    assert run(*first, "--force").code == 0


def damage_a_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "changed": damage_a_byte,
}


@pytest.mark.parametrize("kind", ["graph", "model"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_verify_names_every_damaged_file(run, graph, model, tmp_path, kind, damage):
    broken = tmp_path / "broken"
    shutil.copytree({"graph": graph, "model": model}[kind], broken)
    files = sorted(path for path in broken.glob("*.npy") if path.stat().st_size > 128)[:2]
    for path in files:
        DAMAGES[damage](path)
    done = run("verify", broken, "--json")
    report = json.loads(done.out)
    assert (done.code, done.err, report["sound"]) == (3, "", False)
    assert sorted(problem["where"] for problem in report["problems"]) == [path.name for path in files]
    assert all(problem["what"] for problem in report["problems"])
    done = run("verify", broken)
    assert (done.code, done.out) == (3, "damaged\n") and all(path.name in done.err for path in files)


def test_verify_reports_a_broken_manifest(run, graph, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(graph, broken)
    (broken / "manifest.json").write_text("{")
    done = run("verify", broken, "--json")
    assert done.code == 3
    assert [problem["where"] for problem in json.loads(done.out)["problems"]] == ["manifest.json"]


@pytest.mark.parametrize("damage", ["missing", "cut short"])
def test_incomplete_models_are_not_used(run, model, tmp_path, damage):
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    DAMAGES[damage](next(broken.glob("*.npy")))
    for command in (["search", broken, "hotel"], ["info", broken], ["explain", broken, "hotel", "hotel-0"]):
        done = run(*command, "--json")
        assert (done.code, done.out) == (3, "")
        assert done.err.startswith("error: ") and str(broken) in done.err


def test_add_reports_invalid_rows_and_adds_the_others(run, model, tmp_path):
    copy, new = tmp_path / "copy", tmp_path / "new.tsv"
    shutil.copytree(model, copy)
    new.write_text("doc\ttitle\nn1\tHotel\nn1\tagain\nn2\tzzzz\n")
    done = run("add", copy, new)
    assert done.code == 0
    assert "added 2 documents" in done.err and "1 of them have no word that the model knows" in done.err
    assert f"doc is a duplicate ({new}, line 3)" in done.err
    found = json.loads(run("search", copy, "hotel", "-k", 100, "--json").out)["results"]
    assert [hit["title"] for hit in found if hit["doc"] == "n1"] == ["Hotel"]


def test_version(run):
    done = run("--version")
    assert done.code == 0 and done.out.strip() == f"coclick {coclick.__version__}"


def test_add_refuses_documents_that_the_model_has(run, model, tmp_path):
    known = next(iter(planted.docs()))
    new = tmp_path / "new.tsv"
    new.write_text(f"doc\ttitle\n{known}\tAnother title\n")
    before = sorted(path.name for path in model.iterdir())
    done = run("add", model, new)
    assert done.code == 2 and known in done.err
    assert sorted(path.name for path in model.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate-units", "graph", "--fraction", "0.1"],
        ["info", "graph", "--merged"],
        ["export", "model", "--to", "solr", "-o", "new", "--most-weights", "9"],
        ["ltr", "graph", "-o", "new", "--trees", "9"],
    ],
)
def test_a_renamed_option_names_the_new_one(run, command):
    [old] = set(command) & set(RENAMED_OPTIONS)
    done = run(*command)
    assert done.code == 2 and f"{old} is now called {RENAMED_OPTIONS[old]}" in done.err


def test_a_renamed_option_is_not_offered_where_the_new_one_is_missing(run):
    done = run("search", "model", "query", "--trees", "9")
    assert done.code == 2 and "--n-trees" not in done.err


def test_every_command_is_in_its_module():
    for name, module in MODULES.items():
        assert callable(getattr(import_module(f"coclick.cli.{module}"), name.replace("-", "_")))
