"""Vectors of texts without clicks, generated from their units (Jiang et al. 2016 §3).

The vector of a unit comes from the clicks of all texts that contain it (Eq. 5–6):

    U = norm(top_K(Bᵀ C D))

with B the incidence of units in texts, C the clicks of texts, D the vectors of the other side. A text is
split into units (§3.3), and its vector is their weighted sum (Eq. 8–9), pruned and normalised like any other.

Units are n-grams of words, as in the paper, or of characters, or both: then character n-grams represent the
words that are in no unit, which are often misspelt or run together. Beyond the paper, the words of the text
can be included, each as a unit whose vector is the word itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, fill_rows, hstack, vstack
from coclick.arrays.strings import Strings, Vocab
from coclick.models.propagation.iterations import (
    Iteration,
    Propagation,
    propagate_once,
    propagate_through_units,
)
from coclick.models.propagation.regression import MAX_CG_ITERATIONS, TOLERANCE, UnitRegression, preconditioner
from coclick.models.provenance import GeneratedProvenance, NoProvenance, Provenance, Side
from coclick.progress import Progress
from coclick.storage.layout import Index, Pointers, Shape
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.ngrams import CharUnits, Incidence, WordUnits, character_sequences
from coclick.text.term_matrix import count_terms, unit_rows

Weighting = Literal["regression", "least_squares", "equal", "idf"]
_MAX_LEAST_SQUARES_ITERATIONS = 1000
_TEXTS_PER_BLOCK = 200_000  # converted to Python strings


@dataclass(frozen=True)
class UnitTrainingData:
    """The input for learning units: the propagation between texts and others, and its last iteration."""

    propagation: Propagation
    vectors: Iteration
    min_texts: int
    weighting: Weighting
    rho: float


@dataclass(frozen=True)
class TextSplitter:
    """Splits texts into terms, and weights the words of a text relative to its units."""

    analyzer: Analyzer
    terms: Vocab
    idf: NDArray[np.float32]
    own_weight: float

    def word_vectors(self, tokens: Tokens) -> Csr:
        """Return the known words of each text, weighted by idf, as a vector of length `own_weight`."""
        counts = count_terms(tokens, len(self.terms))
        words = unit_rows(counts.with_data(counts.data * self.idf[counts.indices]))
        return words.with_data(words.data * np.float32(self.own_weight))


@stored
@dataclass(frozen=True)
class UnitVectors:
    """Units with their vectors, weights and texts: word n-grams first, then character n-grams."""

    dimensions: ClassVar = ("texts", "terms")
    words: Annotated[WordUnits | None, Shape("word_units", "terms")]
    chars: Annotated[CharUnits | None, Shape("char_units")]
    vectors: Annotated[Csr, Shape("units", "terms")]
    weights: Annotated[NDArray[np.float32], Shape("units")]
    # For each unit, the rows of the texts that contain it.
    text_indptr: Annotated[NDArray[np.int64], Pointers("units", "incidences")]
    text_rows: Annotated[NDArray[np.int32], Shape("incidences"), Index("texts")]

    def sizes(self) -> dict[str, int]:
        """Return the number of units."""
        tables = (table for table in (self.words, self.chars) if table is not None)
        return {"units": sum(table.sizes()["units"] for table in tables)}

    def with_chars(self, chars: UnitVectors) -> UnitVectors:
        """Return these word units together with character units for unknown words."""
        return UnitVectors(
            self.words,
            chars.chars,
            vstack(self.vectors, chars.vectors),
            np.concatenate([self.weights, chars.weights]),
            np.concatenate([self.text_indptr, chars.text_indptr[1:] + self.text_indptr[-1]]),
            np.concatenate([self.text_rows, chars.text_rows]),
        )

    def mixture(self, texts: Sequence[str], splitter: TextSplitter) -> Csr:
        """Return the units of each text with their weights, then its own words if they have a weight."""
        tokens = splitter.analyzer.lookup_terms(texts, splitter.terms)
        if self.words is None:
            units = _rows(self.chars, character_sequences(texts))
        else:
            units = _rows(self.words, tokens)
            if self.chars is not None:
                unknown = self._unknown_words(texts, tokens, splitter.analyzer)
                units = hstack(units, _rows(self.chars, character_sequences(unknown)))
        units = _without_zeros(units.with_data(self.weights[units.indices]))
        return hstack(units, splitter.word_vectors(tokens).positive()) if splitter.own_weight else units

    def generate(self, mixture: Csr, k: int) -> Csr:
        """Return the vectors of texts from their units (Eq. 8–9).

        Units may have negative weights. Words whose sum is not positive are dropped.
        """
        used, places = np.unique(mixture.indices, return_inverse=True)
        mixture = Csr(mixture.indptr, places.astype(np.int32), mixture.data, len(used))
        vectors = self._vectors(used)
        if (mixture.data < 0).any():  # which `propagate_once` cannot add up
            sums = Csr.from_scipy(mixture.to_scipy() @ vectors.to_scipy())
            return unit_rows(_top_k(sums.positive(), k))
        return propagate_once(mixture, vectors, k)

    def provenance(self, side: Side, mixture: Csr, display_terms: Strings) -> GeneratedProvenance:
        """Return where the words of a text's vector come from, given its units."""
        units, weights = mixture.row(0)
        own = units[units >= self.vectors.rows] - self.vectors.rows
        known = units[: len(units) - len(own)]
        texts_of_unit = [self.text_rows[self.text_indptr[u] : self.text_indptr[u + 1]] for u in known]
        texts_of_unit += [np.empty(0, np.int32)] * len(own)  # a text's own words have no clicks
        labels = [
            *self._labels(known, display_terms),
            *(f"“{display_terms[term]}” itself" for term in own.tolist()),
        ]
        return GeneratedProvenance(
            side, labels, weights.astype(np.float64), self._vectors(units), texts_of_unit
        )

    def _vectors(self, units: NDArray[np.int32]) -> Csr:
        """The vectors of some units, in ascending order; numbers after the last unit are single words."""
        split = int(np.searchsorted(units, self.vectors.rows))
        own = (units[split:] - self.vectors.rows).astype(np.int32)
        words = Csr(np.arange(len(own) + 1), own, np.ones(len(own), np.float32), self.vectors.columns)
        return vstack(self.vectors.take_checked(units[:split], "unit vectors"), words)

    def _unknown_words(self, texts: Sequence[str], tokens: Tokens, analyzer: Analyzer) -> list[str]:
        """Each text reduced to the words that are in no word unit."""
        assert self.words is not None
        known = np.isin(tokens.terms, self.words.symbols[: self.words.levels[1]])
        unknown = np.add.reduceat(np.append(~known, False), tokens.indptr[:-1]) * (np.diff(tokens.indptr) > 0)
        rest = [""] * len(texts)
        for text in np.flatnonzero(unknown).tolist():
            flags = known[tokens.indptr[text] : tokens.indptr[text + 1]]
            words = zip(analyzer.words(texts[text]), flags, strict=True)
            rest[text] = " ".join(word for word, is_known in words if not is_known)
        return rest

    def _labels(self, units: NDArray[np.int32], display_terms: Strings) -> list[str]:
        if self.words is None or self.chars is None:
            table = self.words or self.chars
            return table.labels(units, display_terms) if table is not None else []
        split = int(np.searchsorted(units, len(self.words)))
        chars = self.chars.labels(units[split:] - len(self.words), display_terms)
        return [*self.words.labels(units[:split], display_terms), *chars]


@dataclass(frozen=True)
class UnitEncoder:
    """Encodes texts as vectors by their units; without units, vectors are empty."""

    units: UnitVectors | None
    splitter: TextSplitter
    k: int

    def encode(self, texts: Sequence[str]) -> Csr:
        """Return one vector per text."""
        if self.units is None:
            return Csr.empty(len(texts), len(self.splitter.terms))
        return self.units.generate(self.units.mixture(texts, self.splitter), self.k)

    def coverage(self, text: str) -> float:
        """Return the share of a text's words that are in units."""
        return self.coverages([text])[0]

    def coverages(self, texts: Sequence[str]) -> list[float]:
        """Return the share of the words of each text that are in units."""
        if self.units is None or not len(texts):
            return [0.0] * len(texts)
        tokens = self.splitter.analyzer.lookup_terms(texts, self.splitter.terms)
        sizes = np.diff(tokens.indptr)
        if self.units.words is None:
            return ((self.encode(texts).row_nnz() > 0) & (sizes > 0)).astype(float).tolist()
        known = np.isin(tokens.terms, self.units.words.symbols[: self.units.words.levels[1]])
        n_known = np.diff(np.concatenate([[0], np.cumsum(known)])[tokens.indptr])
        return (n_known / np.maximum(sizes, 1)).tolist()

    def fill(self, vectors: Csr, edges: Csr, texts: Strings | None) -> Csr:
        """Return the given vectors, with generated ones for rows without edges."""
        missing = np.flatnonzero(edges.row_nnz() == 0)
        if not len(missing) or texts is None or self.units is None:
            return vectors
        blocks = np.split(missing, range(_TEXTS_PER_BLOCK, len(missing), _TEXTS_PER_BLOCK))
        generated = [self.encode(texts.take(block).to_list()) for block in blocks]
        return fill_rows(edges.row_nnz() > 0, vectors, vstack(*generated))

    def provenance(self, side: Side, text: str, display_terms: Strings) -> Provenance:
        """Return where the words of a text's vector come from; units were learned on `side`."""
        if self.units is None:
            return NoProvenance()
        return self.units.provenance(side, self.units.mixture([text], self.splitter), display_terms)


def learn_units(
    kinds: str,
    texts: Strings | None,
    splitter: TextSplitter,
    training: UnitTrainingData,
    progress: Progress,
    tokens: Tokens | None = None,
) -> tuple[UnitVectors | None, dict[str, Any]]:
    """Learn units of "words", "chars", "words+chars" or "none"; return them with statistics of each kind.

    `tokens` are the tokens of the texts if they are known already.
    """
    if kinds == "none" or texts is None:
        return None, {}
    learned = {kind: _learn(kind, texts, tokens, splitter, training, progress) for kind in kinds.split("+")}
    units = next(iter(learned.values()))[0]
    if len(learned) == 2:
        units = learned["words"][0].with_chars(learned["chars"][0])
    return units, {kind: stats for kind, (_, stats) in learned.items()}


def _learn(
    kind: str,
    texts: Strings,
    tokens: Tokens | None,
    splitter: TextSplitter,
    training: UnitTrainingData,
    progress: Progress,
) -> tuple[UnitVectors, dict[str, Any]]:
    """The units of one kind in the texts with clicks, with statistics."""
    edges, k = training.propagation.to_texts, training.propagation.k
    clicked = edges.row_nnz() > 0
    with progress(f"units of {kind}"):
        if kind == "words":
            if tokens is None:
                tokens = splitter.analyzer.lookup_terms(texts.to_list(), splitter.terms)
            held = WordUnits.extract(tokens.only(clicked), training.min_texts)
        else:
            held = CharUnits.extract(character_sequences(texts).only(clicked), training.min_texts)
    texts_of_unit = held.by_unit()
    units = len(held.table)
    with progress("unit vectors", units) as done:
        vectors = propagate_through_units(*texts_of_unit, edges, training.vectors.others, k, done)
    stats: dict[str, Any] = {"units": units, "incidences": len(held.units)}
    weights = np.ones(units)
    if training.weighting == "idf":
        weights = _idf(held)
    elif training.weighting in ("regression", "least_squares") and units:
        weights, stats["regression_rounds"] = _regress(held, vectors, training, progress)
    stats["mean_weight"] = round(float(weights.mean()), 4) if units else 0.0
    words = held.table if isinstance(held.table, WordUnits) else None
    chars = held.table if isinstance(held.table, CharUnits) else None
    return UnitVectors(words, chars, vectors, weights.astype(np.float32), *texts_of_unit), stats


def _idf(held: Incidence) -> NDArray[np.float64]:
    """The inverse document frequency of each unit."""
    return np.log1p(len(held) / np.maximum(np.bincount(held.units, minlength=len(held.table)), 1))


def _rows(table: WordUnits | CharUnits | None, sequences: Tokens) -> Csr:
    assert table is not None
    units = table.decompose(sequences)
    return Csr(units.indptr, units.units, np.ones(len(units.units), np.float32), len(table))


def _regress(
    held: Incidence, vectors: Csr, training: UnitTrainingData, progress: Progress
) -> tuple[NDArray[np.float64], int]:
    """Eq. 7 over all units of a text, including nested ones but not the unit that is the whole text.

    There are many units with few texts each, so weights are regularised towards their idf, at the scale that
    fits best, with the strength of `rho` texts. Plain least squares only starts there: a weight that the
    equations do not determine, such as that of a unit which is always the whole text, keeps that value.
    """
    others = held.without_full_text()
    targets = training.vectors.texts
    regression = UnitRegression(
        others.indptr,
        others.units,
        (vectors.indptr, vectors.indices, vectors.data),
        (targets.indptr, targets.indices, targets.data),
        vectors.columns,
    )
    right_side = regression.right_side()
    prior = _idf(held)
    prior *= regression.best_multiple(prior, right_side)
    if training.weighting == "least_squares":
        with progress("unit weights", _MAX_LEAST_SQUARES_ITERATIONS) as done:
            return _least_squares(regression, right_side, prior, done)
    with progress("unit weights", MAX_CG_ITERATIONS) as done:
        return regression.solve(right_side, prior, training.rho, done=done)


def _least_squares(
    regression: UnitRegression,
    right_side: NDArray[np.float64],
    start: NDArray[np.float64],
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], int]:
    """The weights that solve G w = h, which may be negative, and the number of iterations."""
    from scipy.sparse.linalg import LinearOperator, cg

    shape = (len(start), len(start))
    iterations = 0

    def count(_: NDArray[np.float64]) -> None:
        nonlocal iterations
        iterations += 1
        done(1)

    scale = preconditioner(regression.diagonal(), 0.0)
    weights, _ = cg(
        LinearOperator(shape, matvec=regression.apply, dtype=np.float64),
        right_side,
        start,
        rtol=TOLERANCE,
        maxiter=_MAX_LEAST_SQUARES_ITERATIONS,
        M=LinearOperator(shape, matvec=lambda values: values / scale, dtype=np.float64),
        callback=count,
    )
    return weights, iterations


def _top_k(matrix: Csr, k: int) -> Csr:
    """The k largest entries of each row; ties go to the smaller column."""
    lengths = matrix.row_nnz()
    row = np.repeat(np.arange(matrix.rows), lengths)
    order = np.lexsort((matrix.indices, -matrix.data, row))
    rank = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], lengths)
    kept = np.sort(order[rank < k])
    ends = np.concatenate([[0], np.cumsum(np.minimum(lengths, k))])
    return Csr(ends, matrix.indices[kept], matrix.data[kept], matrix.columns)


def _without_zeros(matrix: Csr) -> Csr:
    kept = np.abs(matrix.data) > 0
    ends = np.concatenate([[0], np.cumsum(kept)])
    return Csr(ends[matrix.indptr], matrix.indices[kept], matrix.data[kept], matrix.columns)
