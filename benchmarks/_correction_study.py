"""Fit and judge the confidence of corrections on simulated logs, where it is known what each query means.

    python -m benchmarks._correction_study            # precision and recall on logs that were not fitted to
    python -m benchmarks._correction_study --fit      # also fit the weights of coclick.suggestions.confidence

A log is simulated from a seed and built. All queries of the simulated world are asked, also those that occur
only after the log. A correction is right if it is exactly the text without typos; any correction of a text
without typos is wrong.

    precision  right corrections / corrections        recall  right corrections / queries with typos
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.optimize

from coclick.logs import build
from coclick.simulate import sample
from coclick.simulate.world import World
from coclick.suggestions import confidence
from coclick.suggestions.suggestions import MIN_CONFIDENCE, Suggestions

SIZES = ((1000, 2000), (3000, 5000), (8000, 8000))  # queries and documents
FITTED_SEEDS, JUDGED_SEEDS = range(100, 106), range(5)
PENALTY = 1.0  # of squared standardised weights
BINS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class Proposal(NamedTuple):
    """An alternative reading of a simulated query, and whether it is right."""

    seen: bool  # whether the typed text is a query of the graph
    has_typo: bool
    is_right: bool
    evidence: dict[str, float] | None  # None: there is no other reading

    @property
    def sure(self) -> float:
        """The confidence in it."""
        return 0.0 if self.evidence is None else confidence.confidence(self.evidence)


class Judged(NamedTuple):
    """Figures of corrections at a confidence."""

    queries: int
    with_typos: int
    corrected: int
    precision: float
    recall: float


def proposals(queries: int, docs: int, seed: int) -> list[Proposal]:
    """Simulate a log, and ask for every query of its world."""
    with tempfile.TemporaryDirectory() as place:
        sample(place, queries, docs, seed=seed)
        graph = build([Path(place, "events.parquet")], Path(place, "docs.tsv"), Path(place, "graph"))
        suggestions = Suggestions.build(graph)
        known = set(graph.queries.to_list())
        world = World.make(queries, docs, seed).queries
        return list(_ask(suggestions, known, world.texts, world.clean_texts))


def _ask(
    suggestions: Suggestions, known: set[str], texts: Sequence[str], meant: Sequence[str]
) -> Iterator[Proposal]:
    for text, clean in zip(texts, meant, strict=True):
        found = suggestions.propose(text)
        right = found is not None and text != clean and found[0] == clean
        yield Proposal(text in known, text != clean, right, None if found is None else found[1])


def judge(asked: Sequence[Proposal], min_confidence: float = MIN_CONFIDENCE) -> Judged:
    """Return precision and recall of the corrections with at least this confidence."""
    shown = [one for one in asked if one.evidence is not None and one.sure >= min_confidence]
    right = sum(one.is_right for one in shown)
    typos = sum(one.has_typo for one in asked)
    return Judged(len(asked), typos, len(shown), right / max(len(shown), 1), right / max(typos, 1))


def fit(asked: Sequence[Proposal]) -> tuple[float, dict[str, float]]:
    """Fit a logistic regression with a small L2 penalty; return its bias and weights."""
    given = [one for one in asked if one.evidence is not None and "joined" not in one.evidence]
    assert given[0].evidence is not None
    names = list(given[0].evidence)
    table = np.array([[one.evidence[name] for name in names] for one in given if one.evidence is not None])
    right = np.array([one.is_right for one in given], np.float64)
    mean, spread = table.mean(0), np.maximum(table.std(0), 1e-6)
    scaled = np.hstack([(table - mean) / spread, np.ones((len(table), 1))])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = scaled @ weights
        penalised = np.append(weights[:-1], 0.0)
        value = np.logaddexp(0, score).sum() - right @ score + PENALTY / 2 * penalised @ penalised
        return value, scaled.T @ (1 / (1 + np.exp(-score)) - right) + PENALTY * penalised

    found = scipy.optimize.minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return float(found[-1] - weights @ mean), dict(zip(names, weights.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    if parser.parse_args().fit:
        asked = [one for size in SIZES for seed in FITTED_SEEDS for one in proposals(*size, seed)]
        bias, weights = fit(asked)
        print(f"BIAS = {bias:.3f}\nWEIGHTS = {{")
        print("\n".join(f'    "{name}": {weight:.3f},' for name, weight in weights.items()) + "\n}")
        confidence.BIAS, confidence.WEIGHTS = round(bias, 3), {k: round(v, 3) for k, v in weights.items()}
    every = []
    heads = ("queries", "seed", "typos", "corrected", "precision", "recall", "unseen: precision", "recall")
    print("  ".join(heads))
    for size in SIZES:
        for seed in JUDGED_SEEDS:
            asked = proposals(*size, seed)
            every += asked
            all_, unseen = judge(asked), judge([one for one in asked if not one.seen])
            counts = f"{size[0]:7} {seed:5} {all_.with_typos:6} {all_.corrected:10}"
            figures = f"{all_.precision:10.3f} {all_.recall:7.3f}"
            print(f"{counts} {figures} {unseen.precision:18.3f} {unseen.recall:7.3f}")
    sure = np.array([one.sure for one in every if one.evidence is not None])
    right = np.array([one.is_right for one in every if one.evidence is not None])
    print("\nconfidence     proposals  mean confidence  right")
    for low, high in zip(BINS[:-1], BINS[1:], strict=True):
        inside = (sure >= low) & (sure < high if high < 1 else sure <= 1)
        if inside.any():
            means = f"{sure[inside].mean():16.3f} {right[inside].mean():6.3f}"
            print(f"{low:.2f} – {high:.2f} {inside.sum():12} {means}")
    for cut in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        at = judge(every, cut)
        print(f"at {cut:.1f}: precision {at.precision:.3f}, recall {at.recall:.3f}")


if __name__ == "__main__":
    main()
