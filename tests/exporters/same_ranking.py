"""Compare the ranking of a search engine with that of coclick."""

import pytest


def assert_same_ranking(model, query, found, tolerance, held=None):
    """Check an engine's (document, score) pairs: scores agree, and no clearly better document is missing.

    `held`: the documents that the engine stores, if not all.
    """
    ours = model.search(query, len(model.graph_.docs), allow=held).hits()
    exact, best = dict(ours), ours[:10]
    assert len(found) == len(best), query
    assert [score for _, score in found] == pytest.approx([score for _, score in best], abs=tolerance), query
    for doc, score in found:
        assert score == pytest.approx(exact[doc], abs=tolerance), (query, doc)
    surely = {doc for doc, score in best if score > best[-1][1] + 2 * tolerance}
    assert surely <= {doc for doc, _ in found}, query
