"""How a combination learns: held-out clicks, maps and weights; and that it never ruins a good part."""

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create, train
from coclick.graph.click_graph import ClickGraph
from coclick.models.combination.held_out import HeldOutClicks
from coclick.models.combination.learning import MIN_WEIGHT, Example, learn, maximum_likelihood


def example(scores, gains, *, seen=False, clicked=None) -> Example:
    scores = np.array(scores, float)
    clicked = np.zeros(len(scores), bool) if clicked is None else np.array(clicked)
    return Example(scores, np.array(gains, float), seen, clicked)


def test_the_likelihood_has_its_maximum_where_it_must():
    """Three clicks of four on the document with the feature: odds of 3, so the coefficient is ln 3."""
    examples = [example([[1], [0]], gains) for gains in ([3, 1], [6, 2])]
    columns = np.concatenate([one.scores for one in examples])
    found = maximum_likelihood(columns, examples, np.array([-np.inf]), np.zeros(1), np.zeros((1, 1)))
    assert found == pytest.approx([math.log(3)], abs=1e-4)
    held = maximum_likelihood(columns, examples, np.array([2.0]), np.zeros(1), np.zeros((1, 1)))
    assert held == pytest.approx([2.0]), "not below the lowest"
    # With a prior around 5: 2 (w − 5) = Σ (share − P), where P = 1 / (1 + exp(−w)).
    [w] = maximum_likelihood(columns, examples, np.array([-np.inf]), np.array([5.0]), np.eye(1))
    assert 2 * (w - 5) == pytest.approx(2 * (0.75 - 1 / (1 + math.exp(-w))), abs=1e-4)


def test_too_few_examples_teach_nothing():
    one = example([[1, 1], [2, 0]], [0, 1])
    assert learn([one] * 4 + [example([[1, 1]], [0])]) is None
    assert learn([one] * 5) is not None
    assert learn([]) is None


def drawn_examples(n, useful, seed=0, **options):
    """Twenty candidates; the clicked one has the largest score of the useful part, which others lack."""
    numbers = np.random.default_rng(seed)
    for _ in range(n):
        scores = numbers.random((20, 3))
        gains = np.zeros(20)
        gains[np.argmax(scores[:, useful])] = 1
        yield example(scores, gains, **options)


def test_a_useful_part_gets_the_weight():
    learned = learn([*drawn_examples(60, 0), *drawn_examples(60, 2, seen=True)])
    assert learned is not None
    (unseen, _), (seen, _) = learned.weights
    assert unseen[0] > 5 * max(unseen[1:]) and seen[2] > 5 * max(seen[:2])
    assert min(map(min, (unseen, seen))) >= MIN_WEIGHT


def test_one_kind_of_queries_lends_its_weights_to_the_other():
    learned = learn([*drawn_examples(60, 0), *drawn_examples(3, 2, seen=True)])
    assert learned is not None
    assert np.argmax(learned.weights[0][0]) == np.argmax(learned.weights[1][0]) == 0


def test_documents_with_clicks_get_a_base_if_they_are_clicked_more():
    clicked = [True] * 10 + [False] * 10
    more = [example(np.ones((20, 2)), clicked, clicked=clicked) for _ in range(300)]
    less = [example(np.ones((20, 2)), [not one for one in clicked], clicked=clicked) for _ in range(300)]
    for examples, at in ((more, 1), (less, 0)):
        learned = learn(examples)
        assert learned is not None
        assert learned.base[0][at] > 0.5 and learned.base[0][1 - at] == 0


def test_weights_for_documents_with_and_without_clicks_are_drawn_to_each_other():
    """No candidate is without clicks: u minimises 15 (u − p)² + 50 (u − c)², so u = (15 p + 50 c) / 65."""
    learned = learn([*drawn_examples(60, 0, clicked=[True] * 20)])
    assert learned is not None
    without, with_clicks = learned.weights[0]
    assert abs(with_clicks[0] - 1) > 0.05
    for best, u, c in zip((1, 0, 0), without, with_clicks, strict=True):
        assert u == pytest.approx(max((15 * best + 50 * c) / 65, MIN_WEIGHT), abs=2e-3)


def test_knots_of_almost_equal_scores_are_left_out():
    numbers = np.random.default_rng(0)
    scores = [1 + 1e-6 * numbers.random((20, 1)) for _ in range(10)]
    learned = learn([example(one, np.arange(20)) for one in scores])
    assert learned is not None and len(learned.knots[0]) == 1


def test_held_out_clicks_are_not_in_the_graph_to_train_on():
    rng = random.Random(1)
    rows = [(f"query {q}", f"d{rng.randrange(60)}", rng.randint(1, 9)) for q in range(200) for _ in range(4)]
    graph = ClickGraph.from_clicks(rows, {f"d{d}": f"title {d}" for d in range(90)})
    held_out = HeldOutClicks.split(graph)
    rest = held_out.train
    known = {rest.queries[row]: dict(zip(*map(np.ndarray.tolist, rest.clicks.row(row)), strict=True))
             for row in range(len(rest.queries))}  # fmt: skip
    unseen = [query for query in held_out.gains if query not in known]
    assert 20 < len(unseen) < 70 and len(held_out.gains) > 100 and all(held_out.gains.values())
    for query, gains in held_out.gains.items():
        row = graph.queries.id(query)
        total = dict(zip(*map(np.ndarray.tolist, graph.clicks.row(row)), strict=True))
        for doc, gain in gains.items():
            kept = known.get(query, {}).get(doc, 0.0)
            assert round(math.exp(gain) - 1) + kept <= total[doc]
    with_clicks = (rest.clicks_by_doc.row_nnz() > 0).sum()
    assert 25 < with_clicks < 55, "a third of the 60 clicked documents loses its clicks"
    again = HeldOutClicks.split(ClickGraph.from_clicks(sorted(rows), graph_docs(graph)))
    assert again.gains == held_out.gains, "whatever the order of the log"


def graph_docs(graph):
    return {graph.docs[row]: graph.title(row) for row in range(len(graph.docs))}


def test_the_last_days_are_held_out_where_there_are_days():
    graph = planted.graph()
    assert graph.daily is not None
    graph = replace(graph, daily=replace(graph.daily, clicks=np.repeat(graph.clicks.data / 2, 2)))
    held_out = HeldOutClicks.split(graph)
    later = graph.split("time", 0.2).held_out
    assert held_out.train.daily is not None and {*held_out.train.daily.day.tolist()} == {100}, "not 101"
    seen = [query for query in held_out.gains if held_out.train.queries.id(query) >= 0]
    assert seen
    for query in seen:
        docs, clicks = later.row(graph.queries.id(query))
        assert held_out.gains[query] == pytest.approx(
            dict(zip(docs.tolist(), np.log1p(clicks).tolist(), strict=True))
        )


def test_parts_are_trained_once_for_several_combinations(monkeypatch):
    graph = planted.graph()
    held_out = HeldOutClicks.split(graph)
    parts = [train(spec, graph) for spec in ("clicks", "bm25")]
    fitted = []
    monkeypatch.setattr("coclick.models.combination.held_out.create",
                        lambda spec: fitted.append(spec) or create(spec))  # fmt: skip
    for spec in ("clicks + bm25", "backoff(clicks + bm25)"):
        model: Any = create(spec)
        model.assemble(graph, parts, held_out)
        assert model.calibration_ is not None
    assert fitted == ["clicks", "bm25"]


def misleading_log():
    """Words decide, and similar queries do not: each query wants the one document that has its number."""
    rng = random.Random(3)
    docs = {f"d{n}": f"{rng.choice(['door', 'lamp', 'sink'])} model n{n}" for n in range(600)}
    queries = {f"{title}": doc for doc, title in docs.items()}
    asked = rng.sample(sorted(queries), 200)
    clicks = [(query, queries[query], rng.randint(1, 3)) for query in asked[:120]]
    return ClickGraph.from_clicks(clicks, docs), {query: queries[query] for query in asked[120:]}


def first_place(model, wanted):
    found = model.search(list(wanted), 1)
    return np.mean([hits[0][0] == doc for hits, doc in zip(found.hits(), wanted.values(), strict=True)])


def test_a_bad_part_does_not_ruin_a_good_one():
    """The nearest queries share "door model": their documents would come first if clicks had the same say."""
    graph, wanted = misleading_log()
    assert first_place(train("bm25", graph), wanted) == 1
    assert first_place(train("0.7*neighbours + 0.3*bm25", graph), wanted) < 0.5
    for spec in ("backoff(neighbours + bm25)", "neighbours + bm25", "backoff(neighbours + vpcg + bm25)"):
        assert first_place(train(spec, graph), wanted) >= 0.97


def test_a_part_that_cannot_be_trained_on_fewer_clicks_leaves_equal_weights():
    graph = ClickGraph.from_clicks([("a", "x", 1)], {"x": "a", "y": "b"})
    model: Any = train("clicks + bm25", graph)
    assert model.calibration_ is None
    assert model.search("a").hits()[0] == ("x", pytest.approx(2.0))
