"""The topic models of Gao et al. 2011, token by token in float64, from texts to scores.

Nothing of the package is used but the initial word distributions, which training draws at random.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]


@dataclass
class Pair:
    """The words of a query and a title, and the weight of the pair. PLSA has no query words."""

    query: list[str]
    title: list[str]
    weight: float


@dataclass
class ReferenceTopics:
    """P(word|topic) of both sides, θ of each pair, and the training (Eq. 3–13)."""

    pairs: list[Pair]
    query_words: dict[str, Floats]
    title_words: dict[str, Floats]  # the same object as `query_words` for one vocabulary
    alpha: float = 1.1
    beta: float = 1.01
    regularise: bool = False
    objectives: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        topics = len(next(iter(self.title_words.values())))
        self.mixes = [np.full(topics, 1 / topics) for _ in self.pairs]

    def train(self, rounds: int) -> None:
        for _ in range(rounds):
            self.train_once()

    def train_once(self) -> None:
        shared = self.query_words is self.title_words
        tables = [self.title_words] if shared else [self.query_words, self.title_words]
        counts = [{word: np.zeros(len(self.mixes[0])) for word in table} for table in tables]
        every = [row for table in tables for row in table.values()]
        objective = float(sum((self.beta - 1) * np.log(row).sum() for row in every))
        for i, pair in enumerate(self.pairs):
            mix = self.mixes[i]
            asked = [_normalised(mix * self.query_words[word]) for word in pair.query]  # Eq. 4
            held = [_normalised(mix * self.title_words[word]) for word in pair.title]  # Eq. 5
            likelihood = float(sum(np.log(mix @ self.query_words[word]) for word in pair.query))
            likelihood += float(sum(np.log(mix @ self.title_words[word]) for word in pair.title))
            if self.regularise:
                before = np.array(asked + held)
                asked, held = map(list, project(np.array(asked), np.array(held)))
                after = np.array([*asked, *held])
                likelihood -= float((after * np.log(after / before)).sum())
            objective += pair.weight * likelihood + (self.alpha - 1) * np.log(mix).sum()
            expected = np.full_like(mix, self.alpha - 1)
            for word, share in zip(pair.query, asked, strict=True):
                counts[0][word] += pair.weight * share
                expected += pair.weight * share
            for word, share in zip(pair.title, held, strict=True):
                counts[-1][word] += pair.weight * share
                expected += pair.weight * share
            self.mixes[i] = expected / expected.sum()  # Eq. 8
        for table, count in zip(tables, counts, strict=True):
            total = sum(row + self.beta - 1 for row in count.values())
            for word, row in count.items():
                table[word] = (row + self.beta - 1) / total  # Eq. 6–7
        self.objectives.append(objective)

    def fold_in(self, title: list[str]) -> Floats:
        """θ of a title: twenty rounds of Eq. 8 with fixed word distributions (§3.3)."""
        known = [word for word in title if word in self.title_words]
        mix = np.full(len(self.mixes[0]), 1 / len(self.mixes[0]))
        for _ in range(20):
            expected = np.full_like(mix, self.alpha - 1)
            for word in known:
                expected += _normalised(mix * self.title_words[word])
            mix = expected / expected.sum()
        return mix if known else np.zeros_like(mix)


def project(asked: Floats, held: Floats) -> tuple[Floats, Floats]:
    """The nearest posteriors with equal mean on both sides: the maximum of Eq. 28 by λ, then Eq. 10–11."""

    def tilted(multipliers: Floats) -> tuple[Floats, Floats]:
        return asked * np.exp(-multipliers / len(asked)), held * np.exp(multipliers / len(held))

    def negative_dual(multipliers: Floats) -> tuple[float, Floats]:
        left, right = tilted(multipliers)
        value = np.log(left.sum(1)).sum() + np.log(right.sum(1)).sum()
        shares = [side / side.sum(1, keepdims=True) for side in (left, right)]
        return float(value), shares[1].mean(0) - shares[0].mean(0)

    found = minimize(negative_dual, np.zeros(asked.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    left, right = tilted(found.x)
    return left / left.sum(1, keepdims=True), right / right.sum(1, keepdims=True)


def score(
    query: list[str],
    titles: list[list[str]],
    queries: list[list[str]],
    of_model: list[dict[str, float]],
    lambda_collection: float,
    lambda_doc: float,
) -> list[float]:
    """ln P(q|d) of each title by Eq. 14–16, without the part of the collection.

    `of_model` has P_model(word|d) for each title. P(word|C) is its frequency in titles, or in queries where
    no title has it.
    """
    in_titles = Counter(word for title in titles for word in title)
    in_queries = Counter(word for text in queries for word in text)
    scores = []
    for title, through in zip(titles, of_model, strict=True):
        total = 0.0
        for word in query:
            if word in in_titles:
                collection = in_titles[word] / in_titles.total()
            elif word in in_queries:
                collection = in_queries[word] / in_queries.total()
            else:
                continue
            own = title.count(word) / len(title) if title else 0.0
            mixed = lambda_doc * own + (1 - lambda_doc) * through.get(word, 0.0)
            smoothed = lambda_collection * collection
            total += np.log((smoothed + (1 - lambda_collection) * mixed) / smoothed)
        scores.append(total)
    return scores


def _normalised(values: Floats) -> Floats:
    return values / values.sum()
