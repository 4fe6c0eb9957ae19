"""Mutants that no test can notice, with the reason. A row that matches no mutant any more is harmless."""

from __future__ import annotations

from typing import NamedTuple

from mutation.operators import Mutant


class Equivalent(NamedTuple):
    """The line before and after the change, without indentation; an empty `new` is every change of it."""

    file: str
    old: str
    new: str
    reason: str


EQUIVALENT: list[Equivalent] = []


def equivalent_reason(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent; None if it is not listed."""
    old, new = mutant.diff()
    for row in EQUIVALENT:
        if row.file == mutant.file and row.old == old and row.new in ("", new):
            return row.reason
    return None
