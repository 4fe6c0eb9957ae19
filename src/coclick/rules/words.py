"""The words of queries and titles as sequences of stems, and the clicked pairs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.rules.spelling import edit_distance
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder
from coclick.text.languages import AUTO, find_language, resolve_language
from coclick.text.stopwords import STOP_WORDS
from coclick.text.term_matrix import each_text, titles

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Phrase = tuple[int, ...]  # stems

_MIN_FORM_SHARE = 0.1  # uses of a written form, relative to the most used one


def expand(indptr: Ints, rows: Ints) -> Ints:
    """Return the entries of some rows, one after the other."""
    counts = indptr[rows + 1] - indptr[rows]
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(indptr[rows] - before, counts)


class Sequences:
    """Texts as sequences of stems, one after the other."""

    def __init__(self, tokens: Tokens, stem_of: Ints) -> None:
        self.indptr = tokens.indptr
        self.words = tokens.terms.astype(np.int64)
        self.stems = stem_of[self.words]
        self.text_of = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
        self._order = np.argsort(self.stems, kind="stable")
        self._starts = np.searchsorted(self.stems[self._order], np.arange(len(stem_of) + 1))
        self._found: dict[Phrase, Ints] = {}

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def text(self, row: int) -> list[int]:
        """Return the stems of a text."""
        found: list[int] = self.stems[self.indptr[row] : self.indptr[row + 1]].tolist()
        return found

    def positions(self, phrase: Phrase) -> Ints:
        """Return where a phrase starts, in all texts."""
        first = self._order[self._starts[phrase[0]] : self._starts[phrase[0] + 1]]
        if len(phrase) == 1:
            return first
        if phrase not in self._found:
            self._found[phrase] = self._continued(first, phrase)
        return self._found[phrase]

    def rows_with(self, phrase: Phrase) -> Ints:
        """Return the texts that have a phrase, ascending."""
        return np.unique(self.text_of[self.positions(phrase)])

    def have(self, rows: Ints, phrase: Phrase) -> Bools:
        """Return for each of some texts whether it has a phrase. Reads only these texts."""
        distinct, place = np.unique(rows, return_inverse=True)
        at = self.positions_in(distinct, phrase)
        return np.isin(distinct, self.text_of[at])[place]

    def positions_in(self, rows: Ints, phrase: Phrase) -> Ints:
        """Return where a phrase starts in some texts."""
        at = expand(self.indptr, rows)
        at = at[self.stems[at] == phrase[0]]
        return self._continued(at, phrase)

    def _continued(self, at: Ints, phrase: Phrase) -> Ints:
        """The places of a phrase's first word that its other words follow."""
        for distance, stem in enumerate(phrase[1:], 1):
            at = at[at + distance < len(self.stems)]
            same_text = self.text_of[at] == self.text_of[at + distance]
            at = at[same_text & (self.stems[at + distance] == stem)]
        return at


@dataclass(frozen=True)
class LogWords:
    """The words of a log, and its clicked pairs. A stem is written as the id of its first word."""

    words: list[str]
    stem_of: Ints  # of each word
    is_stop: Bools  # by stem
    is_content: Bools  # by stem: neither a stop word nor a number nor a single letter
    queries: Sequences
    titles: Sequences
    query_of: Ints  # of each clicked pair
    doc_of: Ints
    clicks: Floats

    @classmethod
    def from_graph(cls, graph: ClickGraph) -> LogWords:
        """Split the queries and titles of a graph into words."""
        language = resolve_language(AUTO, graph.stats)
        analyzer = Analyzer(language, stem=False, tokenizer="words")
        builder = VocabularyBuilder()
        queries = analyzer.analyze(each_text(graph.queries), builder)
        short = titles(graph.texts)
        texts = each_text(short) if short is not None else iter([""] * len(graph.docs))
        docs = analyzer.analyze(texts, builder)
        words = builder.terms
        stems = Analyzer(language, tokenizer="words").stems(words)
        first: dict[str, int] = {}
        for number, stem in enumerate(stems):
            first.setdefault(stem, number)
        stem_of = np.array([first[stem] for stem in stems], np.int64)
        stop_words = STOP_WORDS.get(language, frozenset())
        is_stop = np.array([word in stop_words for word in words], np.bool_)
        is_word = np.array([len(word) > 1 and any(map(str.isalpha, word)) for word in words], np.bool_)
        matrix = graph.clicks
        return cls(
            words,
            stem_of,
            is_stop,
            ~is_stop & is_word,
            Sequences(queries, stem_of),
            Sequences(docs, stem_of),
            np.repeat(np.arange(matrix.rows), matrix.row_nnz()),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
        )

    @cached_property
    def query_clicks(self) -> Floats:
        """The clicks of each query."""
        return np.bincount(self.query_of, self.clicks, len(self.queries)).astype(np.float64)

    @cached_property
    def doc_clicks(self) -> Floats:
        """The clicks of each document."""
        return np.bincount(self.doc_of, self.clicks, len(self.titles)).astype(np.float64)

    def query_words(self, row: int) -> list[str]:
        """Return the words of a query as they are written."""
        side = self.queries
        return [self.words[word] for word in side.words[side.indptr[row] : side.indptr[row + 1]].tolist()]

    def typed(self, phrase: Phrase) -> float:
        """Return the clicks of the queries with a phrase."""
        if phrase not in self._typed:
            self._typed[phrase] = float(self.query_clicks[self.queries.rows_with(phrase)].sum())
        return self._typed[phrase]

    def pairs_of_queries(self, rows: Ints) -> Ints:
        """Return the clicked pairs of some queries, ascending; the queries are ascending."""
        return expand(self._query_starts, rows)

    @cached_property
    def _query_starts(self) -> Ints:
        return np.searchsorted(self.query_of, np.arange(len(self.queries) + 1))

    @cached_property
    def _typed(self) -> dict[Phrase, float]:
        return {}

    def display(self, side: Sequences, weights: Floats, phrase: Phrase) -> str:
        """Return a phrase as it is written most often in queries or titles."""
        forms = self._forms(side, weights, phrase)
        return min(forms, key=lambda form: (-forms[form], form))

    def nearest_form(self, phrase: Phrase, like: str) -> str:
        """Return a phrase in the written form nearest to a text, such as its plural for a plural."""
        forms = self._forms(self.titles, self.doc_clicks, phrase)
        for form, weight in self._forms(self.queries, self.query_clicks, phrase).items():
            forms[form] = forms.get(form, 0.0) + weight
        most_used = max(forms.values())
        forms = {form: weight for form, weight in forms.items() if weight >= _MIN_FORM_SHARE * most_used}
        letters = like.replace(" ", "")
        most = len(letters)
        distance = {form: edit_distance(form.replace(" ", ""), letters, most) for form in forms}
        return min(forms, key=lambda form: (distance[form], -forms[form], form))

    def _forms(self, side: Sequences, weights: Floats, phrase: Phrase) -> dict[str, float]:
        at = side.positions(phrase)
        written = side.words[at[:, None] + np.arange(len(phrase))]
        distinct, place = np.unique(written, axis=0, return_inverse=True)
        uses = np.bincount(place.ravel(), weights[side.text_of[at]] + 1e-6, len(distinct))
        texts = (" ".join(self.words[word] for word in row) for row in distinct.tolist())
        return dict(zip(texts, uses.tolist(), strict=True))

    def has_content(self, phrase: Sequence[int]) -> bool:
        """Whether a phrase has a word that is neither a stop word nor a number nor a single letter."""
        return bool(self.is_content[list(phrase)].any())

    def joined(self, phrase: Sequence[int]) -> str:
        """Return the letters and digits of a phrase, without what separates them."""
        return "".join(filter(str.isalnum, "".join(self.words[word] for word in phrase)))


def is_spaced(graph: ClickGraph) -> bool:
    """Whether the graph's language has spaces between words: without, words are pairs of characters."""
    return not find_language(resolve_language(AUTO, graph.stats)).unspaced
