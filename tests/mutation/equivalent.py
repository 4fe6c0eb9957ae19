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


EQUIVALENT = [
    Equivalent(
        "models/propagation/regression.py",
        "run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])",
        "run_blocks(work, [(part, part + 2) for part in range(len(self.parts))])",
        "a task is one part: its end is not read",
    ),
    Equivalent(
        "models/click_graph/text_similarity.py",
        "_BLOCK = 1 << 16  # rows per scaling step",
        "",
        "rows are scaled one by one: the size of a block does not matter",
    ),
    Equivalent(
        "models/click_graph/text_similarity.py",
        "for text in np.flatnonzero(unknown_words > 1).tolist():  # a repeated word counts once",
        "for text in np.flatnonzero(unknown_words >= 1).tolist():  # a repeated word counts once",
        "one unknown word is distinct: counting it again gives 1",
    ),
    Equivalent(
        "models/combination/_base.py",
        "for part in parts[1:]:",
        "for part in parts[2:]:",
        "the graphs of the parts are equal: sharing one only saves memory",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "if bounds[order[first]] < kth - _SLACK:",
        "if bounds[order[first]] <= kth - _SLACK:",
        "a score is at most its bound, which is below the k-th score in both cases",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "_EDGES_PER_BLOCK = 4_000_000",
        "",
        "vectors of units are computed one by one: the size of a block does not matter",
    ),
    Equivalent(
        "models/propagation/units.py",
        "_TEXTS_PER_BLOCK = 200_000  # converted to Python strings",
        "",
        "vectors are generated one by one: the size of a block does not matter",
    ),
]


def equivalent_reason(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent; None if it is not listed."""
    old, new = mutant.diff()
    for row in EQUIVALENT:
        if row.file == mutant.file and row.old == old and row.new in ("", new):
            return row.reason
    return None
