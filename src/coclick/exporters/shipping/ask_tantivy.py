"""Ask the indexes of a version: python3 FOLDER/current/search/ask.py QUERY.

This file is part of coclick and is copied into exports, and by `load` into each version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tantivy

from coclick.exporters.shipping.answer import Recipe, Similar, answer

_HERE = Path(__file__).resolve().parent


class Tantivy:
    """An index of documents and an index of queries, whose weights are terms for the bits of numbers."""

    def __init__(self, docs: Any, queries: Any, settings: Mapping[str, Any]) -> None:
        """Take both indexes and the settings of `ask.json`."""
        self.docs, self.queries, self.settings = docs, queries, settings

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Look up the stored ranking."""
        term = tantivy.Query.term_query(self.queries.schema, "query", query, "basic")
        for stored, _ in _hits(self.queries, term, 1, "stored"):
            row = json.loads(stored)
            return list(zip(row["docs"], row["scores"], strict=True))
        return []

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the index of queries."""
        query = tantivy.Query.boolean_query(self._clauses(self.queries, "units", vector))
        for stored, similarity in _hits(self.queries, query, n, "stored"):
            row = json.loads(stored)
            yield Similar(similarity, row["clicked"], row["weights"])

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the index of documents; the given ones are asked for by id."""
        clauses = self._clauses(self.docs, "words", words)
        best = dict(_hits(self.docs, tantivy.Query.boolean_query(clauses), n, "doc"))
        others = [doc for doc in docs if doc not in best]
        if not others:
            return best
        allowed = tantivy.Query.term_set_query(self.docs.schema, "doc", others)
        only = (tantivy.Occur.Must, tantivy.Query.const_score_query(allowed, 0.0))
        return best | dict(
            _hits(self.docs, tantivy.Query.boolean_query([only, *clauses]), len(others), "doc")
        )

    def _clauses(self, index: Any, field: str, weights: Mapping[str, float]) -> list[Any]:
        """A clause for each bit of each weight; the sum of their scores is the dot product."""
        clauses = []
        for name, weight in weights.items():
            for bit in range(self.settings["bits"]):
                term = tantivy.Query.term_query(index.schema, field, f"{name}/{bit}", "basic")
                score = weight * self.settings[f"{field}_unit"] * 2**bit
                clauses.append((tantivy.Occur.Should, tantivy.Query.const_score_query(term, score)))
        return clauses


def open_engine(folder: Path = _HERE) -> Tantivy:
    """Open the index of queries in the folder `search` of a version, and that of documents above it."""
    settings = json.loads((folder / "ask.json").read_text(encoding="utf-8"))
    docs, queries = (tantivy.Index.open(str(path)) for path in (folder.parent, folder / "queries"))
    return Tantivy(docs, queries, settings)


def _hits(index: Any, query: Any, n: int, field: str) -> Iterator[tuple[str, float]]:
    searcher = index.searcher()
    for score, address in searcher.search(query, n).hits:
        yield searcher.doc(address)[field][0], score


def ask(query: str) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    return answer(open_engine(), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    if not (_HERE / "queries").exists():
        sys.exit("there is no index here: run `run.py FOLDER load`, then FOLDER/current/search/ask.py")
    for doc, score in ask(arguments[0]):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
