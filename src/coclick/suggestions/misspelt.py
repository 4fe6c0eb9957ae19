"""Misspelt queries of a log, which are no completions: did-you-mean corrects them with confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coclick.suggestions.word_statistics import find_texts

if TYPE_CHECKING:
    from coclick.suggestions.suggestions import Suggestions


def find_misspelt(suggestions: Suggestions) -> NDArray[np.int64]:
    """Return the queries that are shown as completions, although a correction of them is likely.

    Most queries have only words that have no other reading, and are not tried.
    """
    shown = np.flatnonzero(suggestions.completions.merits > 0)
    texts = suggestions.completions.texts.take(shown).to_list()
    doubtful = _doubtful_words(suggestions, {word for text in texts for word in text.split(" ")})
    found = [
        row
        for row, text in zip(shown.tolist(), texts, strict=True)
        if not doubtful.isdisjoint(text.split(" ")) and suggestions.correct(text) is not None
    ]
    return np.array(found, np.int64)


def _doubtful_words(suggestions: Suggestions, words: set[str]) -> set[str]:
    """The words that are in no title and may stand for others."""
    tokens = sorted(words)
    ids = np.array(find_texts(suggestions.words.words, tokens), np.int64)
    in_titles = (ids >= 0) & (suggestions.words.titles[np.maximum(ids, 0)] > 0)
    return {tokens[i] for i in np.flatnonzero(~in_titles) if suggestions.channel.has_alternatives(tokens[i])}
