"""`Vocabulary`: the tokens that queries and documents of a log have, and the units of query vectors.

An engine has no tokenizer of ours. So the terms of every token (a run of characters without white space) are
stored, and looked up. Units are terms, and n-grams of characters with `~` in front.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from coclick.exporters.shipping.answer import PLAIN
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph.text_similarity import TextSimilarity
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.text.analyzer import Analyzer
from coclick.text.normalise import normalised_lines
from coclick.text.term_ids import stable_term_ids
from coclick.text.term_matrix import each_text

_MAX_TOKEN = 200  # characters: longer ones are no words


@dataclass(frozen=True)
class Vocabulary:
    """Tokens with their terms; units, by column of query vectors, with their idf; terms of documents."""

    tokens: dict[str, list[str]]
    units: list[str]
    unit_idf: NDArray[np.float32]
    doc_terms: dict[str, int]  # the columns of document vectors

    @classmethod
    def collect(cls, similarity: TextSimilarity, words: SparseVectorModel, graph: ClickGraph) -> Vocabulary:
        """Collect the tokens of queries with clicks and of documents."""
        clicked = graph.queries.take(np.flatnonzero(graph.clicks.row_nnz()).astype(np.int32))
        texts = chain(each_text(clicked), *(each_text(column) for column in graph.texts.values()))
        grams = [
            "~" + "".join(chr(code) for code in gram if code >= 0)
            for gram in similarity.chars.grams().tolist()
        ]
        return cls(
            _tokens(texts, similarity.analyzer),
            [*grams, *similarity.terms.to_list()],
            np.concatenate([similarity.char_idf, similarity.word_idf]),
            {term: row for row, term in enumerate(words.terms_.to_list())},
        )

    @cached_property
    def idf(self) -> dict[str, float]:
        """The idf of each unit."""
        return dict(zip(self.units, self.unit_idf.tolist(), strict=True))

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each unit."""
        return {unit: column for column, unit in enumerate(self.units)}

    def numbers(self) -> NDArray[np.int64]:
        """Return a number for each unit, for engines whose vectors have no names."""
        return stable_term_ids(self.units)


def _tokens(texts: Iterable[str], analyzer: Analyzer) -> dict[str, list[str]]:
    found: set[str] = set()
    for lines in normalised_lines(texts):
        found.update(*(line.split(" ") for line in lines.split("\n")))
    pieces = {piece for token in found for piece in token.translate(PLAIN).split()}
    known = {token: analyzer.terms(token) for token in sorted(found | pieces) if len(token) <= _MAX_TOKEN}
    return {token: terms for token, terms in known.items() if terms}
