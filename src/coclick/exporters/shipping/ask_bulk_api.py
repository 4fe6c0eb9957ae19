"""Ask Elasticsearch or OpenSearch what `load` has loaded: python3 ask.py URL QUERY.

This file is part of coclick and is copied into exports; it uses only the standard library.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Engine, EngineError
from coclick.exporters.shipping.answer import Recipe, Similar, answer

_HERE = Path(__file__).resolve().parent


class BulkApiEngine:
    """An index of documents and an index of queries."""

    def __init__(self, engine: Engine, settings: Mapping[str, Any]) -> None:
        """Take the settings of `ask.json`: names of indexes and fields, and the form of queries."""
        self.engine, self.settings = engine, settings

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Get the document of the query by its id."""
        try:
            found = self.engine.ask("GET", f"/{self.settings['queries']}/_doc/{query_id(query)}")
        except EngineError as error:
            if error.status == 404:
                return []
            raise
        row = found.get("_source", {}).get("stored", {})
        return list(zip(row["docs"], row["scores"], strict=True)) if row.get("query") == query else []

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the index of queries."""
        encoded = {encode(unit): weight for unit, weight in vector.items()}
        body = {"size": n, "_source": ["stored"], "query": self._dot_product("units", encoded)}
        for hit in self._search(self.settings["queries"], body):
            row = hit["_source"]["stored"]
            yield Similar(hit["_score"], row["clicked"], row["weights"])

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the index of documents; the given ones are asked for by id."""
        query = self._dot_product(self.settings["field"], words)
        best = self._documents(n, query)
        others = [doc for doc in docs if doc not in best]
        if not others:
            return best
        id_field = self.settings["id_field"]
        only = {"ids": {"values": others}} if id_field == "_id" else {"terms": {id_field: others}}
        return best | self._documents(len(others), {"bool": {"must": [query], "filter": [only]}})

    def _documents(self, n: int, query: dict[str, Any]) -> dict[str, float]:
        id_field = self.settings["id_field"]
        body: dict[str, Any] = {"size": n, "_source": False, "query": query}
        if id_field != "_id":
            body["fields"] = [id_field]
        hits = self._search(self.settings["documents"], body)
        if id_field == "_id":
            return {hit["_id"]: hit["_score"] for hit in hits}
        return {str(hit["fields"][id_field][0]): hit["_score"] for hit in hits}

    def _search(self, index: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.engine.ask("POST", f"/{index}/_search", body)["hits"]["hits"]
        return found

    def _dot_product(self, field: str, weights: Mapping[str, float]) -> dict[str, Any]:
        if self.settings["query"] == "neural_sparse":
            return {"neural_sparse": {field: {"query_tokens": dict(weights)}}}
        return {"sparse_vector": {"field": field, "query_vector": dict(weights), "prune": False}}


def query_id(query: str) -> str:
    """Return the id under which a normalised query is stored: ids have at most 512 bytes, queries more."""
    return hashlib.md5(query.encode(), usedforsecurity=False).hexdigest()


def encode(unit: str) -> str:
    """Return a unit as the name of a feature, which has no dots."""
    return unit.replace("%", "%25").replace(".", "%2E")


def ask(query: str, engine: Engine) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    settings = json.loads((_HERE / "ask.json").read_text(encoding="utf-8"))
    return answer(BulkApiEngine(engine, settings), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    for doc, score in ask(arguments[1], Engine(arguments[0])):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
