"""`coclick features` and `coclick ltr` on the command line."""

import pytest
import typer
from typer.testing import CliRunner

import planted
from coclick import open_model
from coclick.cli import ltr as commands
from coclick.errors import UserError
from coclick.ltr.letor import read_letor

PARTS = ["--models", "bm25", "--models", "popularity"]


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(commands.features)
    app.command()(commands.ltr)
    return app


@pytest.fixture
def graph(tmp_path):
    planted.graph().save(tmp_path / "graph")
    (tmp_path / "queries.tsv").write_text("1\thotel\n2\tshoe\n3\tpizza\n4\tflu\n")
    (tmp_path / "qrels.tsv").write_text("1\thotel-1\t2\n2\tshoe-1\t1\n3\tpizza-0\t0\n4\tflu-2\t3\n")
    return str(tmp_path / "graph")


def judged(tmp_path):
    return ["--queries", str(tmp_path / "queries.tsv"), "--qrels", str(tmp_path / "qrels.tsv")]


def run(app, *arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, UserError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_features_of_judged_queries(app, graph, tmp_path):
    out = tmp_path / "train.letor"
    run(app, "features", graph, *judged(tmp_path), *PARTS, "-o", out)
    table = read_letor(out)
    assert sorted(table.queries) == ["flu", "hotel", "pizza", "shoe"]
    assert "bm25 score" in table.names
    graded = dict(zip(table.docs, table.grades.tolist(), strict=True))
    assert (graded["hotel-1"], graded["flu-2"]) == (2, 3)
    with pytest.raises(UserError, match="exists"):
        run(app, "features", graph, *PARTS, "-o", out)
    run(app, "features", graph, *PARTS, "-o", out, "--force")
    assert len(read_letor(out).queries) == len(planted.graph().queries)


@pytest.mark.parametrize("labels", ["clicks", "judgments"])
def test_ltr(app, graph, tmp_path, labels):
    out = tmp_path / "model"
    run(app, "ltr", graph, *judged(tmp_path), *PARTS, "--labels", labels, "--n-trees", 30, "-o", out)
    model = open_model(out)
    assert str(model) == "ltr(parts=bm25 + popularity,n_trees=30)"
    assert model.search("hotel", 1).hits()
    with pytest.raises(UserError, match="exists"):
        run(app, "ltr", graph, *PARTS, "-o", out)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--labels", "judgments"], "no judgments"),
        (["--models", "bm52"], "bm25"),
        (["--queries", "queries.tsv"], "without judgments"),
    ],
)
def test_mistakes(app, graph, tmp_path, more, what):
    with pytest.raises(UserError, match=what):
        run(app, "ltr", graph, *more, "-o", tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("more", [["--labels", "stars"], ["--objective", "listwise"]])
def test_unknown_choices(app, graph, tmp_path, more):
    result = CliRunner().invoke(app, ["ltr", str(graph), *more, "-o", str(tmp_path / "model")])
    assert result.exit_code == 2 and more[1] in result.output
