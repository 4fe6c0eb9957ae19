"""A reference of vector propagation and generation (Jiang et al. 2016) in plain Python dictionaries.

It is slow and simple on purpose: the model is compared with it. It shares nothing with the package but the
analyzer.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np

Vector = dict[str, float]

WORDS = ["hotel", "cheap", "york", "new", "card", "credit", "money", "storm", "long", "is", "best", "flights"]


def random_log(seed: int, queries: int = 50, docs: int = 12) -> tuple[list, dict[str, dict[str, str]]]:
    """Rows of (query, document, clicks) and documents with two fields; the last two are never clicked.

    Clicks are square roots and the words of a text differ in frequency, so that no two sums are equal. Every
    word is also a query of its own.
    """
    chance = random.Random(seed)

    def text(most: int, times: int = 1) -> str:
        words = chance.sample(WORDS, chance.randint(2, most))
        repeated = [word for i, word in enumerate(words, 1) for _ in range(i * times)]
        return " ".join(chance.sample(repeated, len(repeated)))

    asked = [*WORDS, *(text(3) for _ in range(queries))]
    rows = {
        (query, f"d{chance.randrange(docs - 2):02}"): float(np.float32(math.sqrt(chance.randint(2, 999))))
        for query in asked
        for _ in range(3)
    }
    texts = {f"d{i:02}": {"title": text(3), "body": text(5, times=4)} for i in range(docs)}
    return [(query, doc, weight) for (query, doc), weight in rows.items()], texts


def normalised(vector: Vector) -> Vector:
    length = math.sqrt(sum(weight * weight for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items()} if length else {}


def pruned(vector: Vector, k: int) -> Vector:
    """The k largest entries. Tests use data without ties at the cut, which the package breaks by a hash."""
    ordered = sorted(vector.items(), key=lambda item: -item[1])
    if len(ordered) > k:
        assert ordered[k - 1][1] > ordered[k][1] * (1 + 1e-5), "a tie at the cut: take other data"
    return dict(ordered[:k])


def total(parts: list[tuple[float, Vector]]) -> Vector:
    summed: Vector = defaultdict(float)
    for factor, vector in parts:
        for word, weight in vector.items():
            summed[word] += factor * weight
    return dict(summed)


def dot(first: Vector, second: Vector) -> float:
    return sum(weight * second.get(word, 0.0) for word, weight in first.items())


class Reference:
    """`clicks`: {(query, doc): weight}; `query_terms`, `doc_terms`, `title_terms`: lists of terms."""

    def __init__(self, clicks, query_terms, doc_terms, title_terms, start="query", k=20, iterations=1):
        self.clicks, self.k, self.start = clicks, k, start
        self.by_query, self.by_doc = defaultdict(list), defaultdict(list)
        for (query, doc), weight in clicks.items():
            self.by_query[query].append((weight, doc))
            self.by_doc[doc].append((weight, query))
        words = query_terms if start == "query" else doc_terms
        texts = {name: normalised(dict(Counter(terms))) for name, terms in words.items()}
        self.previous = None
        for _ in range(iterations):
            self.previous = texts
            if start == "query":
                self.docs = self.step(self.by_doc, texts)
                texts = self.queries = self.step(self.by_query, self.docs)
            else:
                self.queries = self.step(self.by_query, texts)
                texts = self.docs = self.step(self.by_doc, self.queries)
        self.unit_terms = query_terms if start == "query" else title_terms
        self.text_edges = self.by_query if start == "query" else self.by_doc
        self.others = self.docs if start == "query" else self.queries
        self.targets = self.queries if start == "query" else self.docs

    def step(self, edges, vectors) -> dict[str, Vector]:
        """Eq. 1–4: weighted sum across the edges, pruned, normalised."""
        return {
            node: normalised(
                pruned(total([(weight, vectors.get(other, {})) for weight, other in links]), self.k)
            )
            for node, links in edges.items()
        }

    # -- §3.1: unit vectors ----------------------------------------------------------------------------

    def fit_units(self, min_texts=2, rho=1.0, weights="regression"):
        texts_of_unit = defaultdict(list)
        for text, terms in self.unit_terms.items():
            if text in self.text_edges:
                for unit in ngrams(terms):
                    texts_of_unit[unit].append(text)
        self.texts_of_unit = {unit: texts for unit, texts in texts_of_unit.items() if len(texts) >= min_texts}
        self.units = {}
        for unit, texts in self.texts_of_unit.items():
            parts = [
                (weight, self.others[other]) for text in texts for weight, other in self.text_edges[text]
            ]
            self.units[unit] = normalised(pruned(total(parts), self.k))
        self.weights = dict.fromkeys(self.units, 1.0)
        if weights != "equal":
            self.weights = self.regress(rho if weights == "regression" else None)

    def regress(self, rho):
        """Eq. 7 with a ridge towards the best multiple of the units' idf, solved densely.

        Without `rho` there is no ridge: of the least squares solutions the one nearest to that multiple, with
        distances measured in the diagonal of the normal equations, and negative weights stay.
        """
        names = sorted(self.units)
        if not names:
            return {}
        place = {unit: i for i, unit in enumerate(names)}
        gram, right = np.zeros((len(names), len(names))), np.zeros(len(names))
        for text, terms in self.unit_terms.items():
            if text not in self.text_edges:
                continue
            held = [unit for unit in ngrams(terms) if unit in place and unit != tuple(terms)]
            for unit in held:
                right[place[unit]] += dot(self.units[unit], self.targets[text])
                for other in held:
                    gram[place[unit], place[other]] += dot(self.units[unit], self.units[other])
        texts = len(self.unit_terms)
        prior = np.array([math.log1p(texts / len(self.texts_of_unit[unit])) for unit in names])
        length = prior @ gram @ prior
        prior *= max(prior @ right / length, 0) if length > 0 else 0
        if rho is None:
            scale = 1 / np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1))
            scaled = gram * np.outer(scale, scale)
            solved = prior + scale * (np.linalg.pinv(scaled, 1e-6) @ (scale * (right - gram @ prior)))
            return dict(zip(names, solved, strict=True))
        solved = np.linalg.solve(gram + rho * np.eye(len(names)), right + rho * prior)
        return dict(zip(names, np.maximum(solved, 0), strict=True))

    def error(self) -> float:
        """The sum of squares in Eq. 7."""
        whole = 0.0
        for text, terms in self.unit_terms.items():
            if text in self.text_edges:
                held = ngrams(terms) & self.units.keys() - {tuple(terms)}
                parts = [(-self.weights[unit], self.units[unit]) for unit in held]
                rest = total([(1.0, self.targets[text]), *parts])
                whole += dot(rest, rest)
        return whole

    # -- §3.3: estimated vectors -----------------------------------------------------------------------

    def decompose(self, terms):
        """The known units of a text that are not inside a longer known unit."""
        spans = [
            (i, i + n)
            for n in (1, 2, 3)
            for i in range(len(terms) - n + 1)
            if tuple(terms[i : i + n]) in self.units
        ]
        kept = [
            (a, b) for a, b in spans if not any((c <= a and b <= d) and (d - c > b - a) for c, d in spans)
        ]
        return {tuple(terms[a:b]) for a, b in kept}

    def raw(self, terms) -> Vector:
        """Eq. 8 before pruning."""
        return total([(self.weights[unit], self.units[unit]) for unit in self.decompose(terms)])

    def generate(self, terms) -> Vector:
        positive = {word: weight for word, weight in self.raw(terms).items() if weight > 0}
        return normalised(pruned(positive, self.k))

    # -- shares ----------------------------------------------------------------------------------------

    def propagated_shares(self, node, is_query, word):
        """The fraction of a word's weight that comes from each edge of a node in the last half-step."""
        if is_query:
            edges, source = self.by_query[node], self.docs if self.start == "query" else self.previous
        else:
            edges, source = self.by_doc[node], self.previous if self.start == "query" else self.queries
        amounts = {
            (node, other) if is_query else (other, node): weight * source.get(other, {}).get(word, 0.0)
            for weight, other in edges
        }
        whole = sum(amounts.values())
        return {edge: amount / whole for edge, amount in amounts.items() if amount > 0}

    def generated_shares(self, terms, word):
        """The same for generated vectors: the part of each unit, split over the edges of its texts."""
        shares = defaultdict(float)
        for unit in self.decompose(terms):
            part = self.weights[unit] * self.units[unit].get(word, 0.0)
            if part == 0:
                continue
            amounts = {}
            for text in self.texts_of_unit[unit]:
                for weight, other in self.text_edges[text]:
                    edge = (text, other) if self.start == "query" else (other, text)
                    amounts[edge] = weight * self.others[other].get(word, 0.0)
            whole = sum(amounts.values())
            for edge, amount in amounts.items():
                shares[edge] += part * amount / whole
        whole = sum(shares.values())
        return {edge: share / whole for edge, share in shares.items() if share != 0}


def ndcg_at_10(scores: dict[str, float], relevant: set[str]) -> float:
    """nDCG@10 of the documents with a score above zero, with gain 1 for each relevant one."""
    ranked = sorted((doc for doc in scores if scores[doc] > 1e-7), key=lambda doc: -scores[doc])[:10]
    gain = sum(1 / math.log2(rank + 2) for rank, doc in enumerate(ranked) if doc in relevant)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), 10)))


def ngrams(terms):
    return {tuple(terms[i : i + n]) for n in (1, 2, 3) for i in range(len(terms) - n + 1)}
