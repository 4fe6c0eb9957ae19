"""One EM iteration over all pairs, in blocks: each block first by pairs, then by words, on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.intrinsics import CACHE_LINE
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.solvers._em_kernels import accumulate, expect, expected_counts, lay_out, update_probabilities
from coclick.solvers.posterior_regularisation import expect_regularised

if TYPE_CHECKING:
    from coclick.solvers.em import Corpus
    from coclick.solvers.em_state import EmState

Floats = NDArray[np.float32]

_BLOCK_PAIRS = 1 << 14  # in memory at a time
_TASK_PAIRS = 1 << 9  # per task of a thread
_MAX_TASKS, _MIN_WORDS = 64, 256  # over words; for any number of threads, since sums depend on it


class EmIteration:
    """The E-step and M-step of a corpus. Query words and title words are rows of one matrix."""

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        topic_prior: float,
        word_prior: float,
        regularise: bool,
        shared: bool,
        max_disagreement: float,
    ) -> None:
        pairs = len(corpus.title_of)
        self._weights = corpus.weights
        self._query_of = corpus.query_of if corpus.queries is not None else np.zeros(pairs, np.int32)
        self._queries = corpus.queries if corpus.queries is not None else Csr.empty(1, 0)
        self._title_of, self._titles = corpus.title_of, corpus.titles
        self._n_topics, self.width = n_topics, -(-n_topics // CACHE_LINE) * CACHE_LINE
        self._priors = np.float32(topic_prior), word_prior
        self._regularise, self._max_disagreement = regularise, np.float32(max_disagreement)
        self._shift = 0 if shared else self._queries.columns
        self.words = self._shift + self._titles.columns
        languages = [(0, self._shift), (self._shift, self.words)]
        self.languages = [(first, last) for first, last in languages if first < last]
        self._totals = np.zeros((self.words, self.width), np.float32)
        self._word_blocks = balanced_blocks(self._tokens_before(), _tasks(self.words))

    def unpadded(self, given: Floats) -> tuple[Floats, Floats]:
        """Return P(word|topic) of query words and of title words, without the padding of rows."""
        titles = np.ascontiguousarray(given[self._shift :, : self._n_topics])
        if self._shift == self._queries.columns:
            return np.ascontiguousarray(given[: self._shift, : self._n_topics]), titles
        return titles, titles

    def run(self, given: Floats, state: EmState) -> dict:
        """Run one iteration: update θ in `state`, and P(word|topic) in `given`; return its statistics."""
        pairs = len(self._weights)
        buffers = _Buffers(min(pairs, _BLOCK_PAIRS), self.width, self._n_topics, self._regularise)
        objective, worst, disagreement, steps = 0.0, 0.0, 0.0, 0
        tokens = 0  # of the previous blocks
        state.begin_iteration()
        for first in range(0, pairs, _BLOCK_PAIRS):
            block = _Block(self, slice(first, min(first + _BLOCK_PAIRS, pairs)), tokens, buffers)
            steps += self._expect(block, given, state)
            self._accumulate(block)
            objective += float(block.gains.sum())
            worst = max(worst, float(block.disagreement.max()))
            disagreement += float(block.disagreement.sum())
            tokens += len(block.words)
        objective += sum(self._maximise(*words, given) for words in self.languages)
        found = {"objective": objective}
        if self._regularise:
            means = {"mean_disagreement": disagreement / pairs, "newton_steps": steps / pairs}
            found |= {"disagreement": worst, **means}
        return found

    def _expect(self, block: _Block, given: Floats, state: EmState) -> int:
        """Run the E-step of a block; return the number of Newton steps of all its projections."""
        steps: list[int] = []

        def work(first: int, last: int) -> None:
            tokens = block.words, block.counts
            for side, texts, rows, shift in self._sides(block):
                arrays = texts.indptr, texts.indices, texts.data
                lay_out(first, last, *arrays, rows, shift, block.starts, side, *tokens)
            common = block.starts, *tokens, block.weights, given, self._n_topics, self._priors[0]
            fitted = np.zeros((last - first, self.width), np.float32)
            offset = (block.part.start + first) * self.width
            state.read("mixes", offset, block.mixes[first:last])
            if self._regularise:
                own = slice(block.starts[2 * first], block.starts[2 * last])
                changes = block.changes[own]
                state.read("changes", block.tokens_before + own.start, changes)
                count = expect_regularised(
                    first, last, *common, self._max_disagreement, block.mixes, block.changes, block.tilted,
                    fitted, block.gains, block.disagreement,
                )  # fmt: skip
                steps.append(count)
                state.write("changes", block.tokens_before + own.start, changes)
            else:
                expect(first, last, *common, block.mixes, fitted, block.gains)
            state.write("mixes", offset, fitted)

        pairs = len(block.weights)
        tasks = [(first, min(first + _TASK_PAIRS, pairs)) for first in range(0, pairs, _TASK_PAIRS)]
        run_blocks(work, tasks)
        return sum(steps)

    def _accumulate(self, block: _Block) -> None:
        """Sum by words. No word is in two tasks, so the order of additions does not depend on threads."""
        if self._regularise:  # query and title have different mixes, tilted towards each other
            mix_of = np.repeat(np.arange(len(block.tilted), dtype=np.int32), np.diff(block.starts))
            mixes = block.tilted
        else:
            mix_of = np.repeat(np.arange(len(block.mixes), dtype=np.int32), np.diff(block.starts[::2]))
            mixes = block.mixes

        def work(first: int, last: int) -> None:
            begin, end = self._word_blocks[first][0], self._word_blocks[last - 1][1]
            accumulate(begin, end, block.words, block.counts, mix_of, mixes, self._totals)

        count = len(self._word_blocks)
        tasks = 1 if threads() == 1 else min(count, 2 * threads())
        cuts = np.linspace(0, count, tasks + 1).astype(int).tolist()
        run_blocks(work, list(zip(cuts[:-1], cuts[1:], strict=True)))

    def _maximise(self, first: int, last: int, given: Floats) -> float:
        """Compute P(word|topic) from the expected counts (Eq. 6–7); return the log prior of the old one."""
        cuts = np.linspace(first, last, _tasks(last - first) + 1).astype(int).tolist()
        blocks = list(zip(cuts[:-1], cuts[1:], strict=True))
        sums, logs = np.zeros((len(blocks), self._n_topics)), np.zeros(len(blocks))

        def count(task: int, _: int) -> None:
            begin, end = blocks[task]
            logs[task] = expected_counts(begin, end, given, self._totals, self._n_topics, sums[task])

        def divide(begin: int, end: int) -> None:
            update_probabilities(begin, end, self._totals, self._priors[1], scales, given)

        run_blocks(count, [(task, task + 1) for task in range(len(blocks))])
        scales = 1 / (self._priors[1] * (last - first) + sums.sum(axis=0))
        run_blocks(divide, blocks)
        return self._priors[1] * float(logs.sum())

    def _sides(self, block: _Block) -> list[tuple[int, Csr, NDArray[np.int32], int]]:
        part = block.part
        return [
            (0, self._queries, self._query_of[part], 0),
            (1, self._titles, self._title_of[part], self._shift),
        ]

    def _tokens_before(self) -> NDArray[np.int64]:
        """Cumulative number of text entries by word, to balance tasks."""
        counts = np.zeros(self.words + 1, np.int64)
        for texts, shift in (self._queries, 0), (self._titles, self._shift):
            counts[shift + 1 : shift + 1 + texts.columns] += np.bincount(
                texts.indices, minlength=texts.columns
            )
        return np.cumsum(counts)


def _tasks(words: int) -> int:
    return max(1, min(_MAX_TASKS, words // _MIN_WORDS))


class _Buffers:
    """Memory that all blocks share."""

    def __init__(self, pairs: int, width: int, topics: int, regularise: bool) -> None:
        self.mixes = np.zeros((pairs, width), np.float32)
        self.mixes[:, :topics] = 1 / topics
        self.tilted = np.zeros((2 * pairs if regularise else 0, width), np.float32)


class _Block:
    """Some pairs, with their words in one array: query, title, query, title …"""

    def __init__(self, corpus: EmIteration, part: slice, tokens_before: int, buffers: _Buffers) -> None:
        self.part, self.tokens_before = part, tokens_before
        pairs = part.stop - part.start
        lengths = np.empty((pairs, 2), np.int64)
        for side, texts, rows, _ in corpus._sides(self):
            lengths[:, side] = texts.indptr[rows + 1] - texts.indptr[rows]
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        tokens = int(self.starts[-1])
        self.words = np.empty(tokens, np.int32)
        self.counts = np.empty(tokens, np.float32)
        self.weights = corpus._weights[part]
        self.mixes = buffers.mixes[:pairs]
        self.tilted = buffers.tilted[: 2 * pairs]
        self.changes = np.ones(tokens, np.float32)
        self.gains = np.zeros(pairs)
        self.disagreement = np.zeros(pairs, np.float32)
