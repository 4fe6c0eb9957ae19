"""Topics of texts in two languages, by expectation maximisation (paper 001 §3.1–3.2).

A pair of a query and a title has one distribution θ over topics; topic z has a distribution of query words
and one of title words. Dirichlet priors with α, β > 1 keep every probability positive (MAP, Eq. 3–8). A pair
counts as often as its weight says: weights multiply its word counts wherever they occur. Titles alone make
PLSA.

With `regularise` the posteriors are projected, pair by pair, so that query and title have the same share of
each topic (Eq. 9–13, `kernels.agreement`). Then what never falls is J = penalised log-likelihood − Σ KL of
the projections.

θ is state between rounds: pairs × topics, on disk, a block in memory at a time. In memory are, besides the
corpus, 4 bytes of probabilities and 4 of expected counts for each word and topic, and the block: 8·T·words
bytes and some tens of megabytes, whatever the number of threads and of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.progress import Progress, quiet
from coclick.solvers._em_kernels import fold
from coclick.solvers.em_round import Round
from coclick.solvers.em_state import State
from coclick.storage.state import stored

_LEAST_ROUNDS = 5  # topics part slowly at first: small gains then do not mean that it is over
_FOLD_BLOCKS = 16  # a thread
_FOLD_ROUNDS = 20


@dataclass(frozen=True)
class Corpus:
    """Pairs of texts in two languages, or titles alone: then `queries` is None and `query_of` empty."""

    queries: Csr | None  # distinct query texts × query words, counts
    titles: Csr  # distinct titles × title words, counts
    query_of: NDArray[np.int32]  # for each pair the row of its query
    title_of: NDArray[np.int32]
    weights: NDArray[np.float32]  # of pairs, from clicks; > 0

    def take(self, pairs: NDArray[np.integer]) -> Corpus:
        """Some of the pairs."""
        query_of = self.query_of if self.queries is None else self.query_of[pairs]
        return Corpus(self.queries, self.titles, query_of, self.title_of[pairs], self.weights[pairs])


@stored
@dataclass(frozen=True)
class Topics:
    """P(word|topic) for both languages: words × topics, columns sum to 1; the same twice where shared."""

    query_words: NDArray[np.float32]
    title_words: NDArray[np.float32]


def learn_topics(
    corpus: Corpus,
    topics: int,
    *,
    alpha: float = 1.1,
    beta: float = 1.01,
    rounds: int = 20,
    regularise: bool = False,
    shared: bool = False,
    agreement: float = 1e-3,
    tolerance: float = 1e-4,
    held_out: float = 0.0,
    seed: int = 0,
    progress: Progress = quiet,
    checkpoint: Path | None = None,
) -> tuple[Topics, list[dict]]:
    """Topics, and for each round what was found.

    That is: `objective` (penalised log-likelihood, or J) of the parameters with which the round began, with
    `regularise` the largest and mean `disagreement` of topic shares after the projection, with `held_out` the
    `perplexity` of the queries of held-out pairs given their titles, after the round. The last round is the
    one after which perplexity falls by less than the part `tolerance` of itself or, without held-out pairs,
    the objective rises by less than that; 0 never stops early.

    `shared`: one distribution of words for both languages, whose columns must then mean the same words.
    `checkpoint`: a directory in which the state is kept after each round; the same call goes on from there.
    """
    _check(corpus, topics, alpha, beta, held_out, shared, regularise)
    learned, judged = _split(corpus, held_out, seed)
    options = {
        "topics": topics, "alpha": alpha, "beta": beta, "rounds": rounds, "regularise": regularise,
        "shared": shared, "agreement": agreement, "tolerance": tolerance, "held_out": held_out, "seed": seed,
    }  # fmt: skip
    step = Round(learned, topics, alpha - 1, beta - 1, regularise, shared, agreement)
    with State(checkpoint, corpus, options) as state, progress("topics", rounds) as done:
        given = state.given if state.rounds_done else _start(step, topics, seed)
        done(state.rounds_done)
        while state.rounds_done < rounds and not _is_over(state.curve, tolerance):
            found = {"round": state.rounds_done + 1, **step.run(given, state)}
            if judged is not None:
                found["perplexity"] = _perplexity(judged, Topics(*step.unpadded(given)), alpha)
            state.commit(given, found)
            done(1)
    return Topics(*step.unpadded(given)), state.curve


def fold_in(
    words: Csr, distributions: NDArray[np.float32], *, alpha: float = 1.1, rounds: int = _FOLD_ROUNDS
) -> NDArray[np.float32]:
    """Topics of texts, P(topic|text), given P(word|topic): Eq. 8. Without known words it is uniform."""
    mixes = np.empty((words.rows, distributions.shape[1]), np.float32)
    prior, given = np.float32(alpha - 1), np.ascontiguousarray(distributions)

    def work(first: int, last: int) -> None:
        fold(first, last, words.indptr, words.indices, words.data, given, prior, rounds, mixes)

    run_blocks(work, balanced_blocks(words.indptr, _FOLD_BLOCKS * threads()))
    return mixes


def _start(step: Round, topics: int, seed: int) -> NDArray[np.float32]:
    """Distributions of words drawn at random: from equal ones topics would never part."""
    random = np.random.default_rng(seed)
    given = np.zeros((step.words, step.width), np.float32)
    for first, last in step.languages:
        part = random.standard_exponential((last - first, topics), np.float32) + np.float32(0.1)
        given[first:last, :topics] = part / part.sum(axis=0, dtype=np.float64)
    return given


def _split(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus | None]:
    """What is learned from, and the pairs held out to judge it by."""
    if share == 0:
        return corpus, None
    pairs = len(corpus.title_of)
    order = np.random.default_rng([seed, 1]).permutation(pairs)
    judged = max(1, round(share * pairs))
    if judged >= pairs:
        raise UserError(f"too few pairs ({pairs:,}) to hold some of them out", hint="held_out=0")
    return corpus.take(np.sort(order[judged:])), corpus.take(np.sort(order[:judged]))


def _perplexity(judged: Corpus, learned: Topics, alpha: float) -> float:
    """Of query words given the title; of titles alone, of every other word given the rest."""
    if judged.queries is not None:
        seen, asked = judged.titles.take(judged.title_of), judged.queries.take(judged.query_of)
        expected = learned.query_words
    else:
        both = judged.titles.take(judged.title_of)
        place = np.arange(both.nnz) - np.repeat(both.indptr[:-1], both.row_nnz())
        seen = both.with_data(np.where(place % 2 == 0, both.data, 0)).positive()
        asked = both.with_data(np.where(place % 2 == 1, both.data, 0)).positive()
        expected = learned.title_words
    mixes = fold_in(seen, learned.title_words, alpha=alpha)
    text_of = np.repeat(np.arange(asked.rows), asked.row_nnz())
    logs = tokens = 0.0
    for first in range(0, asked.nnz, 1 << 16):
        part = slice(first, first + (1 << 16))
        chances = np.einsum("ij,ij->i", mixes[text_of[part]], expected[asked.indices[part]])
        counts = asked.data[part].astype(np.float64) * judged.weights[text_of[part]]
        logs += float(counts @ np.log(chances.astype(np.float64)))
        tokens += float(counts.sum())
    return float(np.exp(-logs / tokens)) if tokens else float("nan")


def _is_over(curve: list[dict], tolerance: float) -> bool:
    if len(curve) < _LEAST_ROUNDS:
        return False
    if "perplexity" in curve[-1]:
        before, after = curve[-2]["perplexity"], curve[-1]["perplexity"]
        return bool(before - after < tolerance * before) if tolerance > 0 else False
    before, after = curve[-2]["objective"], curve[-1]["objective"]
    return bool(after - before < tolerance * abs(before)) if tolerance > 0 else False


def _check(
    corpus: Corpus, topics: int, alpha: float, beta: float, held_out: float, shared: bool, regularise: bool
) -> None:
    if topics < 1:
        raise UserError(f"topics must be at least 1, not {topics}")
    if not (alpha > 1 and beta > 1):
        raise UserError(f"alpha and beta must be above 1, not {alpha} and {beta}")
    if not 0 <= held_out < 1:
        raise UserError(f"held_out is a share between 0 and 1, not {held_out}")
    if len(corpus.title_of) == 0:
        raise UserError("there are no pairs to learn topics from")
    if corpus.queries is None and (shared or regularise):
        raise UserError("titles alone have nothing to agree with or to share words with")
    if corpus.queries is not None and shared and corpus.queries.columns != corpus.titles.columns:
        raise ValueError("shared topics need the same words on both sides")
