"""Term matrices of collections: the terms of queries and of joined fields, split once if they are shared."""

import numpy as np

from coclick.arrays.strings import Strings
from coclick.text import term_matrix
from coclick.text.analyzer import Analyzer
from coclick.text.term_matrix import TermMatrix, shared_terms

WORDS = Analyzer("english", stem=False, remove_stop_words=False)
QUERIES = Strings.from_list(["cheap flights", "hotel"])
TEXTS = {
    "title": Strings.from_list(["Flights", "Hotel London"]),
    "body": Strings.from_list(["cheap", "a hotel"]),
}


def terms_of(matrix):
    rows = np.split(matrix.tokens.terms, matrix.tokens.indptr[1:-1])
    return [[matrix.terms[term] for term in row.tolist()] for row in rows]


def fit(queries=QUERIES, fields=("title", "body"), analyzer=WORDS):
    return TermMatrix.fit_collection(queries, TEXTS, list(fields), analyzer)


def test_queries_come_first_and_fields_are_joined():
    assert terms_of(fit()) == [["cheap", "flights"], ["hotel"], ["flights", "cheap"],
                               ["hotel", "london", "a", "hotel"]]  # fmt: skip
    assert terms_of(fit(None, ["body"])) == [["cheap"], ["a", "hotel"]]


def test_texts_are_split_once_while_terms_are_shared():
    with shared_terms():
        first = fit()
        with shared_terms():  # a model that trains others
            assert fit() is first
        assert fit() is first
        others = [fit(None), fit(fields=["title"]), fit(analyzer=Analyzer("english", True, False))]
        assert all(other is not first for other in others)
        assert terms_of(others[0]) == terms_of(first)[2:]
    assert fit() is not first
    assert terms_of(fit()) == terms_of(first)


def test_only_the_last_collections_are_kept():
    with shared_terms():
        first = fit()
        for word in "abcdefgh"[: term_matrix._MAX_SHARED]:
            texts = {"title": Strings.from_list([word])}
            assert terms_of(TermMatrix.fit_collection(None, texts, ["title"], WORDS)) == [[word]]
        assert fit() is not first
