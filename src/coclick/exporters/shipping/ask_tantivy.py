"""Load this export into tantivy, or ask: python ask.py FOLDER load, python ask.py FOLDER QUERY.

FOLDER will have an index of documents and an index of queries. This file is part of coclick and is copied
into exports.
"""

from __future__ import annotations

import json
import shutil
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


def load(target: Path, folder: Path = _HERE) -> None:
    """Create both indexes; the folder appears when they are complete."""
    if target.exists():
        sys.exit(f"{target} exists already: remove it, or choose another path")
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    queries = (
        {"query": row["query"], "units": row.pop("units"), "stored": json.dumps(row)}
        for row in _rows(folder / "queries.ndjson")
    )
    _build(part / "queries", queries, ("query", "units"), "stored")
    docs = ({"doc": row["doc"], "words": row["words"]} for row in _rows(folder.parent / "documents.ndjson"))
    _build(part / "documents", docs, ("words",), "doc")
    part.rename(target)


def _build(target: Path, rows: Iterator[dict[str, Any]], indexed: Sequence[str], stored: str) -> None:
    target.mkdir(parents=True)
    schema = tantivy.SchemaBuilder()
    for name in indexed:
        schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
    schema.add_text_field(stored, stored=True, tokenizer_name="raw", index_option="basic")
    writer = tantivy.Index(schema.build(), path=str(target)).writer()
    for row in rows:
        writer.add_document(tantivy.Document(**row))
    writer.commit()
    writer.wait_merging_threads()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def open_engine(target: Path, folder: Path = _HERE) -> Tantivy:
    """Open both indexes."""
    settings = json.loads((folder / "ask.json").read_text(encoding="utf-8"))
    docs, queries = (tantivy.Index.open(str(target / name)) for name in ("documents", "queries"))
    return Tantivy(docs, queries, settings)


def _hits(index: Any, query: Any, n: int, field: str) -> Iterator[tuple[str, float]]:
    searcher = index.searcher()
    for score, address in searcher.search(query, n).hits:
        yield searcher.doc(address)[field][0], score


def main(arguments: list[str]) -> None:
    """Run one command."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    target = Path(arguments[0])
    if arguments[1] == "load":
        load(target)
        return
    for doc, score in answer(open_engine(target), Recipe.read(_HERE), arguments[1]):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
