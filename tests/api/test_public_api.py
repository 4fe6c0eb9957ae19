"""What `import coclick` offers: exactly the public names, each documented, wrong arguments answered."""

import importlib.util
import inspect
from pathlib import Path

import pytest

import coclick
import planted
from coclick import UserError
from coclick.models.lexical.bm25 import BM25
from coclick.results import Click, Contribution, Word

FUNCTIONS = ["build", "compare", "create", "evaluate", "export", "open_model", "serve", "train", "tune"]


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


@pytest.fixture(scope="module")
def model(graph):
    return coclick.train("bm25", graph)


def test_dir_shows_exactly_the_public_names():
    assert dir(coclick) == sorted(coclick.__all__)
    for name in coclick.__all__:
        assert getattr(coclick, name) is not None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_stay_functions_after_every_module_is_imported(name):
    spark = importlib.util.find_spec("pyspark") is not None  # `make matrix` does not install it
    package = Path(coclick.__path__[0])
    for path in package.rglob("*.py"):
        parts = ["coclick", *path.relative_to(package).with_suffix("").parts]
        if path.stem != "__main__" and (spark or parts[1] != "spark"):
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    assert inspect.isfunction(getattr(coclick, name))


@pytest.mark.parametrize("name", [name for name in coclick.__all__ if name != "__version__"])
def test_every_public_name_has_a_docstring(name):
    value = getattr(coclick, name)
    assert inspect.getdoc(value)
    if inspect.isclass(value):
        for attribute, member in vars(value).items():
            if not attribute.startswith("_") and callable(member):
                assert inspect.getdoc(member), f"{name}.{attribute}"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda model, graph: model.search(5), "a query must be a text, not 5"),
        (lambda model, graph: model.search(["a", None]), "a query must be a text, not None"),
        (lambda model, graph: model.search("a", k="ten"), "k must be a whole number, not 'ten'"),
        (lambda model, graph: model.search("a", k=0), "k must be at least 1"),
        (lambda model, graph: model.explain("a", 7), "a document id must be a text, not 7"),
        (lambda model, graph: coclick.train(BM25, graph), "not the class BM25"),  # type: ignore[arg-type]
        (lambda model, graph: coclick.train("bm25", 5), "a model learns from a ClickGraph, not from int"),  # type: ignore[arg-type]
        (lambda model, graph: coclick.create(5), "untrained model, not 5"),  # type: ignore[arg-type]
        (lambda model, graph: coclick.create("bm52"), "did you mean 'bm25'"),
        (lambda model, graph: coclick.create("vpcg(k=20)"), "'k' is now called 'max_terms'"),
        (lambda model, graph: model.similar_queries("a"), "bm25 cannot find similar queries"),
        (lambda model, graph: BM25().search("a"), "bm25 is not trained yet"),
    ],
)
def test_a_wrong_argument_gets_a_sentence(wrong, sentence, model, graph):
    with pytest.raises(UserError) as caught:
        wrong(model, graph)
    assert sentence in str(caught.value)


def test_reprs_are_one_short_line(model, graph):
    run = model.search(["hotel", "flu"], k=3)
    values = [graph, model, coclick.create("vpcg(start=doc)"), run, model.search("hotel"),
              model.explain("hotel", model.search("hotel").hits()[0][0])]  # fmt: skip
    for value in values:
        assert "\n" not in repr(value)
        assert len(repr(value)) < 200
    assert repr(coclick.create("vpcg(start=doc)")) == "<vpcg(start=doc), not trained>"


def test_a_run_iterates_and_becomes_a_frame(model):
    single, several = model.search("hotel", k=3), model.search(["hotel", "flu"], k=3)
    assert list(single) == single.hits() == single.hits(0)
    assert list(several) == several.hits() == [several.hits(0), several.hits(1)]
    frame = several.to_pandas()
    assert list(frame.columns) == ["query", "rank", "doc", "score"]
    rows = [(q, doc, score) for q, hits in zip(["hotel", "flu"], several, strict=True) for doc, score in hits]
    assert list(zip(frame["query"], frame["doc"], frame["score"], strict=True)) == rows
    assert frame["rank"].tolist() == [rank for hits in several for rank in range(1, len(hits) + 1)]
    assert several.to_arrow().to_pydict() == frame.to_dict("list")
    assert several.to_polars().to_dict(as_series=False) == frame.to_dict("list")


def test_an_explanation_draws_itself(model):
    doc = model.search("hotel").hits()[0][0]
    html = model.explain("hotel <b>", doc)._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<script" not in html
    assert html.count("<div") == html.count("</div>")


def test_an_explanation_draws_both_sides_of_a_word():
    asked, shown = Click("ny", "d1", 1, 0.5), Click("stay", "d2", 3, 1.0)
    word = Word("hotel", 0.5, 0.25, 0.125, [shown], 1, [asked], 2)
    html = coclick.Explanation(
        "ny", "d1", 0.125, [Contribution("word", "hotel", 0.125, [shown], 1)], [word]
    )._repr_html_()
    query, doc = html.index("weight in the query, learned from"), html.index("weight in the document")
    assert query < html.index("ny → d1: 1 click, 50%") < html.index("1 more clicked pair<") < doc
    assert doc < html.index("stay → d2: 3 clicks, 100%")
    assert html.count("<div") == html.count("</div>")


def test_state_that_cannot_be_stored_fails_in_fit(graph):
    from dataclasses import dataclass

    @dataclass
    class Sets(coclick.Model):
        name = "sets"
        found_: set

        def _fit(self, graph, progress):
            self.found_ = {1, 2}

    with pytest.raises(UserError, match=r"sets\.found_ cannot be stored: it is of the type set"):
        Sets().fit(graph)  # type: ignore[call-arg]
