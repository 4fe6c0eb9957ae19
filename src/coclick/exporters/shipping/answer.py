"""Answer queries from what the export has loaded: rankings of known queries, and signals for all others.

A query of the log has its ranking stored, as the model ranks it. Any other query borrows the clicks of the
queries of the log with the most similar wording, and adds the words that it shares with documents;
`recipe.json` says how both are weighted. This file is part of coclick and is copied into exports; it uses
only the standard library.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

APOSTROPHES = "'‘’ʼ"
SEPARATORS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~¡«·»¿×÷‐‑‒–—―“”„…•′″‹›⁄€™©®°'
PLAIN = {**dict.fromkeys(map(ord, SEPARATORS), " "), **dict.fromkeys(map(ord, APOSTROPHES))}
_GRAM = "~"  # in front of n-grams of characters, which are units like words


class Similar(NamedTuple):
    """A query of the log: its similarity to the asked one, and its clicked documents with weights."""

    similarity: float
    docs: Sequence[str]
    weights: Sequence[float]


class Engine(Protocol):
    """What an engine must be able to look up."""

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Return the stored documents and scores of a normalised query, none if it has none."""

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterable[Similar]:
        """Return the n queries of the log with the largest dot products with a vector of units."""

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Return the dot products with words: of the n best documents, and of the given ones."""


class Recipe:
    """How a query becomes vectors, and how the signals of documents are added up."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        tokens: Mapping[str, Sequence[str]],
        idf: Mapping[str, float],
        words: Mapping[str, str],
        clicked: Iterable[str],
    ) -> None:
        """Take the settings of `recipe.json`, and the tables beside it.

        Parameters: `tokens`, the terms of each token; `idf` of each unit of query vectors; `words`, the name
        that each term has in document vectors; `clicked`, the documents that have clicks.
        """
        self.settings, self.tokens, self.idf, self.words = settings, tokens, idf, words
        self.clicked = frozenset(clicked)

    @classmethod
    def read(cls, folder: Path) -> Recipe:
        """Read the recipe and its tables from the folder of an export."""
        settings = json.loads((folder / "recipe.json").read_text(encoding="utf-8"))
        tokens = dict(_rows(folder / "tokens.ndjson"))
        units = list(_rows(folder / "units.ndjson"))
        idf = {unit: weight for unit, weight, _ in units if weight is not None}
        words = {unit: word for unit, _, word in units if word is not None}
        return cls(settings, tokens, idf, words, _rows(folder / "clicked.ndjson"))

    def query_vector(self, query: str) -> dict[str, float]:
        """Return the vector of a normalised query; the similarity of two queries is their dot product.

        Units that no query of the log has count in its length.
        """
        share, unknown = self.settings["word_weight"], self.settings["unknown_idf"]
        grams = character_grams(query, self.settings["min_n"], self.settings["max_n"])
        vector = {}
        for units, part in ((grams, 1 - share), (set(self.terms(query)), share)):
            squares = math.fsum(self.idf.get(unit, unknown) ** 2 for unit in units)
            scale = math.sqrt(part / squares) if squares else 0.0
            vector.update({unit: self.idf[unit] * scale for unit in units if unit in self.idf})
        return {unit: weight for unit, weight in vector.items() if weight > 0}

    def document_words(self, query: str) -> dict[str, float]:
        """Return the words of a normalised query that documents have, and how often it has them."""
        found: dict[str, float] = {}
        for term in self.terms(query):
            if term in self.words:
                found[self.words[term]] = found.get(self.words[term], 0.0) + 1.0
        return found

    def terms(self, query: str) -> list[str]:
        """Return the terms of a normalised query; an unknown token is split at punctuation."""
        found: list[str] = []
        for token in query.split(" "):
            if token in self.tokens:
                found += self.tokens[token]
            else:
                for piece in token.translate(PLAIN).split():
                    found += self.tokens.get(piece, [piece])
        return found

    def borrowed_clicks(self, similar: Iterable[Similar]) -> dict[str, float]:
        """Add up the clicks of similar queries."""
        borrowed: dict[str, float] = {}
        for one in similar:
            factor = min(one.similarity, 1.0) ** self.settings["power"]
            for doc, weight in zip(one.docs, one.weights, strict=True):
                borrowed[doc] = borrowed.get(doc, 0.0) + factor * weight
        return borrowed

    def score(self, doc: str, signals: Sequence[float]) -> float:
        """Return the score of a document from its borrowed clicks and its shared words."""
        clicked = int(doc in self.clicked)
        total: float = self.settings["base"][clicked]
        for signal, line, weight in zip(
            signals, self.settings["maps"], self.settings["weights"][clicked], strict=True
        ):
            total += weight * _interpolate(signal, line)
        return total


def answer(engine: Engine, recipe: Recipe, text: str, k: int = 10) -> list[tuple[str, float]]:
    """Return the k best documents for a query, with their scores."""
    query = normalise(text)
    if stored := engine.ranking(query):
        return list(stored[:k])
    vector = recipe.query_vector(query)
    n = recipe.settings["n_neighbours"]
    borrowed = recipe.borrowed_clicks(engine.similar_queries(vector, n) if vector else [])
    words = recipe.document_words(query)
    depth = max(recipe.settings["depth"], k)
    shared = engine.match_documents(words, depth, list(borrowed)) if words else {}
    scored = [
        (doc, recipe.score(doc, (borrowed.get(doc, 0.0), shared.get(doc, 0.0))))
        for doc in {**borrowed, **shared}
        if borrowed.get(doc, 0.0) > 0 or shared.get(doc, 0.0) > 0
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def normalise(text: str) -> str:
    """Return the text in the form in which queries are stored."""
    text = unicodedata.normalize("NFKC", re.sub("[™℠]", " ", text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())


def character_grams(query: str, min_n: int, max_n: int) -> set[str]:
    """Return the n-grams of the words between edge marks, and of all words run together."""
    words = query.translate(PLAIN).split()
    spans = [f"_{word}_" for word in words] + (["".join(words)] if len(words) > 1 else [])
    return {
        _GRAM + span[start : start + n]
        for span in spans
        for n in range(min_n, max_n + 1)
        for start in range(len(span) - n + 1)
    }


def _interpolate(signal: float, line: Sequence[tuple[float, float]]) -> float:
    """A rising line through 0 and the given points, which goes on with its last slope."""
    height, x, y = 0.0, 0.0, 0.0
    for place, (knot, top) in enumerate(line):
        inside = signal - x if place + 1 == len(line) else min(signal, knot) - x
        height += max(inside, 0.0) * (top - y) / (knot - x)
        x, y = knot, top
    return height


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
