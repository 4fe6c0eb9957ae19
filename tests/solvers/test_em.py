"""Topics by EM: against a plain EM, token by token, and properties that hold for any data."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.jit.threads import set_threads
from coclick.progress import Progress
from coclick.solvers.em import Corpus, Topics, fit_topics, fold_in

ALPHA, BETA = 1.1, 1.01


def texts(rows: list[list[int]], words: int) -> Csr:
    pairs = [(row, word) for row, text in enumerate(rows) for word in text]
    row_of, word_of = np.array(pairs, np.int64).reshape(-1, 2).T
    return Csr.from_triples(row_of, word_of, np.ones(len(pairs)), (len(rows), words))


def corpus(
    queries: list[list[int]] | None,
    titles: list[list[int]],
    words: tuple[int, int],
    weights: list[float] | None = None,
) -> Corpus:
    """Pair i is query i and title i."""
    every = np.arange(len(titles), dtype=np.int32)
    return Corpus(
        None if queries is None else texts(queries, words[0]),
        texts(titles, words[1]),
        every if queries is not None else every[:0],
        every,
        np.array(weights or [1] * len(titles), np.float32),
    )


QUERIES = [[0, 1], [0], [2, 2, 3], [3], [], [1, 2]]
TITLES = [[0, 1, 2], [0, 0, 4], [3, 4], [5, 3, 3, 3], [1, 5], []]
WEIGHTS = [1.0, 2.5, 1.0, 0.5, 3.0, 1.0]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    words = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    pairs = draw(st.integers(1, 12))

    def side(vocabulary: int) -> list[list[int]]:
        text = st.lists(st.integers(0, vocabulary - 1), max_size=7)
        return draw(st.lists(text, min_size=pairs, max_size=pairs))

    weights = draw(st.lists(st.floats(0.01, 100), min_size=pairs, max_size=pairs))
    return corpus(side(words[0]), side(words[1]), words, weights)


def planted(pairs: int, topics: int = 5, words: int = 60, seed: int = 0) -> tuple[Corpus, Topics]:
    """Pairs drawn from a known model: topics with few common words, one or two topics per pair."""
    random = np.random.default_rng(seed)
    phi = [random.dirichlet(np.full(words, 0.05), topics).T for _ in range(2)]
    mixes = random.dirichlet(np.full(topics, 0.1), pairs)

    def draw(words_of: np.ndarray, longest: int) -> list[list[int]]:
        chances = mixes @ words_of.T
        drawn = (random.random((pairs, longest, 1)) > np.cumsum(chances, axis=1)[:, None, :-1]).sum(axis=2)
        lengths = random.integers(1, longest + 1, pairs)
        return [row[:length].tolist() for row, length in zip(drawn, lengths, strict=True)]

    drawn = corpus(draw(phi[0], 5), draw(phi[1], 12), (words, words))
    return drawn, Topics(*(part.astype(np.float32) for part in phi))


class PlainEm:
    """Eq. 4–8 token by token, in Python floats. `words` has P(word|topic) for each side."""

    def __init__(self, start: Topics, data: Corpus, shared: bool = False) -> None:
        self.sides = [data.titles] if data.queries is None else [data.queries, data.titles]
        self.rows = [data.title_of] if data.queries is None else [data.query_of, data.title_of]
        self.weights = data.weights.tolist()
        tables = [start.title_words] if data.queries is None else [start.query_words, start.title_words]
        self.words = [table.astype(float).tolist() for table in tables]
        self.topics = start.title_words.shape[1]
        self.shared = shared
        self.mixes = [[1 / self.topics] * self.topics for _ in self.weights]

    def tokens(self, side: int, pair: int) -> list[int]:
        columns, counts = self.sides[side].row(self.rows[side][pair])
        return [
            word for word, n in zip(columns.tolist(), counts.tolist(), strict=True) for _ in range(int(n))
        ]

    def posterior(self, side: int, word: int, mix: list[float]) -> list[float]:
        joint = [self.words[side][word][z] * mix[z] for z in range(self.topics)]
        return [value / sum(joint) for value in joint]

    def round(self) -> None:
        counts: list[dict] = [defaultdict(float) for _ in self.sides]
        new_mixes = []
        for pair, mix in enumerate(self.mixes):
            expected = [ALPHA - 1] * self.topics
            for side in range(len(self.sides)):
                for word in self.tokens(side, pair):
                    for z, share in enumerate(self.posterior(side, word, mix)):
                        counts[0 if self.shared else side][word, z] += self.weights[pair] * share
                        expected[z] += self.weights[pair] * share
            new_mixes.append([value / sum(expected) for value in expected])
        self.mixes = new_mixes
        for side in range(1 if self.shared else len(self.sides)):
            words = range(len(self.words[side]))
            for z in range(self.topics):
                total = sum(BETA - 1 + counts[side][word, z] for word in words)
                for word in words:
                    self.words[side][word][z] = (BETA - 1 + counts[side][word, z]) / total
        if self.shared:
            self.words[1] = self.words[0]

    def objective(self) -> float:
        total = sum((ALPHA - 1) * math.log(value) for mix in self.mixes for value in mix)
        for table in self.words[: 1 if self.shared else 2]:
            total += sum((BETA - 1) * math.log(value) for row in table for value in row)
        for pair, mix in enumerate(self.mixes):
            for side in range(len(self.sides)):
                for word in self.tokens(side, pair):
                    chance = sum(self.words[side][word][z] * mix[z] for z in range(self.topics))
                    total += self.weights[pair] * math.log(chance)
        return total


def learn(data: Corpus, topics: int, iterations: int, **options: object) -> tuple[Topics, list[dict]]:
    options |= {"topic_prior": ALPHA, "word_prior": BETA, "iterations": iterations, "tolerance": 0}
    return fit_topics(data, topics, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["pairs", "titles", "shared"])
def test_two_rounds_are_those_of_a_plain_em(kind: str) -> None:
    shared = kind == "shared"
    words = (6, 6) if shared else (4, 6)
    data = corpus(None if kind == "titles" else QUERIES, TITLES, words, WEIGHTS)
    start, _ = learn(data, 3, 0, shared=shared)
    plain = PlainEm(start, data, shared)
    objectives = []
    for _ in range(2):
        objectives.append(plain.objective())
        plain.round()
    found, curve = learn(data, 3, 2, shared=shared)
    np.testing.assert_allclose(found.title_words, plain.words[-1], rtol=2e-6)
    if kind != "titles":
        np.testing.assert_allclose(found.query_words, plain.words[0], rtol=2e-6)
    np.testing.assert_allclose([step["objective"] for step in curve], objectives, rtol=1e-6)
    if shared:
        assert found.query_words is found.title_words or (found.query_words == found.title_words).all()


def rises(curve: list[dict], data: Corpus) -> bool:
    """Up to rounding: parameters are float32, so the logarithm of each token's probability is off by 1e-7."""
    tokens = data.weights @ (data.queries.row_sums()[data.query_of] + data.titles.row_sums()[data.title_of])
    values = np.array([step["objective"] for step in curve])
    return bool((np.diff(values) >= -1e-6 * np.abs(values[:-1]) - 3e-7 * tokens).all())


@settings(max_examples=60)
@given(data=corpora(), topics=st.integers(1, 20), seed=st.integers(0, 3), shared=st.booleans())
def test_objective_never_falls(data: Corpus, topics: int, seed: int, shared: bool) -> None:
    for regularise in (False, True):
        shared = shared and data.queries is not None and data.queries.columns == data.titles.columns
        found, curve = learn(data, topics, 12, seed=seed, regularise=regularise, shared=shared)
        assert rises(curve, data)
        for table in (found.query_words, found.title_words):
            assert (table > 0).all()
            np.testing.assert_allclose(table.sum(axis=0, dtype=np.float64), 1, atol=1e-6)
        if regularise:
            assert max(step["disagreement"] for step in curve) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("regularise", [False, True])
def test_objective_never_falls_on_many_pairs(regularise: bool) -> None:
    data, _ = planted(20_000, topics=12, words=400)
    _, curve = learn(data, 12, 25, regularise=regularise)
    assert rises(curve, data)
    assert curve[-1]["objective"] - curve[0]["objective"] > 0.1 * abs(curve[-1]["objective"])
    if regularise:
        assert max(step["disagreement"] for step in curve) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("regularise", [False, True])
def test_planted_topics_are_found(regularise: bool) -> None:
    data, truth = planted(6_000)
    best, score = None, -np.inf
    for seed in range(4):  # EM finds a local optimum: the best of a few starts
        found, curve = learn(data, 5, 60, seed=seed, regularise=regularise)
        if curve[-1]["objective"] > score:
            best, score = found, curve[-1]["objective"]
    assert best is not None
    cosines = unit(np.vstack([truth.query_words, truth.title_words])).T @ unit(
        np.vstack([best.query_words, best.title_words])
    )
    rows, columns = linear_sum_assignment(-cosines)
    assert cosines[rows, columns].min() > 0.95


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.linalg.norm(table, axis=0)


def test_weights_equal_repetitions() -> None:
    once = corpus(QUERIES, TITLES, (4, 6), [3, 1, 2, 1, 1, 2])
    again = corpus(QUERIES, TITLES, (4, 6))
    # A weight of 3 multiplies the counts of a pair, like repeating its words three times.
    tripled = [q * int(w) for q, w in zip(QUERIES, once.weights, strict=True)]
    longer = [t * int(w) for t, w in zip(TITLES, once.weights, strict=True)]
    weighted, _ = learn(once, 3, 6)
    written_out, _ = learn(corpus(tripled, longer, (4, 6)), 3, 6)
    np.testing.assert_allclose(weighted.title_words, written_out.title_words, rtol=1e-5)
    np.testing.assert_allclose(weighted.query_words, written_out.query_words, rtol=1e-5)
    assert np.abs(learn(again, 3, 6)[0].title_words - weighted.title_words).max() > 1e-3


def test_duplicated_pairs_share_rows_of_texts() -> None:
    rows = np.array([0, 2, 2, 3, 0], np.int32)
    short = Corpus(texts(QUERIES, 4), texts(TITLES, 6), rows, rows, np.ones(5, np.float32))
    written_out = corpus([QUERIES[i] for i in rows], [TITLES[i] for i in rows], (4, 6))
    for regularise in (False, True):
        a, b = (learn(data, 2, 5, regularise=regularise)[0] for data in (short, written_out))
        assert (a.title_words == b.title_words).all()
        assert (a.query_words == b.query_words).all()


def test_unseen_words_get_their_prior() -> None:
    found, _ = learn(corpus([[0]], [[1, 1]], (2, 3)), 2, 3)
    for table, seen, tokens in (found.query_words, 0, 1), (found.title_words, 1, 2):
        unseen = np.delete(table, seen, axis=0)
        by_topic = (1 - table[seen]) / len(unseen)
        np.testing.assert_allclose(unseen, np.broadcast_to(by_topic, unseen.shape), rtol=1e-4)
        expected = (BETA - 1) / unseen - len(table) * (BETA - 1)  # tokens of the topic, by Eq. 6
        np.testing.assert_allclose(expected[0].sum(), tokens, rtol=1e-3)


@pytest.mark.slow
def test_results_do_not_depend_on_threads() -> None:
    data, _ = planted(40_000, topics=7, words=300)
    for regularise in (False, True):
        results = []
        for count in (1, 2, 5):
            set_threads(count)
            try:
                results.append(learn(data, 7, 4, regularise=regularise, held_out=0.01))
            finally:
                set_threads(None)
        for found, curve in results[1:]:
            assert (found.query_words == results[0][0].query_words).all()
            assert (found.title_words == results[0][0].title_words).all()
            assert curve == results[0][1]


def test_early_stop() -> None:
    data, _ = planted(2_000)
    _, curve = fit_topics(data, 5, iterations=200, tolerance=1e-3)
    gain = (curve[-1]["objective"] - curve[-2]["objective"]) / abs(curve[-2]["objective"])
    assert 5 <= len(curve) < 100
    assert gain < 1e-3


def test_held_out_perplexity() -> None:
    data, _ = planted(4_000)
    _, curve = fit_topics(data, 5, iterations=100, held_out=0.1, tolerance=1e-3)
    perplexities = [step["perplexity"] for step in curve]
    assert len(curve) < 100
    assert perplexities[-1] < 0.6 * perplexities[0]
    titles_alone = Corpus(None, data.titles, data.query_of[:0], data.title_of, data.weights)
    _, alone = fit_topics(titles_alone, 5, iterations=10, held_out=0.1)
    assert alone[-1]["perplexity"] < alone[0]["perplexity"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_topics"),
        ({"topic_prior": 1.0}, "topic_prior"),
        ({"word_prior": 0.5}, "word_prior"),
        ({"held_out": 1.5}, "held_out"),
        ({"held_out": 0.99}, "too few pairs"),
    ],
)
def test_bad_parameters_are_explained(options: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        fit_topics(corpus(QUERIES, TITLES, (4, 6)), **{"n_topics": 2, **options})


def test_no_pairs_is_an_error() -> None:
    with pytest.raises(UserError, match="no pairs"):
        fit_topics(corpus([], [], (4, 6)), 2)


# Fold-in


def plain_fold_in(words: Counter, table: np.ndarray, iterations: int) -> list[float]:
    topics = table.shape[1]
    mix = [1 / topics] * topics
    for _ in range(iterations):
        expected = [ALPHA - 1] * topics
        for word, count in words.items():
            joint = [mix[z] * float(table[word, z]) for z in range(topics)]
            for z in range(topics):
                expected[z] += count * joint[z] / sum(joint)
        mix = [value / sum(expected) for value in expected]
    return mix


def test_fold_in_is_eq_8_with_words_fixed() -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(6), 3).T.astype(np.float32)
    found = fold_in(texts(TITLES, 6), table, topic_prior=ALPHA, iterations=20)
    expected = [plain_fold_in(Counter(title), table, 20) for title in TITLES]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found[5], 1 / 3, rtol=1e-6)  # no words


def test_fold_in_of_nothing() -> None:
    assert fold_in(Csr.empty(0, 4), np.full((4, 3), 0.25, np.float32)).shape == (0, 3)
    assert fold_in(Csr.empty(2, 4), np.full((4, 3), 0.25, np.float32)).shape == (2, 3)


# Checkpoints

CHILD = """
import sys
from pathlib import Path
import test_em
from coclick.solvers.em import fit_topics
data, _ = test_em.planted(8_000, topics=9, words=300)
options = {"iterations": 60, "regularise": sys.argv[2] == "True", "tolerance": 0}
fit_topics(data, 9, **options, checkpoint=Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("regularise", [False, True])
def test_killed_training_resumes(tmp_path: Path, regularise: bool) -> None:
    checkpoint = tmp_path / "checkpoint"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(checkpoint), str(regularise)],
        env={**os.environ, "PYTHONPATH": paths},
    )
    deadline = time.monotonic() + 200
    while not (checkpoint / "state.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    data, _ = planted(8_000, topics=9, words=300)
    options: dict[str, Any] = {"iterations": 60, "regularise": regularise, "tolerance": 0}
    iterations: list[int] = []
    resumed, curve = fit_topics(data, 9, **options, checkpoint=checkpoint, progress=counting(iterations))
    whole, whole_curve = fit_topics(data, 9, **options)
    assert 1 <= iterations[0] < 60  # it resumed after some iterations
    assert (resumed.query_words == whole.query_words).all()
    assert (resumed.title_words == whole.title_words).all()
    assert curve == whole_curve
    again, _ = fit_topics(data, 9, **options, checkpoint=checkpoint)  # already complete
    assert (again.title_words == whole.title_words).all()


def counting(iterations: list[int]) -> Progress:
    """A progress bar that records its updates."""

    @contextmanager
    def progress(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        yield iterations.append

    return progress


def test_a_checkpoint_of_other_data_is_replaced(tmp_path: Path) -> None:
    data, weighted = corpus(QUERIES, TITLES, (4, 6)), corpus(QUERIES, TITLES, (4, 6), WEIGHTS)
    fit_topics(data, 2, iterations=2, checkpoint=tmp_path)
    for other, n_topics in ((data, 3), (weighted, 2), (data, 2)):
        found, curve = fit_topics(other, n_topics, iterations=2, checkpoint=tmp_path)
        expected, expected_curve = fit_topics(other, n_topics, iterations=2)
        assert (found.query_words == expected.query_words).all() and curve == expected_curve


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def not_a_number(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4] + np.float32(np.nan).tobytes())


def edited_statistics(path: Path) -> None:
    path.write_text(path.read_text().replace('"round": 2', '"round": "x"'))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("0-words", cut_off),
        ("0-words", not_a_number),
        ("0-words", Path.unlink),
        ("state.json", cut_off),
        ("state.json", edited_statistics),
        ("state.json", lambda path: path.write_text("[" * 100_000)),
        ("state.json", lambda path: path.write_bytes(b"\xff")),
    ],
)
def test_a_damaged_checkpoint_is_replaced(tmp_path: Path, name: str, damage: Any) -> None:
    """Its words went to compiled code without a check of their shape."""
    data = corpus(QUERIES, TITLES, (4, 6))
    expected, expected_curve = fit_topics(data, 2, iterations=2)
    fit_topics(data, 2, iterations=2, checkpoint=tmp_path)
    damage(tmp_path / name)
    iterations: list[int] = []
    options: Any = {"checkpoint": tmp_path, "progress": counting(iterations)}
    found, curve = fit_topics(data, 2, iterations=2, **options)
    assert (found.query_words == expected.query_words).all() and curve == expected_curve
    assert iterations == [0, 1, 1], "it begins anew"
