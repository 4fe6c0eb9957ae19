"""The notation of the vocabularies: tables of terms and templates, and the domains built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Term(NamedTuple):
    """Phrases for a facet value in documents and in queries, the most common first."""

    document: tuple[str, ...]
    query: tuple[str, ...]


class TermGenerator(NamedTuple):
    """A generator of further subjects: `make(i)` for every i below `total`."""

    make: Callable[[int], Term]
    total: int


@dataclass(frozen=True)
class Domain:
    """A domain: its facet values, and templates of queries and sentences.

    In templates `{s}`, `{a}`, `{q}` stand for subject, aspect and qualifier. `queries` and `query_sentences`
    (sentences of pages that use the words of queries) are filled with query phrases, all others with document
    phrases. Templates are grouped by the facets of an intent: "s", "sa", "saq", and for documents also "a",
    pages that list one aspect of all subjects.
    """

    name: str
    subjects: tuple[Term, ...]
    aspects: tuple[Term, ...]
    aspect_groups: tuple[int, ...]
    qualifiers: tuple[Term, ...]
    generator: TermGenerator
    queries: dict[str, tuple[str, ...]]
    titles: dict[str, tuple[str, ...]]
    sentences: dict[str, tuple[str, ...]]
    query_sentences: tuple[str, ...]
    sites: tuple[str, ...]
    sells: bool  # clicks may lead to carts and purchases
    aspects_are_names: bool  # brands, which keep their capital letters


def terms(table: str) -> tuple[Term, ...]:
    """Parse a table of `document phrase / another = query phrase / another`.

    Entries end at a semicolon or at the end of a line.
    """
    entries = [entry for line in table.splitlines() for entry in line.split(";") if entry.strip()]
    read = []
    for entry in entries:
        document, query = (tuple(phrase.strip() for phrase in side.split("/")) for side in entry.split("="))
        read.append(Term(document, query))
    return tuple(read)


def lines(table: str) -> tuple[str, ...]:
    """Parse a table with one template per line."""
    return tuple(line.strip() for line in table.splitlines() if line.strip())


def required_facets(template: str) -> set[str]:
    """Return the facets that a template uses."""
    return {facet for facet in "saq" if f"{{{facet}}}" in template}


def domain(
    name: str,
    *,
    subjects: str,
    aspects: str,
    qualifiers: str,
    generator: TermGenerator,
    queries: dict[str, str],
    titles: dict[str, str],
    sentences: str,
    query_sentences: str,
    sites: str,
    sells: bool = False,
    aspects_are_names: bool = False,
) -> Domain:
    """Parse a domain. Aspects in one paragraph are similar: a page on one has grade 1 for another."""
    groups = [terms(paragraph) for paragraph in aspects.split("\n\n")]
    return Domain(
        name=name,
        subjects=terms(subjects),
        aspects=tuple(term for group in groups for term in group),
        aspect_groups=tuple(i for i, group in enumerate(groups) for _ in group),
        qualifiers=terms(qualifiers),
        generator=generator,
        queries={shape: lines(table) for shape, table in queries.items()},
        titles={shape: lines(table) for shape, table in titles.items()},
        sentences={
            shape: tuple(template for template in lines(sentences) if required_facets(template) <= set(shape))
            for shape in titles
        },
        query_sentences=lines(query_sentences),
        sites=tuple(sites.split()),
        sells=sells,
        aspects_are_names=aspects_are_names,
    )
