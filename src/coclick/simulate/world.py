"""The simulated world: intents, documents about them, queries for them, and relevance grades.

A pair of query and document has a grade from 0 to 4, which depends on the facets they share:

    4  same subject, aspect and qualifier
    3  same subject and aspect, and only one has a qualifier ("hotels new york" and a page on cheap hotels
       there); or the aspect is the page's second one
    2  the subject's overview page; or the right aspect with another qualifier
    1  a similar aspect (hotels and hostels), a listing of the aspect, a narrow page for a broad query
    0  anything else

If subjects have official pages (`WorldShape.official_pages`), a query that names only a subject is
navigational: the official page has grade 4, and other overview pages have grade 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.simulate.documents import Documents, make_documents
from coclick.simulate.intents import Catalogue, Facets, draw_intents
from coclick.simulate.profiles import WorldShape
from coclick.simulate.queries import Queries, make_queries
from coclick.simulate.sites import place_on_sites
from coclick.simulate.words import DOMAINS

MAX_QUERIES_PER_DOC = 100  # more would only add typos to the same few intents
BLOCK = 4096  # queries graded at a time


@dataclass(frozen=True)
class World:
    """Documents, queries and the grades of their pairs. `World.make` creates a world from a seed."""

    catalogue: Catalogue
    intents: Facets
    documents: Documents
    queries: Queries
    shape: WorldShape

    @classmethod
    def make(
        cls, queries: int = 3000, docs: int = 5000, seed: int = 0, shape: WorldShape | None = None
    ) -> World:
        """Create a world of this many distinct queries and documents. The same seed gives the same world."""
        shape = shape or WorldShape()
        for what, number in (("queries", queries), ("docs", docs)):
            if number < 10:
                raise UserError(f"{number} {what} are too few", hint=f"ask for at least 10 {what}")
        if seed < 0:
            raise UserError(f"the seed {seed} is negative", hint="choose a seed of 0 or more")
        if queries > MAX_QUERIES_PER_DOC * docs:
            raise UserError(
                f"{queries} queries are too many for {docs} documents",
                hint=f"ask for at least {-(-queries // MAX_QUERIES_PER_DOC)} documents",
            )
        rng_intents, rng_documents, rng_queries, rng_sites = np.random.default_rng(seed).spawn(4)
        catalogue, intents, popularity = draw_intents(
            ceil(docs / shape.documents_per_intent), shape, rng_intents
        )
        documents = make_documents(docs, catalogue, intents, popularity, rng_documents, shape.new_share)
        return cls(
            catalogue,
            intents,
            place_on_sites(documents, catalogue, shape, rng_sites),
            make_queries(queries, catalogue, intents, popularity, rng_queries, shape),
            shape,
        )

    def grade(self, query: NDArray[np.integer], document: NDArray[np.integer]) -> NDArray[np.int8]:
        """Return the grade of every pair (query[i], document[i])."""
        asked = self.intents.take(self.queries.intent[query])
        given = self.documents.facets.take(document)
        second = self.documents.second_aspect[document]
        group = np.append(self.catalogue.aspect_group, -1)  # so that aspect −1 has group −1

        subject = asked.subject == given.subject
        aspect = subject & (asked.aspect == given.aspect)
        second_match = subject & (asked.aspect == second) & (second >= 0)
        exact = asked.qualifier == given.qualifier
        wanted = ~self.is_navigational(query) | self.documents.is_official[document]
        looser = (asked.qualifier < 0) | (given.qualifier < 0)
        broad = subject & (asked.aspect < 0)
        listing = (given.subject < 0) & (asked.aspect == given.aspect)
        return np.select(
            [
                aspect & exact & wanted,
                (aspect & looser & wanted) | (second_match & (exact | looser)),
                aspect | second_match | (subject & (given.aspect < 0)) | (broad & (given.qualifier < 0)),
                broad | (subject & (group[asked.aspect] == group[given.aspect])) | listing,
            ],
            [np.int8(4), np.int8(3), np.int8(2), np.int8(1)],
            np.int8(0),
        )

    def relevant(
        self, queries: NDArray[np.integer]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]:
        """Return the pairs with a grade above 0, sorted: indices into `queries`, documents, grades."""
        found = [
            self._relevant_block(queries[first : first + BLOCK], first)
            for first in range(0, len(queries), BLOCK)
        ]
        places, documents, grades = (np.concatenate(column) for column in zip(*found, strict=True))
        return places, documents, grades

    def is_navigational(self, query: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return for every query whether it wants one official page."""
        return self.shape.official_pages & (self.intents.aspect[self.queries.intent[query]] < 0)

    def sells(self) -> NDArray[np.bool_]:
        """Return for every query whether it is about products."""
        domain = self.catalogue.subject_domain[self.intents.subject[self.queries.intent]]
        return np.array([d.sells for d in DOMAINS])[domain]

    def _relevant_block(
        self, queries: NDArray[np.integer], first: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]:
        # Only documents of the query's subject and listings of its aspect have a grade above 0.
        asked = self.intents.take(self.queries.intent[queries])
        facets = self.documents.facets
        listing_of = np.where(facets.subject < 0, facets.aspect, -2)
        pairs = [_matches(asked.subject, facets.subject), _matches(asked.aspect, listing_of)]
        place, document = (np.concatenate(column) for column in zip(*pairs, strict=True))
        grade = self.grade(queries[place], document)
        keep = np.flatnonzero(grade > 0)
        keep = keep[np.lexsort((document[keep], place[keep]))]
        return (place[keep] + first).astype(np.int32), document[keep].astype(np.int32), grade[keep]


def _matches(left: NDArray[np.int32], right: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs (i, j) with left[i] = right[j] ≥ 0."""
    order = np.argsort(right, kind="stable")
    begin = np.searchsorted(right[order], left, "left")
    count = np.searchsorted(right[order], left, "right") - begin
    count[left < 0] = 0
    i = np.repeat(np.arange(len(left)), count)
    j = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
    return i, order[j]
