"""Models without vectors: rankings of known queries, and signals of others, as engines compute them."""

import json
import math
from collections import Counter

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.exporters import export
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE, choose_form
from coclick.exporters.shipping.answer import Recipe, Similar, answer, character_grams, normalise
from coclick.exporters.shipping.form import N_RANKED, ShippedModel
from coclick.exporters.shipping.measure import measure_loss
from coclick.exporters.shipping.simulation import InMemory
from coclick.graph.click_graph import ClickGraph

SPEC = "backoff(neighbours + vpcg(units=words,own_weight=0) + bm25)"
UNKNOWN = ["stay ny now", "trainers, nike!", "o'neill pizzza", "mozzarella-pizza dough pizza", "flu", "zzz"]


@pytest.fixture(scope="module")
def model():
    return create(SPEC).fit(planted.graph())


@pytest.fixture(scope="module")
def shipped(model):
    return ShippedModel.from_model(model)


class TinyEngine:
    """Two similar queries and two documents with words."""

    def __init__(self):
        self.asked = []

    def ranking(self, query):
        return [("d9", 3.0), ("d1", 2.0)] if query == "known query" else []

    def similar_queries(self, vector, n):
        self.asked.append((vector, n))
        return [Similar(1.2, ["d1"], [2.0]), Similar(0.5, ["d1", "d2"], [4.0, 1.0])]

    def match_documents(self, words, n, docs):
        self.asked.append((words, n, sorted(docs)))
        return {"d2": 3.0, "d3": 8.0, "d1": 0.0}


def test_answer_by_hand():
    settings = {"min_n": 3, "max_n": 3, "word_weight": 0.25, "unknown_idf": 3.0, "power": 2.0,
                "n_neighbours": 7, "depth": 20, "base": [0.5, 0.25], "weights": [[1.0, 2.0], [10.0, 1.0]],
                "maps": [[[1.0, 1.0], [3.0, 2.0]], [[2.0, 4.0]]]}  # fmt: skip
    recipe = Recipe(
        settings, {"cats,": ["cat"], "cats": ["cat"]}, {"~_ca": 2.0, "cat": 1.5}, {"cat": "Cat"}, ["d1", "d2"]
    )
    engine = TinyEngine()
    assert answer(engine, recipe, " KNOWN  query ", 1) == [("d9", 3.0)]
    found = answer(engine, recipe, "Cats, cats")
    # n-grams: ~_ca has idf 2, the others of _cats_ and catscats (cat, ats, ts_, tsc, sca) are unknown, with 3
    grams = math.sqrt(0.75 / (2.0**2 + 5 * 3.0**2)) * 2.0
    vector, n = engine.asked[0]
    assert vector == pytest.approx({"~_ca": grams, "cat": 0.5}) and n == 7
    assert engine.asked[1] == ({"Cat": 2.0}, 20, ["d1", "d2"])
    # borrowed: d1 has 1² · 2 + .5² · 4 = 3, d2 .5² · 1 = .25; maps: 3 → 2, .25 → .25; words: 3 → 6, 8 → 16
    assert dict(found) == pytest.approx({"d1": 0.25 + 10 * 2, "d2": 0.25 + 10 * 0.25 + 6, "d3": 0.5 + 2 * 16})
    assert [doc for doc, _ in found] == ["d3", "d1", "d2"]


def test_lines_go_on_with_their_last_slope():
    settings = {"base": [0.0, 0.0], "weights": [[1.0, 0.0]] * 2,
                "maps": [[[1.0, 1.0], [3.0, 2.0]], [[1.0, 1.0]]]}  # fmt: skip
    recipe = Recipe(settings, {}, {}, {}, [])
    for signal, height in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 1.5), (5.0, 3.0)):
        assert recipe.score("d", (signal, 9.0)) == pytest.approx(height)


def test_grams_and_normalised_texts():
    assert normalise("  Xbox™ 360\tＧＢ Straße ") == "xbox 360 gb strasse"
    assert character_grams("it's a-b", 3, 3) == {
        "~_it", "~its", "~ts_", "~_a_", "~_b_", "~tsa", "~sab",
    }  # fmt: skip


def test_signals_are_those_of_the_models(shipped):
    """Vectors of unknown queries from the stored tables give the scores of `neighbours` and `bm25`."""
    engine = InMemory(shipped)
    for text in UNKNOWN:
        query = normalise(text)
        vector = engine.recipe.query_vector(query)
        borrowed = engine.recipe.borrowed_clicks(engine.similar_queries(vector, 100)) if vector else {}
        expected = dict(shipped.neighbours.search(text, 40).hits())
        if query in shipped.graph.queries.to_list():
            continue
        assert borrowed == pytest.approx(expected, rel=1e-4), text
        words = engine.recipe.document_words(query)
        shared = engine.match_documents(words, 40, []) if words else {}
        assert shared == pytest.approx(dict(shipped.words.search(text, 40).hits()), rel=1e-4), text


def test_unknown_tokens_are_split_at_punctuation(shipped):
    terms = shipped.recipe().terms
    assert terms("hotel/pizza") == ["hotel", "pizza"]
    assert terms("qwertz-hotel") == ["qwertz", "hotel"]


def test_known_queries_have_the_ranking_of_the_model(shipped, model):
    engine = InMemory(shipped)
    for query in model.graph_.queries.to_list()[::5]:
        assert engine.rank(query) == model.search(query, 10).hits()
    [block] = shipped.known_queries(3)
    clicks = model.graph_.clicks.row_sums()
    assert [clicks[model.graph_.queries.id(text)] for text in block.texts] == sorted(clicks, reverse=True)[:3]
    assert block.docs.shape[1] == min(N_RANKED, len(model.graph_.docs))
    only = InMemory(shipped, 3)
    assert Counter(bool(only.ranking(query)) for query in model.graph_.queries)[True] == 3


def test_loss_is_measured_on_queries_without_clicks_in_training():
    several = ClickGraph.from_clicks(planted.clicks(both_orders=True), planted.docs())
    loss = measure_loss(create(SPEC).fit(several))
    assert loss["queries"] == loss["known"]["queries"] + loss["unknown"]["queries"] > 5
    assert loss["unknown"]["queries"] > 0
    assert 0 < loss["as_shipped"] <= 1 and 0 < loss["in_coclick"] <= 1
    few = create("neighbours").fit(ClickGraph.from_clicks([("a b", "d", 1.0)], {"d": "a"}))
    assert "leaves no clicks" in measure_loss(few)["not_measured"]


def test_a_log_without_texts_is_shipped_by_borrowed_clicks_alone(tmp_path):
    model = create("rw").fit(ClickGraph.from_clicks(planted.clicks()))
    shipped = ShippedModel.from_model(model)
    engine = InMemory(shipped)
    assert engine.rank("hotel ny")
    borrowed = shipped.neighbours.search("hotel ny", 5).hits()
    assert [doc for doc, _ in engine.rank("hotel ny", 5)] == [doc for doc, _ in borrowed]
    export(model, "tantivy", tmp_path / "out", measure=False)


def test_forms_by_model_and_engine():
    every = {SPARSE, DENSE, SHIPPED}
    assert choose_form(create("vpcg"), every) == SPARSE
    assert choose_form(create("pls"), every) == DENSE
    assert choose_form(create("pls"), {SPARSE, SHIPPED}) == SHIPPED
    for spec in ("neighbours", "bm25sd_mult", SPEC, "0.8*rw + 0.2*bm25", "wtm"):
        assert choose_form(create(spec), every) == SHIPPED
        assert choose_form(create(spec), {SPARSE, DENSE}) is None
    assert choose_form(create("ltr"), every) is None
    assert choose_form(create("0.5*ltr + 0.5*bm25"), every) is None


def test_ltr_is_refused_with_what_to_do(tmp_path):
    model = create("ltr")
    model.graph_ = planted.graph()
    with pytest.raises(UserError, match="ltr cannot be exported to PostgreSQL") as error:
        export(model, "pgvector", tmp_path / "out")
    assert "ltr-opensearch" in error.value.hint and "--to rerank" in error.value.hint


def test_statistics_and_readme(tmp_path):
    model = create(SPEC).fit(ClickGraph.from_clicks(planted.clicks(both_orders=True), planted.docs()))
    stats = export(model, "pgvector", tmp_path / "out", queries=5)
    assert stats["form"] == SHIPPED and stats["queries"] == 5 and stats["model"] == str(model)
    readme = (tmp_path / "out/README.md").read_text()
    assert f"{stats['loss']['in_coclick']:.3f} | {stats['loss']['as_shipped']:.3f}" in readme
    samples = json.loads((tmp_path / "out/search/expected.json").read_text())
    assert {sample["known"] for sample in samples} == {True, False}
    for sample in samples[:5]:
        hits = model.search(sample["query"], 10).hits()
        assert [row["doc"] for row in sample["results"]] == [doc for doc, _ in hits]
    export(model, "pgvector", tmp_path / "quick", measure=False)
    assert "--no-measure" in (tmp_path / "quick/README.md").read_text()


def test_scores_of_known_queries_are_finite(shipped):
    for block in shipped.known_queries():
        assert np.isfinite(block.scores[block.docs >= 0]).all()
