"""Models in real PyTerrier pipelines, without Java."""

# A pipeline returns a DataFrame for a DataFrame, which PyTerrier's types do not say.
# mypy: disable-error-code="index, union-attr"

import pandas as pd
import pyterrier as pt
import pytest

import planted
from coclick import train
from coclick.integrations.pyterrier import Expander, Retriever

QUERIES = list(planted.TOPICS)


@pytest.fixture(scope="module")
def model():
    return train("vpcg", planted.graph())


@pytest.fixture(scope="module")
def topics():
    return pd.DataFrame({"qid": [f"q{i}" for i in range(len(QUERIES))], "query": QUERIES})


def test_retriever_returns_the_results_of_search(model, topics, tmp_path):
    model.save(tmp_path / "model")
    found = Retriever(tmp_path / "model", k=5)(topics)
    for qid, query in zip(topics["qid"], QUERIES, strict=True):
        rows = found[found["qid"] == qid]
        assert list(zip(rows["docno"], rows["score"], strict=True)) == model.search(query, 5).hits()
        assert rows["rank"].tolist() == list(range(len(rows)))


def test_second_stage_reranks_the_first(model, topics):
    first = Retriever(train("bm25", planted.graph()), k=20)
    found = (first >> Retriever(model))(topics)
    for qid, query in zip(topics["qid"], QUERIES, strict=True):
        rows = found[found["qid"] == qid].sort_values("rank")
        [expected] = model.score([query], [rows["docno"].tolist()])
        assert rows["score"].tolist() == pytest.approx(expected.tolist())
        assert rows["score"].is_monotonic_decreasing


def test_unknown_documents_are_scored_by_their_texts(model):
    title = model.title(model.search(QUERIES[0], 1).hits()[0][0])
    given = pd.DataFrame({"qid": "1", "query": QUERIES[0], "docno": ["new", "none"], "title": [title, ""]})
    found = Retriever(model)(given).set_index("docno")["score"]
    assert found["new"] == pytest.approx(float(model.score_texts(QUERIES[0], [title])[0]))
    assert found["new"] > 0 == found["none"]


def test_linear_combination_of_pipelines(model, topics):
    both = 0.5 * Retriever(model, k=10) + 0.5 * Retriever(model, k=10)
    one = Retriever(model, k=10)(topics).sort_values(["qid", "docno"])["score"].tolist()
    assert both(topics).sort_values(["qid", "docno"])["score"].tolist() == pytest.approx(one)


def test_expander_keeps_the_query_and_adds_weighted_words(model, topics):
    found = Expander(model, words=3, weight=0.4)(topics)
    assert found["query_0"].tolist() == QUERIES
    for query, expanded in zip(QUERIES, found["query"], strict=True):
        own, *added = expanded.split()
        assert own == query and 1 <= len(added) <= 3
        words, weights = zip(*(word.split("^") for word in added), strict=True)
        assert set(words) <= {word for word, _ in model.expand(query)} and float(weights[0]) == 0.4


def test_no_queries_give_no_results(model, topics):
    assert Retriever(model)(topics.head(0)).empty


def test_wrong_columns_raise(model):
    with pytest.raises(pt.validate.InputValidationError):
        Retriever(model)(pd.DataFrame({"qid": ["1"]}))
