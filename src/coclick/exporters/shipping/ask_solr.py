"""Ask Solr what `load` has loaded: python3 ask.py URL QUERY.

This file is part of coclick and is copied into exports; it uses only the standard library.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Engine
from coclick.exporters.programs.solr import first
from coclick.exporters.shipping.answer import Recipe, Similar, answer

MAX_CLAUSES = 1000  # of a boolean query; Solr allows 1,024
MAX_UNIT = 240  # characters of a unit; a token has at most 256, with its weight
SEPARATOR = "\x1f"  # of ids in a query
_HERE = Path(__file__).resolve().parent


class Solr:
    """A collection of documents and a collection of queries."""

    def __init__(self, engine: Engine, settings: Mapping[str, Any]) -> None:
        """Take the settings of `ask.json`: names of collections and fields."""
        self.engine, self.settings = engine, settings

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Get the document of the query by its id."""
        request = {"query": _one_of("id", [query_id(query)]), "fields": ["stored"], "limit": 1}
        for found in self._search(self.settings["queries"], request):
            row = _stored(found)
            if row["query"] == query:
                return list(zip(row["docs"], row["scores"], strict=True))
        return []

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the collection of queries."""
        units = {encode(unit): weight for unit, weight in vector.items() if fits(unit)}
        if not units:
            return
        request = {"query": dot_product("units", units), "fields": ["stored", "score"], "limit": n}
        for found in self._search(self.settings["queries"], request):
            row = _stored(found)
            yield Similar(found["score"], row["clicked"], row["weights"])

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the collection of documents; the given ones are asked for by id."""
        id_field = self.settings["id_field"]
        query = dot_product(self.settings["field"], words)
        request = {"query": query, "fields": [id_field, "score"], "limit": n}
        best = self._scores(request)
        others = [doc for doc in docs if doc not in best and SEPARATOR not in doc]
        if not others:
            return best
        only = {"filter": [_one_of(id_field, others)], "limit": len(others)}
        return best | self._scores(request | only)

    def _scores(self, request: dict[str, Any]) -> dict[str, float]:
        found = self._search(self.settings["documents"], request)
        return {first(row[self.settings["id_field"]]): row["score"] for row in found}

    def _search(self, collection: str, request: dict[str, Any]) -> list[dict[str, Any]]:
        answered = self.engine.ask("POST", f"/{collection}/query", request)
        docs: list[dict[str, Any]] = answered["response"]["docs"]
        return docs


def dot_product(field: str, weights: Mapping[str, float]) -> dict[str, Any]:
    """Return the query that sums payloads, each times its weight; of very long queries the heaviest."""
    kept = nlargest(MAX_CLAUSES, weights.items(), key=lambda pair: pair[1])
    payload = {"f": field, "func": "sum"}
    should = [
        {"boost": {"b": weight, "query": {"payload_score": {**payload, "query": name}}}}
        for name, weight in kept
    ]
    return {"bool": {"should": should}}


def query_id(query: str) -> str:
    """Return the id under which a normalised query is stored: queries can be longer than ids."""
    return hashlib.md5(query.encode(), usedforsecurity=False).hexdigest()


def encode(unit: str) -> str:
    """Return a unit as a token, which has no white space and no |."""
    return re.sub(r"[\s|%]", lambda found: f"%{ord(found[0]):02X}", unit)


def fits(unit: str) -> bool:
    """Return whether a unit is short enough for a token."""
    return len(encode(unit)) <= MAX_UNIT


def _one_of(field: str, values: Sequence[str]) -> dict[str, Any]:
    return {"terms": {"f": field, "separator": SEPARATOR, "query": SEPARATOR.join(values)}}


def _stored(found: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(first(found["stored"]))
    return row


def ask(query: str, engine: Engine) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    settings = json.loads((_HERE / "ask.json").read_text(encoding="utf-8"))
    return answer(Solr(engine, settings), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    for doc, score in ask(arguments[1], Engine(arguments[0])):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
