"""Vectors for texts without clicks, from the units they are made of (paper 003, §3).

A unit's vector is what the clicks of all texts that hold the unit lead to (Eq. 5–6):

    U = norm(top_K(Bᵀ C D))

with B the incidence of units in texts, C the clicks from texts, D the vectors at their other end. A text is
cut into units (§3.3), and its vector is their weighted sum (Eq. 8–9), pruned and normalised like any other.

Units are n-grams of words, as in the paper, or of characters, or both: then characters stand for the words
that no unit knows, which are often misspelt or run together. Beyond the paper, the text's own words can take
part, each as a unit whose vector is the word itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, hstack, vstack, where
from coclick.arrays.strings import Strings, Vocab
from coclick.models.propagation.regression import MOST_ROUNDS, UnitRegression
from coclick.models.propagation.rounds import Propagation, Round, propagate_once, propagate_through_units
from coclick.models.provenance import GeneratedProvenance, NoProvenance, Provenance, Side
from coclick.progress import Progress
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.ngrams import CharUnits, Incidence, WordUnits, character_sequences
from coclick.text.term_matrix import count_terms, unit_rows

Weighting = Literal["regression", "equal", "idf"]
_TEXTS_AT_A_TIME = 200_000  # as Python's own strings


@dataclass(frozen=True)
class UnitTrainingData:
    """What unit vectors are learned from: propagation between texts and others, and its last round."""

    propagation: Propagation
    vectors: Round
    min_texts: int
    weighting: Weighting
    rho: float


@dataclass(frozen=True)
class TextSplitter:
    """How texts are cut, and how much their own words count beside their units."""

    analyzer: Analyzer
    terms: Vocab
    idf: NDArray[np.float32]
    own: float

    def own_words(self, tokens: Tokens) -> Csr:
        """Each text's known words by idf, as a vector of length `own`."""
        counts = count_terms(tokens, len(self.terms))
        words = unit_rows(counts.with_data(counts.data * self.idf[counts.indices]))
        return words.with_data(words.data * np.float32(self.own))


@stored
@dataclass(frozen=True)
class UnitVectors:
    """Units with their vectors, weights and the texts that taught them: words first, then characters."""

    words: WordUnits | None
    chars: CharUnits | None
    vectors: Csr
    weights: NDArray[np.float32]
    holder_indptr: NDArray[np.int64]  # for each unit, the rows of the texts that hold it
    holder_rows: NDArray[np.int32]

    def with_chars(self, chars: UnitVectors) -> UnitVectors:
        """These word units, with character units for the words they do not know."""
        return UnitVectors(
            self.words,
            chars.chars,
            vstack(self.vectors, chars.vectors),
            np.concatenate([self.weights, chars.weights]),
            np.concatenate([self.holder_indptr, chars.holder_indptr[1:] + self.holder_indptr[-1]]),
            np.concatenate([self.holder_rows, chars.holder_rows]),
        )

    def mixture(self, texts: Sequence[str], cut: TextSplitter) -> Csr:
        """For each text the units that stand for it, with their weights; its own words stand behind them."""
        tokens = cut.analyzer.look_up(texts, cut.terms)
        if self.words is None:
            units = _rows(self.chars, character_sequences(texts))
        else:
            units = _rows(self.words, tokens)
            if self.chars is not None:
                unknown = self._unknown_words(texts, tokens, cut.analyzer)
                units = hstack(units, _rows(self.chars, character_sequences(unknown)))
        units = units.with_data(self.weights[units.indices])
        return (hstack(units, cut.own_words(tokens)) if cut.own else units).positive()

    def generate(self, mixture: Csr, k: int) -> Csr:
        """Eq. 8–9."""
        used, places = np.unique(mixture.indices, return_inverse=True)
        mixture = Csr(mixture.indptr, places.astype(np.int32), mixture.data, len(used))
        return propagate_once(mixture, self._vectors(used), k)

    def provenance(self, side: Side, mixture: Csr, surfaces: Strings) -> GeneratedProvenance:
        """Where the words of one text's vector come from, given its units."""
        units, weights = mixture.row(0)
        own = units[units >= self.vectors.rows] - self.vectors.rows
        known = units[: len(units) - len(own)]
        holders = [self.holder_rows[self.holder_indptr[u] : self.holder_indptr[u + 1]] for u in known]
        holders += [np.empty(0, np.int32)] * len(own)  # no click stands behind a text's own words
        labels = [*self._labels(known, surfaces), *(f"“{surfaces[term]}” itself" for term in own.tolist())]
        return GeneratedProvenance(side, labels, weights.astype(np.float64), self._vectors(units), holders)

    def _vectors(self, units: NDArray[np.int32]) -> Csr:
        """The vectors of some units, in ascending order; those behind the last unit are single words."""
        split = int(np.searchsorted(units, self.vectors.rows))
        own = (units[split:] - self.vectors.rows).astype(np.int32)
        words = Csr(np.arange(len(own) + 1), own, np.ones(len(own), np.float32), self.vectors.columns)
        return vstack(self.vectors.take_checked(units[:split], "unit vectors"), words)

    def _unknown_words(self, texts: Sequence[str], tokens: Tokens, analyzer: Analyzer) -> list[str]:
        """Each text reduced to the words that no word unit knows."""
        assert self.words is not None
        known = np.isin(tokens.terms, self.words.symbols[: self.words.levels[1]])
        some = np.add.reduceat(np.append(~known, False), tokens.indptr[:-1]) * (np.diff(tokens.indptr) > 0)
        rest = [""] * len(texts)
        for text in np.flatnonzero(some).tolist():
            flags = known[tokens.indptr[text] : tokens.indptr[text + 1]]
            words = zip(analyzer.words(texts[text]), flags, strict=True)
            rest[text] = " ".join(word for word, is_known in words if not is_known)
        return rest

    def _labels(self, units: NDArray[np.int32], surfaces: Strings) -> list[str]:
        if self.words is None or self.chars is None:
            table = self.words or self.chars
            return table.labels(units, surfaces) if table is not None else []
        split = int(np.searchsorted(units, len(self.words)))
        chars = self.chars.labels(units[split:] - len(self.words), surfaces)
        return [*self.words.labels(units[:split], surfaces), *chars]


@dataclass(frozen=True)
class UnitEncoder:
    """From texts to vectors, by units; without units, to empty ones."""

    units: UnitVectors | None
    cut: TextSplitter
    k: int

    def vectors(self, texts: Sequence[str]) -> Csr:
        """One vector a text."""
        if self.units is None:
            return Csr.empty(len(texts), len(self.cut.terms))
        return self.units.generate(self.units.mixture(texts, self.cut), self.k)

    def coverage(self, text: str) -> float:
        """The share of a text's words that its units stand for; a word the log has never seen is not one."""
        tokens = self.cut.analyzer.look_up([text], self.cut.terms)[0]
        if self.units is None or not len(tokens):
            return 0.0
        if self.units.words is None:
            return float(self.vectors([text]).nnz > 0)
        known = self.units.words.symbols[: self.units.words.levels[1]]
        return float(np.isin(tokens, known).mean())

    def fill(self, vectors: Csr, edges: Csr, texts: Strings | None) -> Csr:
        """The given vectors, with generated ones for the rows that have no edges."""
        missing = np.flatnonzero(edges.row_nnz() == 0)
        if not len(missing) or texts is None or self.units is None:
            return vectors
        blocks = np.split(missing, range(_TEXTS_AT_A_TIME, len(missing), _TEXTS_AT_A_TIME))
        generated = [self.vectors(texts.take(block).to_list()) for block in blocks]
        return where(edges.row_nnz() > 0, vectors, vstack(*generated))

    def provenance(self, side: Side, text: str, surfaces: Strings) -> Provenance:
        """Where the words of a text's vector come from; `side` is the one that the units were learned on."""
        if self.units is None:
            return NoProvenance()
        return self.units.provenance(side, self.units.mixture([text], self.cut), surfaces)


def learn_units(
    kinds: str,
    texts: Strings | None,
    cut: TextSplitter,
    lesson: UnitTrainingData,
    progress: Progress,
    tokens: Tokens | None = None,
) -> tuple[UnitVectors | None, dict[str, Any]]:
    """Units of "words", "chars", "words+chars" or "none", with figures for each kind.

    `tokens` are the texts' words, where somebody has cut them already.
    """
    if kinds == "none" or texts is None:
        return None, {}
    learned = {kind: _learn(kind, texts, tokens, cut, lesson, progress) for kind in kinds.split("+")}
    units = next(iter(learned.values()))[0]
    if len(learned) == 2:
        units = learned["words"][0].with_chars(learned["chars"][0])
    return units, {kind: figures for kind, (_, figures) in learned.items()}


def _learn(
    kind: str,
    texts: Strings,
    tokens: Tokens | None,
    cut: TextSplitter,
    lesson: UnitTrainingData,
    progress: Progress,
) -> tuple[UnitVectors, dict[str, Any]]:
    """The units of one kind that the texts with clicks hold."""
    edges, k = lesson.propagation.to_texts, lesson.propagation.k
    clicked = edges.row_nnz() > 0
    with progress(f"units of {kind}"):
        if kind == "words":
            if tokens is None:
                tokens = cut.analyzer.look_up(texts.to_list(), cut.terms)
            held = WordUnits.extract(tokens.only(clicked), lesson.min_texts)
        else:
            held = CharUnits.extract(character_sequences(texts).only(clicked), lesson.min_texts)
    holders = held.by_unit()
    units = len(held.table)
    with progress("unit vectors", units) as done:
        vectors = propagate_through_units(*holders, edges, lesson.vectors.others, k, done)
    figures: dict[str, Any] = {"units": units, "incidences": len(held.units)}
    weights = np.ones(units)
    if lesson.weighting == "idf":
        weights = _rarity(held)
    elif lesson.weighting == "regression" and units:
        weights, figures["regression_rounds"] = _regress(held, vectors, lesson, progress)
    figures["mean_weight"] = round(float(weights.mean()), 4) if units else 0.0
    words = held.table if isinstance(held.table, WordUnits) else None
    chars = held.table if isinstance(held.table, CharUnits) else None
    return UnitVectors(words, chars, vectors, weights.astype(np.float32), *holders), figures


def _rarity(held: Incidence) -> NDArray[np.float64]:
    """Inverse document frequency of each unit."""
    return np.log1p(len(held) / np.maximum(np.bincount(held.units, minlength=len(held.table)), 1))


def _rows(table: WordUnits | CharUnits | None, sequences: Tokens) -> Csr:
    assert table is not None
    units = table.decompose(sequences)
    return Csr(units.indptr, units.units, np.ones(len(units.units), np.float32), len(table))


def _regress(
    held: Incidence, vectors: Csr, lesson: UnitTrainingData, progress: Progress
) -> tuple[NDArray[np.float64], int]:
    """Eq. 7 over all units of a text, nested ones too, but not the unit that is the whole text.

    Units are many and texts that hold them few, so weights are drawn towards their inverse document
    frequencies, at the scale that fits best: with `rho` texts' worth of evidence.
    """
    others = held.without_whole()
    targets = lesson.vectors.texts
    regression = UnitRegression(
        others.indptr,
        others.units,
        (vectors.indptr, vectors.indices, vectors.data),
        (targets.indptr, targets.indices, targets.data),
        vectors.columns,
    )
    right_side = regression.right_side()
    prior = _rarity(held)
    prior *= regression.best_multiple(prior, right_side)
    with progress("unit weights", MOST_ROUNDS) as done:
        return regression.solve(right_side, prior, lesson.rho, done=done)
