"""Models as scikit-learn estimators."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from coclick import ClickGraph, train
from coclick.errors import UserError
from coclick.integrations.sklearn import ClickRanker, QueryVectors

PAIRS = [("ny hotel", "d1"), ("new york hotel", "d1"), ("flu", "d2"), ("influenza", "d2"), ("ny hotel", "d3")]
CLICKS = [3, 2, 4, 1, 1]
TITLES = {"d1": "Hotels in New York", "d2": "Influenza", "d3": "Manhattan hotel"}


def test_scores_equal_those_of_the_model():
    rows = [(query, doc, count) for (query, doc), count in zip(PAIRS, CLICKS, strict=True)]
    model = train("vpcg", ClickGraph.from_clicks(rows, TITLES))
    asked = [("flu", "d2"), ("ny hotel", "d3"), ("flu", "d1"), ("hotel", "unknown")]
    expected = [float(model.score([query], [[doc]])[0][0]) for query, doc in asked]
    ranker = ClickRanker("vpcg", docs=TITLES).fit(PAIRS, CLICKS)
    assert ranker.predict(asked).tolist() == pytest.approx(expected)
    assert expected[0] > 0.9 and expected[3] == 0
    others: list[Any] = [np.array(PAIRS, object), pd.DataFrame(PAIRS, columns=["query", "doc"])]
    for other in others:
        assert ranker.predict(other).tolist() == ranker.predict(PAIRS).tolist()


def test_clone_keeps_the_parameters():
    copied = clone(ClickRanker("pls(dim=2)", docs=TITLES))
    assert copied.get_params() == {"spec": "pls(dim=2)", "docs": TITLES}
    assert not hasattr(copied, "model_")


def test_query_vectors():
    vectors = QueryVectors("vpcg").fit(PAIRS, CLICKS)
    found = vectors.transform(["ny hotel", "hotel ny", "nothing known"])
    assert scipy.sparse.issparse(found) and found.shape == (3, len(vectors.get_feature_names_out()))
    assert "hotel" in vectors.get_feature_names_out() and found[2].nnz == 0
    assert QueryVectors("pls(dim=2)", docs=TITLES).fit(PAIRS).transform(["flu"]).shape == (1, 2)


def test_pipeline():
    pipeline = make_pipeline(QueryVectors("vpcg").fit(PAIRS, CLICKS), LogisticRegression(C=100))
    pipeline[-1].fit(pipeline[0].transform([query for query, _ in PAIRS]), [0, 0, 1, 1, 0])
    assert pipeline.predict(["new york hotel", "influenza"]).tolist() == [0, 1]


@pytest.mark.parametrize(("pairs", "clicks"), [([("a", "b")], [1, 2]), ([("a", "b", "c")], None), ([], [])])
def test_invalid_pairs(pairs, clicks):
    with pytest.raises(UserError):
        ClickRanker().fit(pairs, clicks)
