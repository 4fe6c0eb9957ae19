"""How vocabularies are written down: terms with two sides, and domains made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Term(NamedTuple):
    """A facet value as documents write it and as people type it, each commonest first."""

    document: tuple[str, ...]
    query: tuple[str, ...]


class Invention(NamedTuple):
    """A source of further subjects: `make(i)` for every i below `total`."""

    make: Callable[[int], Term]
    total: int


@dataclass(frozen=True)
class Domain:
    """One part of the world: its facet values and the sentences they are set into.

    In templates `{s}`, `{a}`, `{q}` stand for subject, aspect and qualifier. Those of `queries` take
    searchers' words, and so does `looking` (pages that speak as their readers do); all others take
    documents' words. Templates are listed by the facets of what they are about: "s", "sa", "saq", and for
    documents "a" too, pages that list one aspect of all subjects.
    """

    name: str
    subjects: tuple[Term, ...]
    aspects: tuple[Term, ...]
    aspect_groups: tuple[int, ...]
    qualifiers: tuple[Term, ...]
    invention: Invention
    queries: dict[str, tuple[str, ...]]
    titles: dict[str, tuple[str, ...]]
    sentences: dict[str, tuple[str, ...]]
    looking: tuple[str, ...]
    sites: tuple[str, ...]
    sells: bool  # clicks may lead to carts and purchases
    aspects_are_names: bool  # brands, which keep their capitals


def terms(table: str) -> tuple[Term, ...]:
    """Read a table of `as documents say / or say = as people type / or type`.

    Entries end at a semicolon or at the end of a line.
    """
    entries = [entry for line in table.splitlines() for entry in line.split(";") if entry.strip()]
    read = []
    for entry in entries:
        document, query = (tuple(phrase.strip() for phrase in side.split("/")) for side in entry.split("="))
        read.append(Term(document, query))
    return tuple(read)


def lines(table: str) -> tuple[str, ...]:
    """Read a table of one template a line."""
    return tuple(line.strip() for line in table.splitlines() if line.strip())


def needs(template: str) -> set[str]:
    """The facets a template cannot do without."""
    return {facet for facet in "saq" if f"{{{facet}}}" in template}


def domain(
    name: str,
    *,
    subjects: str,
    aspects: str,
    qualifiers: str,
    invention: Invention,
    queries: dict[str, str],
    titles: dict[str, str],
    sentences: str,
    looking: str,
    sites: str,
    sells: bool = False,
    aspects_are_names: bool = False,
) -> Domain:
    """Read a domain; aspects in one paragraph are alike: a page on one helps a little with another."""
    groups = [terms(paragraph) for paragraph in aspects.split("\n\n")]
    return Domain(
        name=name,
        subjects=terms(subjects),
        aspects=tuple(term for group in groups for term in group),
        aspect_groups=tuple(i for i, group in enumerate(groups) for _ in group),
        qualifiers=terms(qualifiers),
        invention=invention,
        queries={shape: lines(table) for shape, table in queries.items()},
        titles={shape: lines(table) for shape, table in titles.items()},
        sentences={
            shape: tuple(template for template in lines(sentences) if needs(template) <= set(shape))
            for shape in titles
        },
        looking=lines(looking),
        sites=tuple(sites.split()),
        sells=sells,
        aspects_are_names=aspects_are_names,
    )
