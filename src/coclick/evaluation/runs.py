"""TREC run files: lines of `query Q0 document rank score tag`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from coclick.errors import UserError
from coclick.evaluation.judgment_files import lines, read_text
from coclick.models.base import Model

_BLOCK = 256  # queries per search


def run_lines(model: Model, queries: Mapping[str, str], k: int, tag: str) -> Iterator[str]:
    """Yield the lines of a run: the k best documents of each query, best first."""
    ids = list(queries)
    for first in range(0, len(ids), _BLOCK):
        block = ids[first : first + _BLOCK]
        run = model.search([queries[query] for query in block], k)
        for i, query in enumerate(block):
            for rank, (doc, score) in enumerate(run.hits(i), 1):
                for name in (query, doc):
                    if not name or any(character.isspace() for character in name):
                        raise UserError(
                            f"the id {name!r} is empty or contains white space, which a TREC run cannot hold"
                        )
                yield f"{query} Q0 {doc} {rank} {score!r} {tag}\n"


def read_run(path: str | Path) -> dict[str, list[str]]:
    """Read a run; return {query: documents}, by score, then by rank."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for where, line in lines(read_text(path), path):
        cells = line.split()
        if len(cells) not in (5, 6):
            raise UserError(
                "a line of a run has five or six columns",
                where=where,
                hint="query Q0 document rank score tag",
            )
        query, _, doc, rank, score = cells[:5]
        try:
            found.setdefault(query, []).append((-float(score), float(rank), doc))
        except ValueError:
            raise UserError(f"rank {rank!r} and score {score!r} must be numbers", where=where) from None
    if not found:
        raise UserError("the run has no results", where=str(path))
    rankings = {query: [doc for _, _, doc in sorted(hits)] for query, hits in found.items()}
    for query, docs in rankings.items():
        if len(set(docs)) < len(docs):
            raise UserError(f"a document occurs twice in the results of {query!r}", where=str(path))
    return rankings
