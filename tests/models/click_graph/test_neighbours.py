"""`neighbours` against its formula in plain Python, over sets of n-grams and words."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coclick import create
from coclick.graph.click_graph import ClickGraph

WORDS = ["hotel", "hotell", "cheap", "new", "york", "newyork", "card", "credit", "storm", "is"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
clicks = st.dictionaries(
    st.tuples(texts, st.sampled_from([f"d{i}" for i in range(6)])),
    st.integers(1, 40),
    min_size=2,
    max_size=25,
)


def n_grams(text):
    """3–4 characters of each word between edge marks, and of all words run together."""
    pieces = [f"_{word}_" for word in text.split()] + ["".join(text.split())]
    return {piece[i : i + n] for piece in pieces for n in range(3, 5) for i in range(len(piece) - n + 1)}


def cosine(a, b, known):
    """The cosine of two sets, weighted by idf, ln(1 + N / number of known sets with the item)."""

    def squares(items):
        held = [sum(item in other for other in known) or 1 for item in items]
        return sum(math.log(1 + len(known) / count) ** 2 for count in held)

    return squares(a & b) / math.sqrt(squares(a) * squares(b))


def similarities(query, seen, share):
    grams, words = [n_grams(text) for text in seen], [set(text.split()) for text in seen]
    return {
        text: (1 - share) * cosine(n_grams(query), grams[i], grams)
        + share * cosine(set(query.split()), words[i], words)
        for i, text in enumerate(seen)
    }


@settings(max_examples=40)
@example(rows={("hotel", "d0"): 1, ("hotell", "d0"): 1}, query="hotel cheap cheap", share=0.4)
@given(rows=clicks, query=texts, share=st.sampled_from([0.0, 0.4, 1.0]))
def test_scores_by_the_formula(rows, query, share):
    graph = ClickGraph.from_clicks([(text, doc, count) for (text, doc), count in rows.items()])
    model = create(f"neighbours(word_weight={share},power=3,stem=false)").fit(graph)
    alike = similarities(query, sorted({text for text, _ in rows}), share)
    expected = dict.fromkeys(graph.docs, 0.0)
    for (text, doc), count in rows.items():
        expected[doc] += alike[text] ** 3 * math.log(1 + count)
    [scores] = model.score([query], [list(expected)])
    assert scores.tolist() == pytest.approx(list(expected.values()), rel=1e-4, abs=1e-6)
    similar = dict(model.similar_queries(query, 100).hits())
    assert similar == pytest.approx(
        {text: value for text, value in alike.items() if value > 0 and text != query}, rel=1e-4
    )
    support = sum(count for (text, _), count in rows.items() if alike[text] > 0)
    assert model.evidence(query) == pytest.approx(
        {"similarity": max(alike.values()), "support": support / (support + 1)}, rel=1e-4, abs=1e-6
    )


ROWS = [("cheap hotel", "a", 3), ("cheap hotels", "b", 7), ("cheap hotels", "a", 1), ("q9", "c", 5)]


def test_only_the_nearest_neighbours_count():
    """A seen query is its own nearest neighbour: with one neighbour, only its own clicks count."""
    model = create("neighbours(n_neighbours=1)").fit(ClickGraph.from_clicks(ROWS))
    assert dict(model.search("cheap hotels").hits()) == pytest.approx({"b": math.log(8), "a": math.log(2)})
    assert [doc for doc, _ in model.search("cheep hotels").hits()] == ["b", "a"]
    assert model.search("xyz").hits() == []
    assert model.evidence("xyz") == {"similarity": 0, "support": 0}


def test_an_explanation_lists_the_neighbours():
    model = create("neighbours").fit(ClickGraph.from_clicks(ROWS))
    why = model.explain("cheap hotel", "a")
    assert [(part.kind, part.label) for part in why.parts] == [
        ("borrowed query", "cheap hotel"),
        ("borrowed query", "cheap hotels"),
    ]
    assert why.parts[0].value == pytest.approx(math.log(4))
    assert [(click.query, click.doc, click.clicks, click.share) for click in why.parts[1].clicks] == [
        ("cheap hotels", "a", 1.0, 1.0)
    ]
    assert model.explain("cheap hotel", "c").parts == []


def test_similar_documents_by_hand():
    """a = ln 4 of the first query and ln 2 of the second, b = ln 8 of the second."""
    model = create("neighbours").fit(ClickGraph.from_clicks(ROWS))
    expected = math.log(2) / math.hypot(math.log(4), math.log(2))
    assert model.similar_docs("b").hits() == [("a", pytest.approx(expected))]
    assert model.similar_docs("c").hits() == []


def test_neighbours_are_cached_per_query_and_model():
    model = create("neighbours").fit(ClickGraph.from_clicks(ROWS))
    one, other = (create("neighbours").fit(ClickGraph.from_clicks(ROWS)).evidence(q) for q in ("q9", "cheap"))
    assert [model.evidence(query) for query in ("q9", "q9", "cheap", "q9")] == [one, one, other, one]
    model.similar_queries("cheap hotel", 1)
    assert len(model.similar_queries("cheap hotel", 2).hits()) == 1
    assert [doc for doc, _ in model.fit(ClickGraph.from_clicks([("q9", "z", 1)])).search("q9").hits()] == [
        "z"
    ]
    model.fit(ClickGraph.from_clicks(ROWS))
    assert model.evidence("q9") == one


def test_queries_of_one_word():
    """The only word is in both queries, so both are equally similar by words."""
    rows = [("hotel", "a", 3), ("hotel hotel", "b", 1)]
    model = create("neighbours(word_weight=1)").fit(ClickGraph.from_clicks(rows))
    assert dict(model.search("hotel").hits()) == pytest.approx({"a": math.log(4), "b": math.log(2)})


def test_a_query_is_its_own_nearest_neighbour_among_equals():
    """Two letters are too few for an n-gram of both: the vectors are equal, and the first query wins ties."""
    model = create("neighbours(n_neighbours=1)").fit(
        ClickGraph.from_clicks([("a b", "x", 3), ("b a", "y", 1)])
    )
    assert dict(model.search("b a").hits()) == pytest.approx({"y": math.log(2)})
    assert dict(model.search("a b").hits()) == pytest.approx({"x": math.log(4)})


def test_many_queries_at_once_are_like_each_alone():
    """Known words, unknown ones, repeated ones, none: in one search as in several."""
    model = create("neighbours(stem=false)").fit(ClickGraph.from_clicks(ROWS))
    asked = ["cheap zzz zzz yyy", "hotel", "zzz zzz", "", "cheap cheap xxx xxx xxx hotels"]
    for query, hits in zip(asked, model.search(asked).hits(), strict=True):
        assert model.search(query).hits() == hits
    grams, words = [n_grams(text) for text in SEEN], [set(text.split()) for text in SEEN]
    for query in (asked[0], asked[4]):
        expected = {
            text: 0.6 * cosine(n_grams(query), grams[i], grams)
            + 0.4 * cosine(set(query.split()), words[i], words)
            for i, text in enumerate(SEEN)
        }
        found = dict(model.similar_queries([*asked, query], 10).hits(len(asked)))
        assert found == pytest.approx({text: value for text, value in expected.items() if value}, rel=1e-4)


SEEN = ["cheap hotel", "cheap hotels", "q9"]


def test_a_similarity_is_at_most_1():
    """Rounding would make some larger."""
    texts = [f"{first} {second}" for first in WORDS for second in WORDS if first != second]
    model = create("neighbours").fit(ClickGraph.from_clicks([(text, "d", 1) for text in texts]))
    assert max(model.evidence(f"{text} ")["similarity"] for text in texts) == 1.0
    assert max(score for text in texts for _, score in model.similar_queries(f"{text}  {text}", 3)) <= 1.0


def test_as_many_neighbours_as_wanted():
    rows = [(f"hotel {i}", f"d{i}", 1) for i in range(6)]
    for count in (1, 2, 4):
        model = create(f"neighbours(n_neighbours={count})").fit(ClickGraph.from_clicks(rows))
        assert len(model.search("hotel 0", 10).hits()) == count, "itself is one of them"
        assert len(model.search("hotel", 10).hits()) == count
        assert len(model.similar_queries("hotel 3", count).hits()) == count, "itself is not counted"
