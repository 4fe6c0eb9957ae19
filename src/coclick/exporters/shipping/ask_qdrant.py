"""Ask Qdrant what `load` has loaded: python3 ask.py URL QUERY.

Needs qdrant-client; instead of a URL, the path of a local database of it can be given. The variable
QDRANT_API_KEY, if set, is sent as key. This file is part of coclick and is copied into exports.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coclick.exporters.programs.qdrant_connection import connect
from coclick.exporters.shipping.answer import Recipe, Similar, answer

_HERE = Path(__file__).resolve().parent


class Qdrant:
    """A collection of documents and a collection of queries."""

    def __init__(self, client: Any, settings: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
        """Take a client, the settings of `ask.json`, and the number of each unit and word."""
        self.client, self.settings, self.numbers = client, settings, numbers

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Get the point of the query by its text."""
        points, _ = self.client.scroll(
            self.settings["queries"], scroll_filter=_where("query", [query]), limit=1, with_payload=True
        )
        payloads = [point.payload for point in points]
        return [pair for row in payloads for pair in zip(row["docs"], row["scores"], strict=True)]

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the collection of queries."""
        numbered = {self.numbers[f"unit {unit}"]: weight for unit, weight in vector.items()}
        for point in self._search(self.settings["queries"], "units", numbered, n):
            yield Similar(point.score, point.payload["clicked"], point.payload["weights"])

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the collection of documents; the given ones are asked for by id."""
        numbered = {self.numbers[f"word {word}"]: weight for word, weight in words.items()}
        name, key = self.settings["documents"], self.settings["id_field"]
        field = self.settings["field"]
        best = {str(point.payload[key]): point.score for point in self._search(name, field, numbered, n)}
        others = [doc for doc in docs if doc not in best]
        if others:
            found = self._search(name, field, numbered, len(others), _where(key, others))
            best |= {str(point.payload[key]): point.score for point in found}
        return best

    def _search(
        self, name: str, using: str, vector: Mapping[int, float], n: int, only: Any = None
    ) -> list[Any]:
        from qdrant_client import models

        numbers = sorted(vector)
        sparse = models.SparseVector(indices=numbers, values=[vector[number] for number in numbers])
        found = self.client.query_points(
            name, query=sparse, using=using, limit=n, query_filter=only, with_payload=True
        )
        points: list[Any] = found.points
        return points


def open_engine(client: Any, folder: Path) -> Qdrant:
    """Read the settings and numbers of the export."""
    settings = json.loads((folder / "ask.json").read_text(encoding="utf-8"))
    with (folder / "numbers.ndjson").open(encoding="utf-8") as lines:
        return Qdrant(client, settings, dict(map(json.loads, lines)))


def _where(key: str, values: Sequence[str]) -> Any:
    from qdrant_client import models

    return models.Filter(must=[models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))])


def ask(query: str, client: Any) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    return answer(open_engine(client, _HERE), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    client = connect(arguments[0])
    try:
        for doc, score in ask(arguments[1], client):
            print(f"{score:.6f}\t{doc}")
    finally:
        client.close()


if __name__ == "__main__":
    main(sys.argv[1:])
