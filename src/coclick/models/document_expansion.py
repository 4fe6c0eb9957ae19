"""Document expansion: the words that a model learned for documents, most of all words of queries.

Searchers often use other words than the document. A model that learned such words from clicks can hand them
to a search engine: in a separate field, they let the engine find the document by words that it lacks. The
weight of a word is what it adds to the score of the document for a query of this word alone.

A model declares its vocabulary (`_expansion_words`) and returns the heaviest words of a block of documents
(`_expand_docs`), which `top_of_sparse` and `top_of_dense` select without a loop over documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph
from coclick.results import Click, ClickEvidence, padded
from coclick.text.analyzer import Analyzer
from coclick.text.term_matrix import count_terms

Rows = NDArray[np.int32]
TopWords = tuple[NDArray[np.int32], NDArray[np.float32]]  # terms and weights, padded, one line per document

DOCS_PER_BLOCK = 4096
_MAX_WEIGHTS = 1 << 23  # of one block of dense weights


class ExpansionWords(NamedTuple):
    """The vocabulary of a model's expansions: how texts become terms, the terms, and how they are written."""

    analyzer: Analyzer
    terms: Vocab
    display_terms: Strings


def expand_in_blocks(
    docs: Rows, k: int, words: ExpansionWords, own_texts: Strings | None,
    expand: Callable[[Rows, Csr, int], TopWords],
) -> TopWords:  # fmt: skip
    """Expand documents block by block, without the words of their own texts if these are given."""
    terms, weights = padded(len(docs), k)
    for first in range(0, len(docs), DOCS_PER_BLOCK):
        block = docs[first : first + DOCS_PER_BLOCK]
        excluded = Csr.empty(len(block), len(words.terms))
        if own_texts is not None:
            tokens = words.analyzer.lookup_terms(own_texts.take(block).to_list(), words.terms)
            excluded = count_terms(tokens, len(words.terms))
        terms[first : first + len(block)], weights[first : first + len(block)] = expand(block, excluded, k)
    return terms, weights


def top_of_sparse(weights: Csr, excluded: Csr, k: int) -> TopWords:
    """Return the k heaviest positive entries of each row that are not excluded, ties by term."""
    row = np.repeat(np.arange(weights.rows), weights.row_nnz())
    taken = np.repeat(np.arange(excluded.rows), excluded.row_nnz()) * np.int64(weights.columns)
    key = row * np.int64(weights.columns) + weights.indices
    chosen = np.flatnonzero((weights.data > 0) & ~np.isin(key, taken + excluded.indices))
    order = chosen[np.lexsort((weights.indices[chosen], -weights.data[chosen], row[chosen]))]
    row = row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    best = rank < k
    found = padded(weights.rows, k)
    for target, values in zip(found, (weights.indices, weights.data), strict=True):
        target[row[best], rank[best]] = values[order[best]]
    return found


def top_of_dense(
    docs: Rows, terms: int, weigh: Callable[[Rows], NDArray[np.float32]], excluded: Csr, k: int
) -> TopWords:
    """Return the same for dense weights, which `weigh` computes for a few documents at a time.

    Of terms that tie for the last place, any may be returned.
    """
    found = padded(len(docs), k)
    step = max(1, _MAX_WEIGHTS // max(terms, 1))
    for first in range(0, len(docs), step):
        last = min(first + step, len(docs))
        weights = weigh(docs[first:last])
        taken = excluded.row_slice(first, last)
        weights[np.repeat(np.arange(last - first), taken.row_nnz()), taken.indices] = 0
        heaviest = np.argpartition(-weights, min(k, terms) - 1, axis=1)[:, :k].astype(np.int32)
        heaviest.sort(axis=1)  # so that ties go to the smaller term
        values = np.take_along_axis(weights, heaviest, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        values = np.maximum(np.take_along_axis(values, order, axis=1), 0)
        found[0][first:last, : values.shape[1]] = np.where(
            values > 0, np.take_along_axis(heaviest, order, axis=1), -1
        )
        found[1][first:last, : values.shape[1]] = values
    return found


def clicked_queries_with(
    graph: ClickGraph, doc: int, term: int, words: ExpansionWords, max_clicks: int | None
) -> ClickEvidence:
    """Return the queries with a word for which the document was clicked, by their clicks."""
    queries, clicks = graph.clicks_by_doc.row(doc)
    texts = graph.queries.take(queries).to_list()
    counts = count_terms(words.analyzer.lookup_terms(texts, words.terms), len(words.terms))
    with_word = np.unique(np.repeat(np.arange(counts.rows), counts.row_nnz())[counts.indices == term])
    order: Sequence[int] = with_word[np.argsort(-clicks[with_word], kind="stable")].tolist()
    total = max(float(clicks[with_word].sum()), 1e-30)
    name = graph.docs[doc]
    shown = [Click(texts[i], name, float(clicks[i]), float(clicks[i]) / total) for i in order[:max_clicks]]
    return ClickEvidence(shown, len(order))
