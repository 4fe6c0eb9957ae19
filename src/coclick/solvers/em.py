"""Bilingual topic models by expectation maximisation (Gao et al. 2011, §3.1–3.2).

A pair of a query and a title has one distribution θ over topics; topic z has a distribution of query words
and one of title words. Dirichlet priors with α, β > 1 keep every probability positive (MAP, Eq. 3–8). The
weight of a pair multiplies its word counts. With titles only, the model is PLSA.

With `regularise` the posteriors of each pair are projected so that query and title have the same share of
each topic (Eq. 9–13, `posterior_regularisation`). The objective that never decreases is then J = penalised
log-likelihood − Σ KL of the projections.

θ (pairs × topics) is kept on disk between iterations, and one block of it in memory. Memory: the corpus, 8
bytes for each word and topic (probabilities and expected counts), and some tens of megabytes for the block,
for any number of threads and pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.progress import Progress, quiet
from coclick.solvers._em_kernels import fold
from coclick.solvers.em_iteration import EmIteration
from coclick.solvers.em_state import EmState
from coclick.storage.layout import Shape
from coclick.storage.state import stored

_MIN_ITERATIONS = 5  # topics separate slowly at first: small gains are no reason to stop
_FOLD_BLOCKS = 16  # per thread
_FOLD_ITERATIONS = 20


@dataclass(frozen=True)
class Corpus:
    """Pairs of queries and titles, or titles only: then `queries` is None and `query_of` is empty."""

    queries: Csr | None  # distinct query texts × query words, counts
    titles: Csr  # distinct titles × title words, counts
    query_of: NDArray[np.int32]  # the query row of each pair
    title_of: NDArray[np.int32]
    weights: NDArray[np.float32]  # of each pair, > 0

    def take(self, pairs: NDArray[np.integer]) -> Corpus:
        """Return the corpus of some of the pairs."""
        query_of = self.query_of if self.queries is None else self.query_of[pairs]
        return Corpus(self.queries, self.titles, query_of, self.title_of[pairs], self.weights[pairs])


@stored
@dataclass(frozen=True)
class Topics:
    """P(word|topic) for queries and titles: words × topics, columns sum to 1; equal if shared."""

    dimensions: ClassVar = ("words", "topics")
    query_words: Annotated[NDArray[np.float32], Shape("words", "topics")]
    title_words: Annotated[NDArray[np.float32], Shape("words", "topics")]


def fit_topics(
    corpus: Corpus,
    n_topics: int,
    *,
    topic_prior: float = 1.1,
    word_prior: float = 1.01,
    iterations: int = 20,
    regularise: bool = False,
    shared: bool = False,
    max_disagreement: float = 1e-3,
    tolerance: float = 1e-4,
    held_out: float = 0.0,
    seed: int = 0,
    progress: Progress = quiet,
    checkpoint: Path | None = None,
) -> tuple[Topics, list[dict]]:
    """Fit topics; also return the training curve.

    Each entry of the curve has the `objective` (penalised log-likelihood, or J) at the start of the
    iteration; with `regularise` the largest and mean `disagreement` of topic shares after the projection, and
    its `newton_steps` per pair;
    with `held_out` the `perplexity` of the queries of held-out pairs given their titles, after the iteration.
    Training stops when perplexity falls, or without held-out pairs the objective rises, by less than the
    relative `tolerance`; 0 never stops early.

    `shared`: queries and titles share one distribution of words; their columns must be the same words.
    `max_disagreement`: by how much topic shares may differ after the projection.
    `checkpoint`: a directory where the state is saved after each iteration; the same call resumes from there.
    One that is damaged, or of other data, is replaced.
    """
    _check(corpus, n_topics, topic_prior, word_prior, held_out, shared, regularise)
    training, validation = _split(corpus, held_out, seed)
    options = {
        "n_topics": n_topics, "topic_prior": topic_prior, "word_prior": word_prior, "iterations": iterations,
        "regularise": regularise, "shared": shared, "max_disagreement": max_disagreement,
        "tolerance": tolerance, "held_out": held_out, "seed": seed,
    }  # fmt: skip
    step = EmIteration(
        training, n_topics, topic_prior - 1, word_prior - 1, regularise, shared, max_disagreement
    )
    with EmState(checkpoint, corpus, options) as state, progress("topics", iterations) as done:
        word_probabilities = state.resume((step.words, step.width))
        if word_probabilities is None:
            word_probabilities = _padded_start(step, n_topics, seed)
        done(state.n_done)
        while state.n_done < iterations and not _is_converged(state.curve, tolerance):
            found = {"round": state.n_done + 1, **step.run(word_probabilities, state)}
            if validation is not None:
                fitted = Topics(*step.unpadded(word_probabilities))
                found["perplexity"] = _perplexity(validation, fitted, topic_prior)
            state.commit(word_probabilities, found)
            done(1)
    return Topics(*step.unpadded(word_probabilities)), state.curve


def fold_in(
    words: Csr,
    word_probabilities: NDArray[np.float32],
    *,
    topic_prior: float = 1.1,
    iterations: int = _FOLD_ITERATIONS,
) -> NDArray[np.float32]:
    """Return P(topic|text) of texts, given P(word|topic): Eq. 8. Without known words it is uniform."""
    mixes = np.empty((words.rows, word_probabilities.shape[1]), np.float32)
    prior, given = np.float32(topic_prior - 1), np.ascontiguousarray(word_probabilities)

    def work(first: int, last: int) -> None:
        fold(first, last, words.indptr, words.indices, words.data, given, prior, iterations, mixes)

    run_blocks(work, balanced_blocks(words.indptr, _FOLD_BLOCKS * threads()))
    return mixes


def initial_words(sizes: Sequence[int], n_topics: int, seed: int) -> list[NDArray[np.float32]]:
    """Return random P(word|topic) for vocabularies of these sizes: with equal ones, topics would stay equal.

    This is the only randomness of the training, apart from the choice of held-out pairs.
    """
    random = np.random.default_rng(seed)
    drawn = [random.standard_exponential((size, n_topics), np.float32) + np.float32(0.1) for size in sizes]
    return [(part / part.sum(axis=0, dtype=np.float64)).astype(np.float32) for part in drawn]


def _padded_start(step: EmIteration, n_topics: int, seed: int) -> NDArray[np.float32]:
    """The initial words of all languages in one matrix."""
    start = np.zeros((step.words, step.width), np.float32)
    start[:, :n_topics] = np.concatenate(initial_words([b - a for a, b in step.languages], n_topics, seed))
    return start


def _split(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus | None]:
    """The training pairs and the validation pairs."""
    if share == 0:
        return corpus, None
    pairs = len(corpus.title_of)
    order = np.random.default_rng([seed, 1]).permutation(pairs)
    count = max(1, round(share * pairs))
    if count >= pairs:
        raise UserError(f"too few pairs ({pairs:,}) to hold some of them out", hint="held_out=0")
    return corpus.take(np.sort(order[count:])), corpus.take(np.sort(order[:count]))


def _perplexity(validation: Corpus, topics: Topics, topic_prior: float) -> float:
    """Perplexity of query words given the title; with titles only, of every second word given the others."""
    if validation.queries is not None:
        seen = validation.titles.take(validation.title_of)
        target = validation.queries.take(validation.query_of)
        target_words = topics.query_words
    else:
        both = validation.titles.take(validation.title_of)
        position = np.arange(both.nnz) - np.repeat(both.indptr[:-1], both.row_nnz())
        seen = both.with_data(np.where(position % 2 == 0, both.data, 0)).positive()
        target = both.with_data(np.where(position % 2 == 1, both.data, 0)).positive()
        target_words = topics.title_words
    mixes = fold_in(seen, topics.title_words, topic_prior=topic_prior)
    text_of = np.repeat(np.arange(target.rows), target.row_nnz())
    log_likelihood = tokens = 0.0
    for first in range(0, target.nnz, 1 << 16):
        part = slice(first, first + (1 << 16))
        probabilities = np.einsum("ij,ij->i", mixes[text_of[part]], target_words[target.indices[part]])
        counts = target.data[part].astype(np.float64) * validation.weights[text_of[part]]
        log_likelihood += float(counts @ np.log(probabilities.astype(np.float64)))
        tokens += float(counts.sum())
    return float(np.exp(-log_likelihood / tokens)) if tokens else float("nan")


def _is_converged(curve: list[dict], tolerance: float) -> bool:
    if len(curve) < _MIN_ITERATIONS:
        return False
    if "perplexity" in curve[-1]:
        before, after = curve[-2]["perplexity"], curve[-1]["perplexity"]
        return bool(before - after < tolerance * before) if tolerance > 0 else False
    before, after = curve[-2]["objective"], curve[-1]["objective"]
    return bool(after - before < tolerance * abs(before)) if tolerance > 0 else False


def _check(
    corpus: Corpus,
    n_topics: int,
    topic_prior: float,
    word_prior: float,
    held_out: float,
    shared: bool,
    regularise: bool,
) -> None:
    if n_topics < 1:
        raise UserError(f"n_topics must be at least 1, not {n_topics}")
    if not (topic_prior > 1 and word_prior > 1):
        raise UserError(f"topic_prior and word_prior must be above 1, not {topic_prior} and {word_prior}")
    if not 0 <= held_out < 1:
        raise UserError(f"held_out must be at least 0 and below 1, not {held_out}")
    if len(corpus.title_of) == 0:
        raise UserError("there are no pairs to fit topics to")
    if corpus.queries is None and (shared or regularise):
        raise UserError("`shared` and `regularise` need queries, not titles only")
    if corpus.queries is not None and shared and corpus.queries.columns != corpus.titles.columns:
        raise ValueError("shared topics need the same words on both sides")
