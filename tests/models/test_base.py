"""The public methods of all models: what they check, what they return, what they leave alone."""

# mypy: disable-error-code="arg-type, attr-defined"

import inspect
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coclick import ClickGraph, create, open_model, train
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError, NotFoundError, UserError
from coclick.models.base import Model
from coclick.models.click_graph._base import CandidateModel
from coclick.models.combination._base import Combination
from coclick.models.lexical._base import LexicalModel
from coclick.models.lexical._proximity import WindowModel
from coclick.models.presets import Preset
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.text.query import Query

CLICKS = [("red shoe", "d1", 2), ("hat", "d2", 1), ("hat", "d3", 4), ("sock", "d3", 1)]
DOCS = {"d1": "red shoe", "d2": "old hat", "d3": "hat and sock", "d4": "blue hat"}


@pytest.fixture(scope="module")
def graph():
    return ClickGraph.from_clicks(CLICKS, DOCS)


@pytest.fixture(scope="module")
def model(graph):
    return train("bm25", graph)


@dataclass
class ById(Model):
    """Scores a document by the last digit of its id; only `_fit` and `_score` are written."""

    name = "by_id"
    capabilities = frozenset({"similar"})

    def _fit(self, graph, progress):
        self.values_ = np.array([float(doc[-1]) for doc in graph.docs], np.float32)

    def _score(self, query, docs):
        return self.values_[docs]

    def _similar_docs(self, docs, k):
        rows = np.tile(np.arange(k, dtype=np.int32), (len(docs), 1))
        return rows, np.ones(rows.shape, np.float32)

    _similar_queries = _similar_docs


ABSTRACT: list[tuple[type, str]] = [
    *((Model, name) for name in ("_fit", "_score", "_score_texts", "_similar_queries", "_similar_docs")),
    *((Model, name) for name in ("_expand", "_expansion_words", "_expand_docs", "_explain")),
    *((Model, name) for name in ("_add", "_add_with_features", "_describe_topics", "_translate")),
]
ABSTRACT += [(SparseVectorModel, "_embed_queries"), (SparseVectorModel, "_embed_docs")]
ABSTRACT += [(LexicalModel, "_fit_weights"), (LexicalModel, "_weight_docs")]
ABSTRACT += [(WindowModel, "_weighted_fields"), (Combination, "_part_weight")]
ABSTRACT += [(CandidateModel, name) for name in ("_list_docs", "_list_similar_queries", "_list_similar_docs")]


@pytest.mark.parametrize(("base", "name"), ABSTRACT)
def test_a_hook_that_is_missing_says_so(base, name):
    hook = inspect.getattr_static(base, name)
    function = hook.fget if isinstance(hook, property) else hook
    with pytest.raises(NotImplementedError):
        function(*[None] * len(inspect.signature(function).parameters))


def test_other_hooks_have_a_default():
    assert Model._evidence(None, None) == {}
    assert Model._known_text(None, None) == 0
    assert Model._count_unreachable(None, 3) == 0


def test_two_hooks_make_a_model(graph):
    made = ById().fit(graph)
    assert made.search("hat", 2).hits() == [("d4", 4.0), ("d3", 3.0)]
    assert made.search(["hat", "x"], 9).hits(1) == [("d4", 4.0), ("d3", 3.0), ("d2", 2.0), ("d1", 1.0)]
    assert made.search("hat", 9, allow=["d1", "d3"]).hits() == [("d3", 3.0), ("d1", 1.0)]
    assert made.search("hat", 9, allow=["d1", "d3"], block=["d3"]).hits() == [("d1", 1.0)]
    [scores] = made.score(["hat"], [["d3", "no such", "d1"]])
    assert scores.tolist() == [3.0, 0.0, 1.0]
    assert made.evidence("hat") == {} and made._evidence_product(made._queries("hat")[0]) == 1.0
    assert dict(made.similar_docs("d2", 2)) == {"d1": 1.0, "d3": 1.0}, "without itself"
    assert dict(made.similar_queries("hat", 1)) == {"red shoe": 1.0}
    assert [len(hits) for hits in made.similar_docs(["d1", "d4"], 3)] == [3, 3]
    assert (ById.summary, ById.presets, ById.requires, ById.uses_query) == ("", {}, (), True)
    assert ById.max_docs == float("inf")


def test_fit_checks_the_parameters_and_the_graph(graph):
    with pytest.raises(UserError, match="learns from a ClickGraph, not from str"):
        ById().fit("graph")
    with pytest.raises(UserError, match="k1 cannot be -1"):
        created: Any = create("bm25")
        created.k1 = -1
        created.fit(graph)
    empty = replace(graph, clicks=Csr.empty(3, 4))
    with pytest.raises(UserError, match="no clicks to learn from"):
        ById().fit(empty)
    with pytest.raises(UserError, match="bm25 needs texts, and this graph has none") as error:
        create("bm25").fit(ClickGraph.from_clicks(CLICKS))
    assert error.value.hint == "build it with --docs (in Python: docs=…)"


def test_state_that_cannot_be_stored_fails_at_fit(graph):
    @dataclass
    class Wrong(ById):
        def _fit(self, graph, progress):
            self.unknown_ = object()

    with pytest.raises(UserError, match=r"by_id\.unknown_"):
        Wrong().fit(graph)


def test_fitting_again_forgets_the_file_and_the_statistics(graph, tmp_path):
    train("clicks", graph).save(tmp_path / "model")
    opened = open_model(tmp_path / "model")
    opened.stats_["added"] = 7
    assert opened.artefact_ is not None and opened.graph_digest == opened.artefact_.manifest["graph"]
    opened.fit(graph)
    assert opened.artefact_ is None and opened.stats_ == {} and opened.graph_digest == graph.digest


def test_a_damaged_graph_is_refused(graph, tmp_path):
    saved = graph.save(tmp_path / "graph")
    file = saved.artefact.file("clicks.indices")
    file.write_bytes(file.read_bytes()[:-4] + np.int32(99).tobytes())
    with pytest.raises(ArtefactError, match="the graph is damaged: clicks") as error:
        ById().fit(ClickGraph.open(tmp_path / "graph"))
    assert str(error.value.where).startswith(str(tmp_path / "graph" / "clicks."))


def test_candidates_are_a_list_for_each_query(model):
    for wrong in ("d1", 5, None):
        with pytest.raises(UserError, match="candidates must be a list of document ids for each query"):
            model.score(["hat"], wrong)
    with pytest.raises(UserError, match=r"^2 queries but 1 list of candidates$"):
        model.score(["hat", "sock"], [["d1"]])
    with pytest.raises(UserError, match=r"^1 query but 3 lists of candidates$"):
        model.score(["hat"], [[], [], []])
    with pytest.raises(UserError, match="a document id must be a text, not 5"):
        model.score(["hat"], [[5]])


def test_k_is_a_whole_number(model):
    for wrong in (True, 1.0, "1", None):
        with pytest.raises(UserError, match="k must be a whole number, not"):
            model.search("hat", wrong)
    with pytest.raises(UserError, match="k must be at least 1, not 0"):
        model.search("hat", 0)
    assert len(model.search("hat", 1).hits()) == len(model.search("hat", np.int64(1)).hits()) == 1
    assert model.search("hat", 99).rows.shape == (1, 4)


def test_k_of_similar_queries_and_documents_is_clipped(graph):
    walk = train("rw", graph)
    assert walk.similar_queries("hat", 99).rows.shape == (1, 3)
    assert walk.similar_docs("d1", 99).rows.shape == (1, 4)
    assert walk.similar_docs(["d1"], 2).columns == ("doc", "similar")
    assert walk.similar_queries("hat", 2).columns == ("query", "similar")
    assert train("bm25", graph).search("hat").columns == ("query", "doc")


def test_ten_results_and_clicks_are_the_default():
    rows = [(f"hat {i}", f"d{j}", 1) for i in range(15) for j in range(15)]
    graph = ClickGraph.from_clicks(
        rows, {f"d{j}": f"hat {j} " + " ".join(f"w{i}" for i in range(15)) for j in range(15)}
    )
    model = train("vpcg(max_terms=40)", graph)
    assert len(model.search("hat 3").hits()) == len(model.similar_queries("hat 3").hits()) == 10
    assert len(model.similar_docs("d3").hits()) == len(model.expand_docs("d3", new=False).hits()) == 10
    assert len(model.explain("hat 3", "d3").parts[0].clicks) == 10
    explained = model.explain_expansion("d3", new=False)
    assert len(explained) == 10 and max(len(part.clicks) for part in explained) == 10
    assert len(train("wtm(min_probability=0)", graph).translate("hat")) == 10
    assert len(train("bltm(n_topics=3)", graph).describe_topics()[0]["title_words"]) == 10


def test_texts_may_come_in_any_order_of_a_list_but_not_as_a_table(model):
    expected = model.search(["hat", "sock"]).hits()
    assert model.search(("hat", "sock")).hits() == expected
    assert model.search(np.array(["hat", "sock"])).hits() == expected
    for wrong, name, hint in (
        (b"hat", "bytes", "decode it: text.decode()"),
        (bytearray(b"hat"), "bytearray", "decode it: text.decode()"),
        (pd.DataFrame({"query": ["hat"]}), "DataFrame", 'pass one column: frame["query"]'),
        ({"hat": 1}, "dict", 'pass one column: frame["query"]'),
    ):
        with pytest.raises(UserError, match=f"queries must be .* not {name}") as error:
            model.search(wrong)
        assert error.value.hint == hint
    with pytest.raises(UserError, match="document ids must be a string or a list of strings") as error:
        model.search("hat", allow=pd.DataFrame({"doc": ["d1"]}))
    assert error.value.hint == 'pass one column: frame["doc"]'


def test_a_column_of_arrow_is_a_list_of_texts(model):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(UserError, match=r"queries must be .* not Table"):
        model.search(pyarrow.table({"query": ["hat"]}))


def test_no_filter_is_no_mask(model):
    assert model._mask(None, None) is None
    assert model._mask(None, []) is None
    assert model._mask([], None).tolist() == [0, 0, 0, 0]
    assert model._mask(["d2", "x"], None).tolist() == [0, 1, 0, 0]
    assert model._mask(None, ["d2", "x"]).tolist() == [1, 0, 1, 1]


def test_one_text_is_not_a_list_of_texts(model):
    for wrong in ("old hat", {"title": "old hat"}):
        with pytest.raises(UserError, match="docs must be a list of texts, not one text"):
            model.score_texts("hat", wrong)


def test_what_a_model_cannot_do_names_those_that_can(graph, model):
    popularity = train("popularity", graph)
    for call, what, example in (
        (lambda m: m.similar_queries("hat"), "find similar queries or documents", "vpcg"),
        (lambda m: m.similar_docs("d1"), "find similar queries or documents", "vpcg"),
        (lambda m: m.expand("hat"), "expand queries", "vpcg"),
        (lambda m: m.expand_docs("d1"), "expand documents", "wtm"),
        (lambda m: m.explain("hat", "d1"), "explain its scores", "vpcg"),
        (lambda m: m.add({"d9": "hat"}), "score or add documents after training", "vpcg"),
        (lambda m: m.score_texts("hat", ["hat"]), "score or add documents after training", "vpcg"),
        (lambda m: m.describe_topics(), "describe topics", "bltm"),
        (lambda m: m.translate("hat"), "translate words", "wtm"),
        (lambda m: m.embed_queries("hat"), "export vectors", "pls"),
        (lambda m: m.embed_docs("d1"), "export vectors", "pls"),
    ):
        with pytest.raises(UserError, match=f"popularity cannot {what}") as error:
            call(popularity)
        able = str(error.value.hint).removeprefix("models that can: ").split(", ")
        assert example in able and "popularity" not in able
    with pytest.raises(UserError, match="not trained") as error:
        create("popularity").similar_queries("hat")
    assert error.value.hint == "call fit(graph) first"


def test_the_number_of_clicks_of_an_explanation_is_checked(graph, model):
    vpcg = train("vpcg", graph)
    assert vpcg.explain("hat", "d3", clicks=0).parts[0].clicks == []
    for call in (lambda n: vpcg.explain("hat", "d3", clicks=n), lambda n: vpcg.explain_expansion("d3", 3, n)):
        with pytest.raises(UserError, match="clicks must be a whole number of at least 0"):
            call(-1)
    assert vpcg.explain_expansion("d3", 3, 0, new=False)[0].clicks == []
    assert len(vpcg.explain_expansion("d3", 1, None, new=False)[0].clicks) > 0


def test_explanations_have_the_names_that_were_asked_for(model):
    why = model.explain("  HAT ", "d3")
    assert (why.query, why.doc) == ("  HAT ", "d3")


def test_documents_are_expanded_alone_or_together(graph):
    vpcg = train("vpcg", graph)
    one, both = vpcg.expand_docs("d3", 2, new=False), vpcg.expand_docs(["d1", "d3"], 2, new=False)
    assert one.single and not both.single
    assert one.hits() == both.hits(1) and one.columns == both.columns == ("doc", "word")
    everything = vpcg.expand_docs(k=2, new=False)
    assert everything.queries == ("d1", "d2", "d3", "d4") and everything.hits(2) == one.hits()
    assert vpcg.expand_docs("d3", 10**6).rows.shape[1] <= 10


def test_documents_are_added_again_and_again(graph, tmp_path):
    larger = train("bm25", graph).add({"d5": "green hat", "d6": "hat"})
    assert larger.stats_["added"] == 2
    again = larger.add(pd.DataFrame({"doc": ["d7"], "title": ["new hat"]}))
    assert again.stats_["added"] == 3 and larger.stats_["added"] == 2
    assert [again.title(doc) for doc in ("d1", "d5", "d7", "x")] == ["red shoe", "green hat", "new hat", ""]
    assert len(larger.graph_.docs) == 6
    with pytest.raises(UserError, match="uses no user view 'tags'"):
        larger.add({"d8": "hat"}, {"tags": {"d8": {"sport": 1.0}}})
    for wrong in (5, ["d9"]):
        with pytest.raises(UserError, match="docs must be a mapping from id to text") as error:
            larger.add(wrong)
        assert error.value.hint == 'for example {"n1": "New York hotels"}'
    (tmp_path / "docs.tsv").write_text("doc\ttitle\nd9\tgrey hat\n")
    assert larger.add(tmp_path / "docs.tsv").title("d9") == "grey hat"
    assert larger.add(str(tmp_path / "docs.tsv")).title("d9") == "grey hat"


def test_documents_are_not_added_to_a_damaged_model(graph, tmp_path):
    train("bm25", graph).save(tmp_path / "model")
    opened: Any = open_model(tmp_path / "model")
    vectors = opened.doc_index_.vectors
    indices = np.full_like(np.array(vectors.indices), 10_000)
    opened.doc_index_ = replace(
        opened.doc_index_, vectors=Csr(vectors.indptr, indices, vectors.data, vectors.columns)
    )
    with pytest.raises(ArtefactError, match="damaged"):
        opened.add({"d5": "hat"})


def test_an_unknown_document_is_named(model):
    with pytest.raises(NotFoundError, match="no document has the id 'nothing'") as error:
        model.rows_of_docs(["d1", "nothing", "d2"])
    assert error.value.hint == "ids are like d1, d2, d3"


def test_a_model_belongs_to_its_graph(graph, tmp_path):
    saved = graph.save(tmp_path / "graph")
    train("clicks", saved).save(tmp_path / "model")
    assert open_model(tmp_path / "model", saved).graph_digest == saved.digest
    opened = open_model(tmp_path / "model")
    more = ClickGraph.from_clicks([*CLICKS, ("hat", "d1", 1)], DOCS).save(tmp_path / "more")
    with pytest.raises(ArtefactError, match="trained on another graph"):
        opened.check_graph(more)
    unsaved = train("clicks", graph)
    unsaved.check_graph(graph)
    unsaved.check_graph(saved)
    for other in (
        ClickGraph.from_clicks([*CLICKS, ("scarf", "d1", 1)], DOCS),
        ClickGraph.from_clicks(CLICKS, DOCS | {"d5": "scarf"}),
    ):
        with pytest.raises(ArtefactError, match="queries and documents are not those of this graph"):
            unsaved.check_graph(other)
        with pytest.raises(ArtefactError, match="not those of this graph"):
            opened.check_graph(other)


def test_reprs(model, graph):
    assert repr(create("bm25(b=0.5)")) == "<bm25(b=0.5), not trained>"
    assert repr(train("bm25(b=0.5)", graph)) == "<bm25(b=0.5), trained on 3 queries, 4 documents>"
    assert repr(ById()) == "<by_id, not trained>"
    assert repr(Preset("Nobody 2000", k1=(1.0, "a"), b=(2.0, "b"))) == "<preset of Nobody 2000: k1, b>"
    assert Preset("Nobody 2000", k1=(1.0, "why")).reasons == {"k1": "why"}


def test_declared_state_is_no_parameter():
    @dataclass
    class Declared(ById):
        values_: Any
        size: int = 3

        def __repr__(self):
            return "own"

    made: Any = Declared
    assert repr(made(4)) == "own" and made(4).size == 4


def test_support_by_hand(graph):
    """hat has 5 clicks, an unknown query none."""
    made = ById().fit(graph)
    assert made._support(Query("hat", graph.queries.id("hat"))) == pytest.approx(5 / 6)
    assert made._support(Query("new", -1)) == 0.0
