"""Draw search intents: a subject, optionally with an aspect and a qualifier, and a popularity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.profiles import WorldShape
from coclick.simulate.words import DOMAINS, Domain, Term

INTENT_ZIPF, INTENT_SHIFT = 1.0, 10  # popularity of the r-th intent ∝ 1 / (r + 10) (Zipf–Mandelbrot)


@dataclass(frozen=True)
class Facets:
    """Facet ids, one row per intent; −1 if an intent lacks the facet. Ids are unique over all domains."""

    subject: NDArray[np.int32]
    aspect: NDArray[np.int32]
    qualifier: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.subject)

    def take(self, rows: NDArray[np.integer]) -> Facets:
        """Return the given rows, in the given order."""
        return Facets(self.subject[rows], self.aspect[rows], self.qualifier[rows])


@dataclass(frozen=True)
class Catalogue:
    """All facet values of a world, by id."""

    subjects: list[Term]
    subject_domain: NDArray[np.int32]
    aspects: list[Term]
    aspect_domain: NDArray[np.int32]
    aspect_group: NDArray[np.int32]
    qualifiers: list[Term]
    qualifier_domain: NDArray[np.int32]

    @classmethod
    def make(cls, subjects: int, rng: np.random.Generator) -> Catalogue:
        """Choose about `subjects` subjects, evenly from all domains, with every aspect and qualifier.

        Earlier values of a domain are more popular. The order is that of the word lists, with noise.
        """
        chosen: list[Term] = []
        domains_of_chosen: list[int] = []
        for number, (domain, count) in enumerate(zip(DOMAINS, _shares(subjects), strict=True)):
            order = _noisy_order(len(domain.subjects), rng)[:count]
            chosen += [domain.subjects[i] for i in order]
            chosen += [domain.generator.make(i) for i in range(count - len(order))]
            domains_of_chosen += [number] * count
        aspects = [(n, d, i) for n, d in enumerate(DOMAINS) for i in _noisy_order(len(d.aspects), rng)]
        qualifiers = [
            (n, d.qualifiers[i]) for n, d in enumerate(DOMAINS) for i in _noisy_order(len(d.qualifiers), rng)
        ]
        return cls(
            subjects=chosen,
            subject_domain=np.array(domains_of_chosen, np.int32),
            aspects=[domain.aspects[i] for _, domain, i in aspects],
            aspect_domain=np.array([n for n, _, _ in aspects], np.int32),
            # Group ids are unique over all domains, as no domain has a hundred groups.
            aspect_group=np.array([n * 100 + d.aspect_groups[i] for n, d, i in aspects], np.int32),
            qualifiers=[term for _, term in qualifiers],
            qualifier_domain=np.array([n for n, _ in qualifiers], np.int32),
        )

    def terms(self, subject: int, aspect: int, qualifier: int) -> tuple[Term | None, ...]:
        """Return the facet values of three ids; None for −1."""
        return (
            self.subjects[subject] if subject >= 0 else None,
            self.aspects[aspect] if aspect >= 0 else None,
            self.qualifiers[qualifier] if qualifier >= 0 else None,
        )

    def domain(self, subject: int, aspect: int) -> Domain:
        """Return the domain of an intent. Listings have no subject, only an aspect."""
        number = self.subject_domain[subject] if subject >= 0 else self.aspect_domain[aspect]
        return DOMAINS[number]

    def names(self, facets: Facets) -> list[str]:
        """Return readable intent names such as `travel/new-york-city/accommodation/affordable`."""
        names = []
        for row in zip(facets.subject, facets.aspect, facets.qualifier, strict=True):
            written = [term.document[0] for term in self.terms(*row) if term]
            names.append("/".join([self.domain(row[0], row[1]).name, *map(slug, written)]))
        return names


@lru_cache(maxsize=1 << 16)
def slug(text: str) -> str:
    """Return text in the form used in URLs: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


def _shares(subjects: int) -> list[int]:
    """The number of subjects of each domain. The largest domain makes up for those that run out."""
    even = -(-subjects // len(DOMAINS))
    counts = [min(even, len(d.subjects) + d.generator.total) for d in DOMAINS]
    largest = max(range(len(DOMAINS)), key=lambda n: DOMAINS[n].generator.total)
    counts[largest] += even * len(DOMAINS) - sum(counts)
    return counts


def _noisy_order(count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.argsort(np.arange(count) + rng.exponential(1 + count / 4, count), kind="stable")


def zipf(count: int, exponent: float, shift: int = 1) -> NDArray[np.float64]:
    """Return the shares of `count` ranks; the r-th (from 0) is proportional to 1 / (r + shift)^exponent."""
    weights = (np.arange(count) + float(shift)) ** -exponent
    return weights / weights.sum()


def draw_intents(
    count: int, shape: WorldShape, rng: np.random.Generator
) -> tuple[Catalogue, Facets, NDArray[np.float64]]:
    """Draw `count` distinct intents and their popularity, most popular first.

    Subjects, aspects and qualifiers are each drawn by Zipf's law, so popular intents share popular facets.
    """
    catalogue = Catalogue.make(ceil(count / shape.intents_per_subject), rng)
    drawn = np.empty((0, 3), np.int32)
    while True:
        drawn = np.concatenate([drawn, _draw(catalogue, 2 * count, shape, rng)])
        distinct, times = np.unique(drawn, axis=0, return_counts=True)
        if len(distinct) >= count:
            break
    most_popular = np.lexsort((rng.random(len(times)), -times))[:count]
    facets = Facets(*(np.ascontiguousarray(column) for column in distinct[most_popular].T))
    return catalogue, facets, zipf(count, INTENT_ZIPF, INTENT_SHIFT)


def _draw(catalogue: Catalogue, count: int, shape: WorldShape, rng: np.random.Generator) -> NDArray[np.int32]:
    rows = np.full((count, 3), -1, np.int32)
    domain = rng.integers(len(DOMAINS), size=count)
    has_aspect = rng.random(count) >= shape.subject_only_share
    has_qualifier = has_aspect & (rng.random(count) < shape.qualified_share)
    for number in range(len(DOMAINS)):
        mine = domain == number
        _draw_facet(rows[:, 0], mine, catalogue.subject_domain == number, 0.7, rng)
        _draw_facet(rows[:, 1], mine & has_aspect, catalogue.aspect_domain == number, 0.6, rng)
        _draw_facet(rows[:, 2], mine & has_qualifier, catalogue.qualifier_domain == number, 0.4, rng)
    return rows


def _draw_facet(
    column: NDArray[np.int32],
    rows: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    exponent: float,
    rng: np.random.Generator,
) -> None:
    values = np.flatnonzero(allowed)
    column[rows] = rng.choice(values, size=int(rows.sum()), p=zipf(len(values), exponent))


def skewed_index(count: int, u: float) -> int:
    """Return an index below `count` for a uniform number u. Small indices are more frequent."""
    return int(count * u * u)


def uniform_rows(count: int, width: int, rng: np.random.Generator) -> Iterator[list[float]]:
    """Yield `count` lists of `width` uniform numbers, drawn in blocks to save memory."""
    for first in range(0, count, 4096):
        yield from rng.random((min(4096, count - first), width)).tolist()
