"""Did you mean: the most likely intended text of a query, other than the typed one.

A noisy channel. Every word may stand for itself, for a word within one or two edits, for several words typed
without blanks, or for a part of a word typed with a blank. A path through these alternatives has the score

    log P(words), from words and pairs of words of queries and titles  −  the cost of edits and blanks

What is proposed is the best path that differs from the typed text. Whether it is believed is decided by
`coclick.suggestions.confidence`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from coclick.errors import corrupt_error
from coclick.suggestions.delete_index import DeleteIndex, allowed_edits
from coclick.suggestions.word_statistics import WordStatistics, find_texts
from coclick.text.analyzer import Analyzer
from coclick.text.languages import DEFAULT
from coclick.text.tokenizer import split_words

MAX_TEXT = 200  # characters of a query that is corrected
MAX_WORDS = 12
_EDIT_COST = 5.0  # log odds against an edit
_BLANK_COST = 5.0  # against a missing or an extra blank
_PAIR_PRIOR = 20.0  # uses of a word by which its neighbours are believed half
_N_NEAR = 8  # words within a few edits that are tried
_N_SPLITS = 3
_MAX_PIECES = 5
_MAX_PIECE = 30  # bytes of a word in a token
_MIN_PIECE = 4  # bytes from which any known word may be a part of a token
_FREQUENT = 50  # titles and queries of a word of one letter
_MIN_SPLIT = 5  # characters of a token that may be several words


class Arc(NamedTuple):
    """An alternative for some neighbouring tokens: its words, and what typing them so costs."""

    words: tuple[str, ...]
    ids: tuple[int, ...]
    n_tokens: int = 1
    edits: float = 0.0  # cost of the edits, about 1 each
    blanks: int = 0  # missing and extra ones
    share: float = 1.0  # of the alternatives for the same token

    @property
    def cost(self) -> float:
        """−log P(what was typed | these words), up to a constant."""
        return _EDIT_COST * self.edits + (_BLANK_COST / 2 * (1 + self.blanks) if self.blanks else 0.0)

    @property
    def changes(self) -> bool:
        """Whether the words differ from what was typed."""
        return self.edits > 0 or self.blanks > 0


class Path(NamedTuple):
    """Arcs that cover all tokens, with their score."""

    score: float
    arcs: tuple[Arc, ...]

    @property
    def text(self) -> str:
        """The words, with blanks between them."""
        return " ".join(word for arc in self.arcs for word in arc.words)


class Channel:
    """Finds the best reading of a text."""

    def __init__(self, words: WordStatistics, index: DeleteIndex, language: str = DEFAULT) -> None:
        self.words, self.index = words, index
        self._stems = Analyzer(language=language).stems
        self._log_total = math.log(max(words.total, 1.0))

    def readings(self, tokens: Sequence[str]) -> tuple[Path, Path | None]:
        """Return the path of the text as typed, and the best other one, if there is any."""
        joined = ["".join(pair) for pair in pairwise(tokens)]
        ids = find_texts(self.words.words, [*tokens, *joined])
        typed = [Arc((token,), (number,)) for token, number in zip(tokens, ids, strict=False)]
        arcs = [[arc, *self._alternatives(arc)] for arc in typed]
        for i, (text, number) in enumerate(zip(joined, ids[len(tokens) :], strict=True)):
            if number >= 0 and text.isalpha():
                arcs[i].append(Arc((text,), (number,), 2, blanks=1))
        pairs = self._pairs(arcs)
        ends = self._best(arcs, pairs)
        changed = [path for (_, changes), path in ends.items() if changes]
        plain = self._best([[arc] for arc in typed], pairs)
        return max(plain.values()), max(changed, default=None)

    def has_alternatives(self, token: str) -> bool:
        """Return whether a token may stand for other words than itself."""
        [number] = find_texts(self.words.words, [token])
        return bool(self._alternatives(Arc((token,), (number,))))

    def _alternatives(self, arc: Arc) -> list[Arc]:
        """What else a token may stand for. Words of titles are right."""
        token, number = arc.words[0], arc.ids[0]
        if number >= 0 and self.words.titles[number] > 0:
            return []
        found = []
        if (edits := allowed_edits(len(token))) and is_plain(token):
            near, _, costs = self.index.near(self.words.words, token, edits, _N_NEAR)
            [stem] = self._stems([token])
            for word, cost in zip(near.tolist(), costs.tolist(), strict=True):
                text = self.words.words[word]
                if word != number and self._stems([text]) != [stem]:  # hotels is no typo of hotel
                    found.append(Arc((text,), (word,), 1, cost))
        if len(token) >= _MIN_SPLIT:
            found += self._splits(token)
        odds = [math.exp(sum(map(self._log_probability, arc.ids)) - arc.cost) for arc in found]
        return [arc._replace(share=one / (sum(odds) or 1)) for arc, one in zip(found, odds, strict=True)]

    def _splits(self, token: str) -> Iterator[Arc]:
        """The most likely ways to read a token as several known words."""
        from coclick.suggestions._word_kernels import find_pieces

        words = self.words.words
        text = np.frombuffer(bytearray(token.encode()), np.uint8)
        begins, ends, ids, damaged = find_pieces(words.offsets, words.data, text, _MAX_PIECE)
        if damaged:
            raise corrupt_error("the words are")
        best: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(len(text) + 1)]
        best[0].append((0.0, ()))
        for begin, end, word in zip(begins.tolist(), ends.tolist(), ids.tolist(), strict=True):
            if not best[begin] or end - begin == len(text) or not self._is_piece(word, end - begin):
                continue
            score = self._log_probability(word) - _BLANK_COST / 2
            best[end] += [
                (before + score, (*way, word)) for before, way in best[begin] if len(way) < _MAX_PIECES
            ]
            best[end].sort(key=lambda way: -way[0])
            del best[end][_N_SPLITS:]
        for _, way in best[-1]:
            yield Arc(tuple(words[word] for word in way), way, 1, blanks=len(way) - 1)

    def _is_piece(self, word: int, length: int) -> bool:
        """Whether a word is known well enough to be a part of a token; short ones occur in many by chance."""
        titles, queries = int(self.words.titles[word]), int(self.words.queries[word])
        if length >= _MIN_PIECE:
            return True
        return titles + queries > _FREQUENT if length == 1 else titles > 0 or queries > 2

    def _pairs(self, arcs: Sequence[Sequence[Arc]]) -> dict[tuple[int, int], float]:
        """Uses of all pairs of words that a path may have side by side."""
        wanted: set[tuple[int, int]] = set()
        for i, here in enumerate(arcs):
            for arc in here:
                wanted.update(zip(arc.ids[:-1], arc.ids[1:], strict=True))
                if i + arc.n_tokens < len(arcs):
                    wanted.update((arc.ids[-1], after.ids[0]) for after in arcs[i + arc.n_tokens])
        keys = [key for key in wanted if min(key) >= 0]
        if not keys:
            return {}
        both = np.array(keys, np.int64)
        return dict(zip(keys, self.words.pair_uses_of(both[:, 0], both[:, 1]).tolist(), strict=True))

    def _best(
        self, arcs: Sequence[Sequence[Arc]], pairs: dict[tuple[int, int], float]
    ) -> dict[tuple[int, bool], Path]:
        """The best path for each last word, with and without changes."""
        ends: list[dict[tuple[int, bool], Path]] = [{(-1, False): Path(0.0, ())}] + [{} for _ in arcs]
        for i, here in enumerate(arcs):
            for arc in here:
                after = ends[i + arc.n_tokens]
                inner = sum(
                    self._log_conditional(one, two, pairs)
                    for one, two in zip(arc.ids[:-1], arc.ids[1:], strict=True)
                )
                for (last, changed), path in ends[i].items():
                    step = self._log_conditional(last, arc.ids[0], pairs, arc.words[0])
                    score = path.score + step + inner - arc.cost
                    key = arc.ids[-1], changed or arc.changes
                    if key not in after or after[key].score < score:
                        after[key] = Path(score, (*path.arcs, arc))
        return ends[-1]

    def _log_probability(self, word: int, text: str = "") -> float:
        """log P(word); an unknown one is the less likely the longer it is."""
        if word < 0:
            return -self._log_total - 1.0 - 0.5 * len(text)
        count = float(self.words.uses[word]) + float(self.words.titles[word])
        return math.log(count + 0.5) - self._log_total

    def _log_conditional(
        self, before: int, word: int, pairs: dict[tuple[int, int], float], text: str = ""
    ) -> float:
        """log P(word | the word before it), with P(word) as the prior."""
        alone = self._log_probability(word, text)
        if before < 0:
            return alone
        uses = pairs.get((before, word), 0.0)
        total = float(self.words.uses[before]) + float(self.words.titles[before])
        return math.log((uses + _PAIR_PRIOR * math.exp(alone)) / (total + _PAIR_PRIOR))


def is_plain(token: str) -> bool:
    """Whether a token is a word of letters, in a script with spaces, that may be misspelt."""
    return token.isalpha() and (token.isascii() or split_words(token) == [token])
