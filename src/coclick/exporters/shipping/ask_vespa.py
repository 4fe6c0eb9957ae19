"""Ask Vespa what `load` has loaded: python3 ask.py URL QUERY.

This file is part of coclick and is copied into exports; it uses only the standard library.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from coclick.exporters.programs.engine import Engine, EngineError
from coclick.exporters.programs.vespa import CONNECTIONS, ask_search, document_path, search
from coclick.exporters.shipping.answer import Recipe, Similar, answer

SCALE = 1_000_000  # weights are whole numbers in Vespa
MAX_HITS = 400  # of a search
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]")  # in texts of Vespa
_HERE = Path(__file__).resolve().parent


class Vespa:
    """A type of documents and a type of queries."""

    def __init__(self, engine: Engine, settings: Mapping[str, Any]) -> None:
        """Take the settings of `ask.json`: names of types and fields, and versions."""
        self.engine, self.settings = engine, settings

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Get the document of the query by its id."""
        kind = self.settings["queries"]
        row = self._get(f"id:{kind}:{kind}::{self.settings['queries_version']}/{query_id(query)}", "stored")
        if row is None:
            return []
        stored = json.loads(row)
        return list(zip(stored["docs"], stored["scores"], strict=True)) if stored["query"] == query else []

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the type of queries."""
        kind, version = self.settings["queries"], self.settings["queries_version"]
        units = _whole({unit: weight for unit, weight in vector.items() if not FORBIDDEN.search(unit)})
        if not units:
            return
        wand = f'version contains "{version}" and ({{targetHits: {n}}}wand(units, {units}))'
        yql = f"select stored from sources * where {wand}"
        request = {"yql": yql, "model.restrict": kind, "hits": n, "ranking": "units"}
        for hit in ask_search(self.engine, request).get("children", []):
            row = json.loads(hit["fields"]["stored"])
            yield Similar(hit["relevance"], row["clicked"], row["weights"])

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the type of documents; the given ones are asked for by id."""
        field, weights = self.settings["field"], _whole(words)
        best = self._scores(f"({{targetHits: {n}}}wand({field}, {weights}))", n)
        others = [doc for doc in docs if doc not in best]
        if self.settings["id_field"] == "documentid":
            return best | self._scores_by_id(json.loads(weights), others)
        for start in range(0, len(others), MAX_HITS):
            part = others[start : start + MAX_HITS]
            listed = ", ".join(json.dumps(doc, ensure_ascii=False) for doc in part)
            only = f"{self.settings['id_field']} in ({listed})"
            best |= self._scores(f"{only} and dotProduct({field}, {weights})", len(part))
        return best

    def _scores(self, condition: str, n: int) -> dict[str, float]:
        kind, id_field, version = (self.settings[name] for name in ("documents", "id_field", "version"))
        if version is not None:
            condition = f'version contains "{version}" and {condition}'
        request = {
            "yql": f"select {id_field} from sources * where {condition}",
            "model.restrict": kind,
            "hits": n,
            "ranking": self.settings["ranking"],
        }
        return dict(search(self.engine, id_field, request))

    def _scores_by_id(self, weights: Mapping[str, int], docs: Sequence[str]) -> dict[str, float]:
        """Read the words of documents, whose ids cannot be part of a search."""
        kind, namespace = self.settings["documents"], self.settings["namespace"]

        def score(doc: str) -> tuple[str, float]:
            held = self._get(f"id:{namespace}:{kind}::{doc}", self.settings["field"]) or {}
            total = sum(weight * held.get(word, 0) for word, weight in weights.items())
            return doc, total / self.settings["divisor"]

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            return dict(pool.map(score, docs))

    def _get(self, document_id: str, field: str) -> Any:
        """Return a field of a document; None if Vespa does not have it."""
        kind = document_id.split(":", 3)[2]
        parameters = urlencode({"fieldSet": f"{kind}:{field}"})
        try:
            found = self.engine.ask("GET", f"{document_path(document_id)}?{parameters}")
        except EngineError as error:
            if error.status == 404:
                return None
            raise
        return found.get("fields", {}).get(field)


def query_id(query: str) -> str:
    """Return the id under which a normalised query is stored: queries can be longer than ids."""
    return hashlib.md5(query.encode(), usedforsecurity=False).hexdigest()


def _whole(weights: Mapping[str, float]) -> str:
    """Weights as a map of whole numbers, in the syntax of queries."""
    whole = {name: round(weight * SCALE) for name, weight in weights.items()}
    return json.dumps(kept, ensure_ascii=False) if (kept := {n: w for n, w in whole.items() if w}) else ""


def ask(query: str, engine: Engine) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    settings = json.loads((_HERE / "ask.json").read_text(encoding="utf-8"))
    return answer(Vespa(engine, settings), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    for doc, score in ask(arguments[1], Engine(arguments[0])):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
