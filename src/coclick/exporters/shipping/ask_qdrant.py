"""Load queries into Qdrant, or ask: python3 ask.py URL load, python3 ask.py URL QUERY.

Needs qdrant-client; instead of a URL, the path of a local database of it can be given. The variable
QDRANT_API_KEY, if set, is sent as key. This file is part of coclick and is copied into exports.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def load(client: Any, settings: Mapping[str, Any], folder: Path) -> None:
    """Fill a new collection of queries in place of an old one."""
    from qdrant_client import models

    name = settings["queries"]
    if client.collection_exists(name):
        client.delete_collection(name)
    sparse = {"units": models.SparseVectorParams()}
    client.create_collection(name, vectors_config={}, sparse_vectors_config=sparse)
    client.create_payload_index(name, "query", models.PayloadSchemaType.KEYWORD)
    with (folder / "points.ndjson").open(encoding="utf-8") as lines:
        for line in lines:
            client.upsert(name, [models.PointStruct(**point) for point in json.loads(line)], wait=True)


def connect(address: str) -> Any:
    """Return a client for a URL, or for the folder of a local database."""
    from qdrant_client import QdrantClient

    if address.startswith("http"):
        return QdrantClient(url=address, api_key=os.environ.get("QDRANT_API_KEY"))
    return QdrantClient(path=address)


def open_engine(client: Any, folder: Path) -> Qdrant:
    """Read the settings and numbers of the export."""
    settings = json.loads((folder / "ask.json").read_text(encoding="utf-8"))
    with (folder / "numbers.ndjson").open(encoding="utf-8") as lines:
        return Qdrant(client, settings, dict(map(json.loads, lines)))


def _where(key: str, values: Sequence[str]) -> Any:
    from qdrant_client import models

    return models.Filter(must=[models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))])


def main(arguments: list[str]) -> None:
    """Run one command."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    client = connect(arguments[0])
    engine = open_engine(client, _HERE)
    if arguments[1] == "load":
        load(client, engine.settings, _HERE)
    else:
        for doc, score in answer(engine, Recipe.read(_HERE), arguments[1]):
            print(f"{score:.6f}\t{doc}")
    client.close()


if __name__ == "__main__":
    main(sys.argv[1:])
