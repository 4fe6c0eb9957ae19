"""The contract of all models: tests that run for every registered model.

A new model is found through the registry. What it does not support, by its own declaration, it must refuse
with a clear error.
"""

import json
import random
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create, model_names, open_model
from coclick.errors import ArtefactError, CoclickError, UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.combination._base import Combination
from coclick.models.registry import model_class
from coclick.models.spec import choices, parameter_types, parameters_of, ranges

# With as many dimensions as queries or documents, no two queries of a small graph are similar.
FEWER = {"lsi_qd": "lsi_qd(dim=5)"}
MODELS = [
    *(FEWER.get(name, name) for name in model_names()),
    "0.8*clicks + 0.2*bm25",
    "backoff(clicks + vpcg(start=doc) + 0.5*bm25)",
    "pls(dim=10,views=clicks)",
    "mpls(dim=20,views=title+chars+clicks)",
    "pls(dim=20,index=approximate)",
]
# Presets have sizes for the papers' logs. The planted one has fewer dimensions and topics, other fields and
# other click counts. Maps that start at random (`rmls`, `svdfeature`) need more dimensions than others.
SMALL = {"dim": 10, "n_topics": 10, "fields": "all", "query_threshold": 1e-4, "doc_threshold": 1e-4}
SMALL_DIM = {"lsi_qd": 5, "rmls": 50, "svdfeature": 20}


def small_presets():
    """The specifications of all presets, each set of parameters once: some papers use the same."""
    known = [create(name) for name in MODELS]
    for model_name in model_names():
        for preset, settled in model_class(model_name).presets.items():
            sizes = SMALL | {"dim": SMALL_DIM.get(model_name, SMALL["dim"])}
            chosen = [f"{key}={value}" for key, value in sizes.items() if key in settled.parameters]
            spec = f"{model_name}({','.join([f'preset={preset}', *chosen])})"
            if (model := create(spec)) not in known:
                known.append(model)
                yield spec


MODELS += small_presets()
QUERIES = list(planted.TOPICS)  # the topic's name, which its queries and titles share
WEIRD = [
    "",
    " ",
    "\t\n",
    "zzzz qqqq xxxx",
    "hotel " * 5000,
    "a" * 10_000,
    "🏨🏨🏨",
    "ホテル ニューヨーク",
    "هتل رخيص",
    "'; DROP TABLE docs; --",
    "<script>alert(1)</script>",
    "\u0301\u0301",
    "a\ud800b",
    "\x00\x01",
    "HÔTEL",
]


# `make quick` runs one model of each family through the contract, `make test` all of them.
QUICK = ("bm25", "clicks", "vpcg", "neighbours", "pls", "wtm")


@pytest.fixture(
    scope="module",
    params=[name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS],
)
def name(request):
    return request.param


def planted_rows(name):
    """The clicks to train a model on.

    `vpcg(preset=paper)` finds the weights of n-grams by least squares without a prior. A word that is always
    beside "the" gives them no solution: "hotel" may weigh −1 if "hotel the" and "the hotel" weigh 2.
    """
    return planted.clicks(both_orders=name.startswith("vpcg(preset"))


def planted_graph(name, rows=None, docs=None):
    """The graph to train a model on.

    `ssi(preset=wu2013)` learns from skip pairs alone. Those of the planted history are inside topics, and
    teach nothing about topics.
    """
    graph = ClickGraph.from_clicks(rows or planted_rows(name), docs or planted.docs())
    graph = planted.with_history(graph)
    return planted.with_skips_across_topics(graph) if name.startswith("ssi(preset") else graph


@pytest.fixture(scope="module")
def graph(name, tmp_path_factory):
    return planted_graph(name).save(tmp_path_factory.mktemp("planted") / "graph")


@pytest.fixture(scope="module")
def model(name, graph):
    return create(name).fit(graph)


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    model.save(path)
    return path


def search_all(model, queries=(*QUERIES, "hotel the stay", "never seen")):
    run = model.search(list(queries), 100)
    return [run.hits(i) for i in range(len(queries))]


def test_planted_topic_first(model):
    for topic in QUERIES:
        best = model.search(topic, 3).hits()
        assert best, topic
        if model.uses_query:
            assert [planted.topic_of(doc) for doc, _ in best] == [topic] * len(best)
        else:
            assert best == model.search("something else", 3).hits()


def test_ranking_is_sorted_positive_and_without_duplicates(model):
    for hits in search_all(model):
        scores = [score for _, score in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        assert len({doc for doc, _ in hits}) == len(hits)


def test_unseen_queries(model):
    for topic, (words, _) in planted.TOPICS.items():
        unseen = f"{words[2]} {topic} best"
        assert model.graph_.queries.id(unseen) == -1
        hits = model.search(unseen, 2).hits()
        if "unseen_queries" in model.capabilities and model.uses_query:
            assert [planted.topic_of(doc) for doc, _ in hits] == [topic] * 2
        elif "unseen_queries" not in model.capabilities:
            assert hits == []


def test_documents_without_clicks(model):
    never_clicked = {f"{topic}-{i}" for topic in planted.TOPICS for i in (6, 7)}
    for topic, (words, _) in planted.TOPICS.items():
        found = {doc for doc, _ in model.search(f"{topic} {words[2]}", 100).hits()}
        if "unseen_docs" in model.capabilities:
            assert f"{topic}-6" in found
        else:
            assert not found & never_clicked


def test_batch_equals_single(model):
    queries = [*QUERIES, "unknown thing", "hotel the stay"]
    run = model.search(queries, 7)
    for i, query in enumerate(queries):
        assert run.hits(i) == model.search(query, 7).hits()


def test_scores_and_evidence_of_many_queries(model):
    """What is computed for a block of queries is what is computed for each; some words are unknown."""
    texts = [*model.graph_.queries, *QUERIES, "", "never seen shoe", "unknown thing", "hotel the stay"]
    together = model._score_all_of(model._queries(texts))
    evidence = model._evidence_of(model._queries(texts))
    assert together.dtype == np.float32
    for i, query in enumerate(model._queries(texts)):
        np.testing.assert_allclose(together[i], model._score_all(query), rtol=1e-5, atol=1e-6)
        assert evidence[i] == pytest.approx(model._evidence(query))


def test_confidence(model):
    """Near 1 for a query clicked often, at most half for an unseen one, 0 if no word is known."""
    graph = model.graph_
    often = graph.queries[int(np.argmax(graph.clicks.row_sums()))]
    known = [model.confidence(often), model.confidence("mozzarella fever"), model.confidence("zzzz qqqq")]
    assert known[2] == 0
    assert 0 <= known[1] <= 0.5
    learns = [part for part in getattr(model, "parts_", [model]) if part.uses_clicks and part.uses_query]
    if learns:
        assert known[0] > 0.9
    else:
        assert known[0] <= 0.5, "a model that reads no clicks has none as evidence"
    if "unseen_queries" in model.capabilities and model.uses_query:
        assert known[1] > 0 or not model.search("mozzarella fever", 5).hits()


def test_score_equals_search(model):
    for query in [*QUERIES, "pizza the dough", "never seen shoe"]:
        hits = model.search(query, 100).hits()
        docs = [doc for doc, _ in hits]
        [scores] = model.score([query], [docs])
        assert scores.tolist() == [score for _, score in hits]


def test_score_does_not_depend_on_other_candidates(model):
    docs = list(model.graph_.docs)
    [together] = model.score([QUERIES[0]], [docs])
    alone = [model.score([QUERIES[0]], [[doc]])[0][0] for doc in docs]
    assert together.tolist() == [float(score) for score in alone]
    [[unknown]] = model.score([QUERIES[0]], [["no such document"]])
    assert unknown == 0
    [nothing] = model.score([QUERIES[0]], [[]])
    assert len(nothing) == 0


def test_saved_and_opened_model_is_equal(model, saved, graph):
    opened = open_model(saved, graph)
    assert search_all(opened) == search_all(model)
    assert str(opened) == str(model)
    assert opened.stats_ == json.loads(json.dumps(model.stats_))


def test_model_is_self_contained(model, name, tmp_path):
    path = tmp_path / "graph"
    create(name).fit(planted_graph(name).save(path)).save(tmp_path / "model")
    for file in path.iterdir():
        file.unlink()
    assert search_all(open_model(tmp_path / "model")) == search_all(model)


def test_same_seed_gives_the_same_ranking(model, name, graph):
    assert search_all(create(name).fit(graph)) == search_all(model)


def test_permuted_input_gives_the_same_scores(model, name):
    rows, docs = planted_rows(name), list(planted.docs().items())
    random.Random(5).shuffle(rows)
    random.Random(6).shuffle(docs)
    shuffled = create(name).fit(planted_graph(name, rows, dict(docs)))
    for ours, theirs in zip(search_all(model), search_all(shuffled), strict=True):
        assert [doc for doc, _ in ours] == [doc for doc, _ in theirs]
        np.testing.assert_allclose([s for _, s in ours], [s for _, s in theirs], rtol=1e-5)


@contextmanager
def _step(steps, what, total=None):
    assert isinstance(what, str) and what
    assert total is None or (isinstance(total, int | np.integer) and total >= 0)
    rows = []
    yield rows.append
    steps.append((what, total, rows))


def test_progress_is_reported(name, graph):
    """Every step has a name; one with a total counts up, and past its total only where that is a guess."""
    steps: list[Any] = []
    create(name).fit(graph, partial(_step, steps))
    for what, total, rows in steps:
        assert all(row >= 0 for row in rows)
        if total is None:
            assert not rows
        elif what == "singular vectors":  # the number of products is not known before
            assert sum(rows) > 0
        elif what in ("propagation", "unit vectors"):
            assert sum(rows) == total, what
        elif total:
            assert 0 < sum(rows) <= total, what


@pytest.mark.parametrize("query", WEIRD, ids=lambda query: repr(query[:12]))
def test_weird_queries_never_raise(model, query):
    hits = model.search(query, 5).hits()
    assert len(hits) <= 5
    assert all(np.isfinite(score) for _, score in hits)
    [scores] = model.score([query], [["hotel-0", "shoe-1"]])
    assert np.isfinite(scores).all()


def test_k_is_clipped_and_checked(model):
    run = model.search(QUERIES[0], 10**9)
    assert run.rows.shape == (1, len(model.graph_.docs))
    with pytest.raises(UserError, match="k must be"):
        model.search(QUERIES[0], 0)


def test_allowed_and_blocked_documents(model):
    hits = model.search(QUERIES[0], 100).hits()
    some = [doc for doc, _ in hits[1::2]]
    assert model.search(QUERIES[0], 100, allow=some).hits() == hits[1::2]
    assert model.search(QUERIES[0], 100, block=some).hits() == hits[0::2]
    assert model.search(QUERIES[0], 100, allow=[]).hits() == []
    assert model.search(QUERIES[0], 1, allow=[*some, "no such document"]).hits() == hits[1:2]


def test_requirements_are_checked(name):
    bare = ClickGraph.from_clicks([("hotel", "hotel-0", 1)])
    for need in create(name).requires:
        assert need not in bare.provides
        with pytest.raises(UserError, match="needs"):
            create(name).fit(bare)


def test_wrong_graph_is_refused(saved, tmp_path):
    other = planted.graph(seed=99).save(tmp_path / "other")
    with pytest.raises(ArtefactError, match="graph"):
        open_model(saved, other)


def test_similar(model):
    if "similar" not in model.capabilities:
        with pytest.raises(UserError, match="cannot"):
            model.similar_queries(QUERIES[0])
        with pytest.raises(UserError, match="cannot"):
            model.similar_docs("hotel-0")
        return
    for words, _ in planted.TOPICS.values():
        own = {query for query in model.graph_.queries if query.split()[0] in words}
        hits = model.similar_queries(words[1], 3).hits()
        assert words[1] not in {query for query, _ in hits}
        assert {query for query, _ in hits} <= own
    for topic in planted.TOPICS:
        hits = model.similar_docs(f"{topic}-1", 3).hits()
        assert f"{topic}-1" not in {doc for doc, _ in hits}
        assert {planted.topic_of(doc) for doc, _ in hits} == {topic}
    for query in WEIRD:
        assert len(model.similar_queries(query, 3).hits()) <= 3
    with pytest.raises(UserError, match="no document"):
        model.similar_docs("no such document")


def test_expand(model):
    if "expand" not in model.capabilities:
        with pytest.raises(UserError, match="cannot"):
            model.expand(QUERIES[0])
        return
    words = model.expand(QUERIES[1])
    assert QUERIES[1] in {word for word, _ in words}
    assert [weight for _, weight in words] == sorted((weight for _, weight in words), reverse=True)
    for query in WEIRD:
        assert all(weight > 0 for _, weight in model.expand(query))


def test_expand_docs(model):
    """Words of the document's topic are among the first, but not those of its title."""
    if "expand_docs" not in model.capabilities:
        with pytest.raises(UserError, match="cannot expand documents"):
            model.expand_docs("hotel-1")
        return
    found = model.expand_docs(["hotel-1", "pizza-1"], 3)
    for topic, words in zip(("hotel", "pizza"), found, strict=True):
        text = planted.docs()[f"{topic}-1"].lower().split()
        assert not {word for word, _ in words} & set(text)
        weights = [weight for _, weight in words]
        assert weights == sorted(weights, reverse=True) and all(weight > 0 for weight in weights)
        if model.name not in ("cl_lsa", "lsa", "lsi_dt", "plsa"):  # these learn no words of queries
            assert {word for word, _ in words} & {*planted.TOPICS[topic][0], *planted.TOPICS[topic][1]}
    if model.name in (
        "cl_lsa",
        "lsa",
        "lsi_dt",
    ):  # words that the titles lack have no weight but rounding errors
        return
    among_all = model.expand_docs(k=3).hits(model.graph_.docs.id("hotel-1"))
    assert dict(among_all) == pytest.approx(dict(found.hits(0)), rel=1e-4)
    with_own = model.expand_docs("hotel-1", 40, new=False)
    assert {word for word, _ in with_own} >= {word for word, _ in found.hits(0)}
    explained = model.explain_expansion("hotel-1", 3)
    assert {part.label: part.value for part in explained} == pytest.approx(dict(found.hits(0)), rel=1e-4)
    for part in explained:
        if part.parts:
            adds_up(part.value, part.parts)
        for click in part.clicks:
            assert click.clicks > 0 and 0 < click.share <= 1 + 1e-6
    with pytest.raises(UserError, match="no document"):
        model.expand_docs("no such document")


KINDS = {
    *("word", "ordered pair", "unordered pair", "field", "document", "collection", "topic", "translation"),
    *("borrowed query", "model", "feature", "not found", "mean", "base"),
}
OF_A_SIDE = ("query ", "document ", "bias of query ", "bias of document ")  # and a view, or "unit"


def adds_up(value, parts):
    assert sum(part.value for part in parts) == pytest.approx(value, rel=1e-5, abs=5e-7)
    for part in parts:
        assert part.kind in KINDS or part.kind.startswith(OF_A_SIDE)
        assert part.label not in KINDS
        assert len(part.clicks) <= part.edges
        assert all(click.share != 0 and click.clicks > 0 for click in part.clicks)
        if part.parts:
            adds_up(part.value, part.parts)


@pytest.mark.parametrize("query", [*QUERIES, "hotel the stay", "never seen shoe nike", "nothing known"])
def test_explanation_adds_up(model, query):
    if "explain" not in model.capabilities:
        with pytest.raises(UserError, match="cannot"):
            model.explain(query, "hotel-0")
        return
    for doc in ("hotel-0", "shoe-3", "shoe-6", "flu-7"):
        why = model.explain(query, doc, clicks=None)
        [[score]] = model.score([query], [[doc]])
        assert why.score == pytest.approx(float(score), rel=1e-6, abs=1e-9)
        adds_up(why.score, why.parts)
        for word in why.words or []:
            assert word.contribution == pytest.approx(word.query_weight * word.doc_weight, rel=1e-5)
            for clicks in (word.clicks, word.query_clicks):
                shared = sum(c.share for c in clicks)
                own = getattr(model, "own_weight", 0) and 0 < shared < 1  # own words come from no click
                assert not clicks or own or shared == pytest.approx(1, rel=1e-5)
        assert set(why.to_dict()) >= {"query", "doc", "score", "parts"}
    with pytest.raises(UserError, match="no document"):
        model.explain(query, "no such document")


def test_documents_added_after_training(model, saved, tmp_path):
    new = {"new-1": "The best hotel in manhattan", "new-2": "influenza medicine for flu symptoms"}
    if "add" not in model.capabilities:
        with pytest.raises(UserError, match="cannot"):
            model.add(new)
        return
    before = search_all(model)
    larger = model.add(new)
    assert search_all(model) == before, "the model itself does not change"
    assert "new-1" in {doc for doc, _ in larger.search("hotel", 100).hits()}
    assert larger.title("new-2") == new["new-2"]
    larger.save(tmp_path / "larger")
    opened = open_model(tmp_path / "larger")
    assert search_all(opened) == search_all(larger)
    again = opened.add({"new-3": "shoe"})
    assert "new-3" in {doc for doc, _ in again.search("shoe", 100).hits()}
    with pytest.raises(UserError, match="already"):
        larger.add({"new-1": "once more"})
    for query in (*QUERIES, "hotel the stay", "never seen"):
        hits = larger.search(query, 100).hits()
        [scores] = larger.score([query], [list(larger.graph_.docs)])
        assert [score for _, score in hits] == sorted(scores[scores > 0].tolist(), reverse=True)
        assert dict(hits) == {d: s for d, s in zip(larger.graph_.docs, scores.tolist(), strict=True) if s > 0}
        assert [score for _, score in larger.search(query, 2).hits()] == [score for _, score in hits[:2]]


def test_unknown_documents_are_scored_by_their_texts(model):
    texts = ["The best hotel in manhattan", {"title": "influenza medicine for flu symptoms"}, ""]
    if "add" not in model.capabilities:
        with pytest.raises(UserError, match="cannot"):
            model.score_texts("hotel", texts)
        return
    larger = model.add({f"new-{i}": text for i, text in enumerate(texts)})
    for query in (*QUERIES, "hotel the stay", "never seen"):
        [expected] = larger.score([query], [["new-0", "new-1", "new-2"]])
        found = model.score_texts(query, texts)
        if isinstance(
            model, Combination
        ):  # normalised by the maximum of the known documents, which may be smaller
            assert (found >= expected - 1e-6).all() and ((found > 0) == (expected > 0)).all()
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_names_round_trip(model, name):
    assert str(create(str(model))) == str(model)
    with pytest.raises(UserError, match="no parameter"):
        create(f"{model.name}(no_such_parameter=1)")


def test_every_number_has_a_range(name):
    """So that neither a typo nor a foreign manifest causes endless loops or invalid indices."""
    kind: Any = type(create(name))
    types, allowed = parameter_types(kind), ranges(kind)
    for field in parameters_of(kind):
        if {int, float} & set(choices(types[field.name])):
            below = allowed[field.name].low - 1
            with pytest.raises(UserError, match=f"{field.name} cannot be"):
                create(f"{kind.name}({field.name}={below:g})")


def test_model_has_a_summary(name):
    assert create(name).summary


def test_untrained_model_raises(name):
    with pytest.raises(UserError, match="not trained"):
        create(name).search("hotel")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # random bytes overflow
def test_damaged_files_never_crash(saved, tmp_path):
    """Each file in turn is replaced by random bytes: there may be an error or a result, but no crash."""
    files = sorted(path for path in saved.iterdir() if path.suffix == ".npy")
    for number, file in enumerate(files):
        copy = tmp_path / str(number)
        copy.mkdir()
        for path in saved.iterdir():
            content = path.read_bytes()
            if path == file and len(content) > 128:
                body = np.random.default_rng(number).integers(0, 256, len(content) - 128, np.uint8)
                content = content[:128] + body.tobytes()
            (copy / path.name).write_bytes(content)
        try:
            model = open_model(copy)
            model.search([*QUERIES, "never seen hotel"], 5)
            if "similar" in model.capabilities:
                model.similar_queries(QUERIES, 5)
                model.similar_docs("hotel-0", 5)
            if "explain" in model.capabilities:
                model.explain(QUERIES[0], "hotel-0")
        except (CoclickError, IndexError, ValueError, OverflowError, MemoryError):
            continue
