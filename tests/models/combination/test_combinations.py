"""Combinations: sums by hand from the scores of the parts, specifications, and errors."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import planted
from coclick import create, open_model, train
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.combination.mix import Mix

GRAPH = ClickGraph.from_clicks(
    [("ny hotel", "a", 8), ("ny hotel", "b", 2), ("rare", "b", 1)],
    {"a": "grand hotel", "b": "hotel bar", "c": "bar bar grand"},
)


def test_a_mix_by_hand():
    """Clicks 8 and 2 divided by 8; popularity 8 and 3 divided by 8: 0.75 + 0.25 and 0.1875 + 0.09375."""
    model = train("0.75*clicks + 0.25*popularity", GRAPH)
    assert model.search("ny hotel").hits() == [("a", 1.0), ("b", pytest.approx(0.28125))]
    assert model.search("never seen").hits() == [("a", 0.25), ("b", pytest.approx(0.09375))]


def test_backoff_by_hand():
    """ "rare" has one click: weight 1/2; "ny hotel" has ten: 10/11. Popularity always has weight 1."""
    model = train("backoff(clicks + 0.5*popularity)", GRAPH)
    assert dict(model.search("rare").hits()) == {
        "a": pytest.approx(0.5),
        "b": pytest.approx(0.5 + 0.5 * 3 / 8),
    }
    assert dict(model.search("ny hotel").hits())["a"] == pytest.approx(10 / 11 + 0.5)
    assert model.evidence("nobody asked this") == {"parts": 1.0}, "that of the best part"
    assert model.confidence("rare") == 0.5 and model.confidence("nobody asked this") == 0


def test_maxima_are_over_the_whole_collection():
    model: Any = train("0.8*clicks + 0.2*bm25", planted.graph())
    query = "hotel"
    [asked] = model._queries(query)
    bm25, clicks = model.parts_[1]._score_all(asked), model.parts_[0]._score_all(asked)
    expected = 0.8 * clicks / clicks.max() + 0.2 * bm25 / bm25.max()
    docs = list(model.graph_.docs)
    np.testing.assert_allclose(model.score([query], [docs])[0], expected, rtol=1e-6)
    np.testing.assert_allclose(model.score([query], [docs[5:6]])[0], expected[5:6], rtol=1e-6)


def of_itself(part, names, find):
    """The median similarity of a name with itself, over all names: a sample of 32 has all of them."""
    assert len(names) <= 32
    if find == "similar_docs":
        return float(np.median(part._similar_docs(part.rows_of_docs(names), 1)[1]))
    return float(np.median(part._similar_queries(part._queries(names), 1)[1]))


def test_similarities_are_added_on_one_scale():
    """Each is divided by what the part has for a query with itself: one far from all has little say."""
    graph = planted.graph()
    queries = [query for query in graph.queries if len(graph.clicks.row(graph.queries.id(query))[0])][:32]
    graph = ClickGraph.from_clicks([row for row in planted.clicks() if row[0] in queries], planted.docs())
    parts = train("vpcg", graph), train("pls(dim=4)", graph)
    mix = Mix("0.6*vpcg + 0.4*pls(dim=4)").assemble(graph, parts)
    scales = [of_itself(part, list(graph.queries), "similar_queries") for part in parts]
    assert abs(scales[0] - scales[1]) > 1e-3, "the scales matter"
    for query in [*graph.queries, "hotel shoe"]:
        total: Counter[str] = Counter()
        for weight, part, scale in zip((0.6, 0.4), parts, scales, strict=True):
            for other, score in part.similar_queries(query, 1000).hits():
                total[other] += weight * score / scale
        best = sorted(total.values(), reverse=True)[:3]
        assert [score for _, score in mix.similar_queries(query, 3).hits()] == pytest.approx(best, rel=1e-5)


def test_other_parts_are_refused():
    with pytest.raises(UserError, match="is not made of bm25, clicks"):
        Mix("0.6*clicks + 0.4*bm25").assemble(GRAPH, [train("bm25", GRAPH), train("clicks", GRAPH)])


def test_an_explanation_names_the_query_the_document_and_the_parts():
    """Half of the clicks, 2 of 8, and half of the popularity, 3 of 8."""
    why = train("0.5*clicks + 0.5*popularity", GRAPH).explain("ny hotel", "b")
    assert (why.query, why.doc, why.score) == ("ny hotel", "b", pytest.approx(0.125 + 0.1875))
    assert [(part.kind, part.label) for part in why.parts] == [("model", "clicks"), ("model", "popularity")]
    assert [part.value for part in why.parts] == pytest.approx([0.125, 0.1875])


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("0.8*clicks+.2*bm25", "0.8*clicks + 0.2*bm25"),
        ("bm25+vpcg( max_terms = 5 )", "bm25 + vpcg(max_terms=5)"),
        (
            "backoff( 1*bm25 + 0.50*vpcg(start=doc,max_terms=9) )",
            "backoff(bm25 + 0.5*vpcg(start=doc,max_terms=9))",
        ),
        ("0.5*(bm25)", None),
        ("0*bm25 + clicks", None),
        ("-1*bm25 + clicks", None),
        ("2*3*bm25 + clicks", None),
        ("bm25 +", None),
        ("x*bm25 + clicks", None),
        ("bm25 + clcks", None),
        ("backoff()x", None),
    ],
)
def test_specifications(spec, name):
    if name is None:
        with pytest.raises(UserError):
            create(spec)
    else:
        assert str(create(spec)) == name
        assert str(create(name)) == name


def test_a_part_with_unmet_requirements_is_refused(monkeypatch):
    from coclick.models.click_graph.clicks import Clicks

    monkeypatch.setattr(Clicks, "requires", ("sessions",))
    with pytest.raises(UserError, match="needs sessions"):
        train("bm25 + clicks", GRAPH)


def test_similarities_of_documents_are_added_on_one_scale():
    graph = ClickGraph.from_clicks([row for row in planted.clicks() if row[1][-1] in "123"], planted.docs())
    clicked = [graph.docs[i] for i in np.flatnonzero(graph.clicks_by_doc.row_nnz()).tolist()]
    parts = train("vpcg", graph), train("cos_clicks", graph), train("bm25", graph)
    mix = Mix("0.6*vpcg + 0.4*cos_clicks + bm25").assemble(graph, parts)
    scales = [of_itself(part, clicked, "similar_docs") for part in parts[:2]]
    for docs in (["hotel-1"], ["hotel-1", "shoe-2"]):
        run = mix.similar_docs(docs, 3)
        for i, doc in enumerate(docs):
            total: Counter[str] = Counter()
            for weight, part, scale in zip((0.6, 0.4), parts, scales, strict=False):  # bm25 knows none
                for other, score in part.similar_docs(doc, 1000).hits():
                    total[other] += weight * score / scale
            best = sorted(total.values(), reverse=True)[:3]
            assert [score for _, score in run.hits(i)] == pytest.approx(best, rel=1e-5)


def test_similarities_of_a_backoff_are_weighted_by_the_confidence_in_the_query():
    graph = ClickGraph.from_clicks([("a b", "x", 1), ("a", "x", 3), ("b", "y", 5)])
    model: Any = train("backoff(rw + cos_clicks)", graph)
    [found] = model.similar_queries(["a b"]).hits()
    values = [
        dict(part.similar_queries("a b"))["a"] / of_itself(part, list(graph.queries), "similar_queries")
        for part in model.parts_
    ]
    assert dict(found) == pytest.approx({"a": 0.5 * sum(values)}, rel=1e-5)


def test_parts_give_as_many_similar_results_as_are_asked_for(monkeypatch):
    """At least k, even if that is more than usual: a part's 3rd may be the sum's 2nd."""
    graph = planted.graph()
    parts = train("vpcg", graph), train("cos_clicks", graph)
    mix = Mix("0.6*vpcg + 0.4*cos_clicks").assemble(graph, parts)
    queries, docs = mix.similar_queries("hotel", 30).hits(), mix.similar_docs("hotel-1", 30).hits()
    assert len(queries) > 5 and len(docs) > 5
    monkeypatch.setattr("coclick.models.combination._base._SIMILAR", 2)
    assert mix.similar_queries("hotel", 30).hits() == queries
    assert mix.similar_docs("hotel-1", 30).hits() == docs
    asked: list[int] = []

    def other_docs(_, docs, k):
        asked.append(k)
        return parts[1]._other_docs(docs, k)

    monkeypatch.setattr(type(parts[0]), "_other_docs", other_docs)
    monkeypatch.setattr("coclick.models.combination._base._SIMILAR", 7)
    mix.similar_docs("hotel-1", 3)
    mix.similar_docs("hotel-1", 9)
    assert asked == [7, 10], "one more, for the document itself"


def test_texts_are_scored_by_the_maxima_of_known_documents():
    """bm25 scores "hotel" twice as high in the new text as the best known one at most."""
    model: Any = train("0.5*bm25 + 0.5*bm25(b=0)", GRAPH)
    texts = ["hotel hotel", "bar", ""]
    parts = [part.score_texts("hotel", texts) for part in model.parts_]
    highest = [max(score for _, score in part.search("hotel").hits()) for part in model.parts_]
    expected = 0.5 * parts[0] / highest[0] + 0.5 * parts[1] / highest[1]
    np.testing.assert_allclose(model.score_texts("hotel", texts), expected, rtol=1e-6)
    assert model.score_texts("nothing known", texts).tolist() == [0, 0, 0]


def test_explanations_of_parts_are_scaled():
    model: Any = train("0.75*bm25 + 0.25*clicks", GRAPH)
    why = model.explain("ny hotel", "a")
    inner = model.parts_[0].explain("ny hotel", "a")
    highest = max(score for _, score in model.parts_[0].search("ny hotel").hits())
    bm25, clicks = why.parts
    assert [part.value for part in bm25.parts] == pytest.approx(
        [0.75 / highest * part.value for part in inner.parts]
    )
    assert clicks.parts == []
    nested = train("0.5*mix(0.5*bm25 + 0.5*clicks) + 0.5*clicks", GRAPH).explain("ny hotel", "a")
    assert sum(p.value for p in nested.parts[0].parts) == pytest.approx(nested.parts[0].value)
    assert sum(p.value for p in nested.parts[0].parts[0].parts) == pytest.approx(
        nested.parts[0].parts[0].value
    )
    none = model.explain("unknown", "a")
    assert [(part.value, part.parts) for part in none.parts] == [(0.0, []), (0.0, [])]


def test_a_combination_can_do_what_its_parts_can():
    def able(spec):
        return create(spec).capabilities & {"add", "similar", "unseen_queries", "unseen_docs", "explain"}

    assert able("bm25 + vpcg") == {"add", "similar", "unseen_queries", "unseen_docs", "explain"}
    assert able("bm25 + clicks") == {"unseen_queries", "unseen_docs", "explain"}
    assert able("clicks + rw") == {"similar", "explain"}
    assert create("bm25 + ctr").requires == ("impressions", "sessions", "texts")
    assert create("popularity + popularity").uses_query is False
    assert create("popularity + clicks").uses_query is True
    assert train("clicks + rw", GRAPH).capabilities == create("clicks + rw").capabilities


def test_documents_are_added_to_every_part():
    model: Any = train("0.5*bm25 + 0.5*vpcg", GRAPH)
    larger = model.add({"n": "ny hotel"})
    again = larger.add({"m": "bar", "o": "grand"})
    assert (larger.stats_["added"], again.stats_["added"]) == (1, 3)
    assert all(part.graph_ is again.graph_ for part in again.parts_)
    assert [len(part.graph_.docs) for part in model.parts_] == [3, 3]
    assert "n" in dict(larger.search("hotel")) and larger.artefact_ is None
    with pytest.raises(UserError, match="cannot"):
        train("bm25 + clicks", GRAPH).add({"n": "hotel"})
    with pytest.raises(UserError, match="no user view"):
        model.add({"n": "hotel"}, {"tags": {"n": {"x": 1.0}}})


def test_an_added_combination_belongs_to_the_file_that_it_was_opened_from(tmp_path):
    train("0.5*bm25 + 0.5*vpcg", GRAPH).save(tmp_path / "model")
    opened = open_model(tmp_path / "model")
    assert opened.add({"n": "hotel"}).artefact_ is opened.artefact_ is not None


def test_user_views_are_those_of_the_parts():
    rows, features = ["a", "b"], scipy.sparse.csr_array([[1.0, 0], [0, 1.0]])
    queries = (["ny hotel", "rare"], features)
    graph = GRAPH.with_view("tags", queries, (rows, features)).with_view("more", queries, (rows, features))
    model: Any = train("0.5*pls(views=tags,dim=2) + 0.5*pls(views=more+words,dim=2)", graph)
    assert model.user_views == {"tags", "more"}
    given = {"tags": {"n": {"0": 1.0}}, "more": {"n": {"1": 1.0}}}
    larger = model.add({"n": "hotel"}, given)
    for part, view in zip(larger.parts_, ("tags", "more"), strict=True):
        assert part.user_views == {view}
        assert part.doc_features_.row_nnz()[-1] >= 1


def test_how_a_sum_of_one_is_written():
    assert str(create("mix(bm25)")) == "mix(bm25)"
    assert str(create("mix(0.5*bm25)")) == "mix(0.5*bm25)"
    assert str(create("mix(bm25 + clicks)")) == "bm25 + clicks"
    assert str(create("backoff(bm25)")) == "backoff(bm25)"
