"""Find documents with an engine and rank them with coclick: see README.md.

This file is part of coclick and is copied into exports; it uses only the standard library.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TIMEOUT = 2  # seconds for coclick; then the order of the engine stays


def post(url: str, body: Any, timeout: float = 30) -> Any:
    """Send JSON and return the JSON of the answer."""
    data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=timeout) as response:
        return json.load(response)


def fill(template: Any, query: str) -> Any:
    """Put the query into a request."""
    if isinstance(template, dict):
        return {key: fill(value, query) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, query) for value in template]
    return query if template == "{{query}}" else template


def rerank(engine: str, coclick: str, request: Any, query: str) -> list[tuple[str, float]]:
    """Return the documents of the engine in the order of coclick, with its scores."""
    hits = post(engine, fill(request, query))["hits"]["hits"]
    candidates = [{"doc": hit["_id"], "title": hit.get("_source", {}).get("title", "")} for hit in hits]
    if not candidates:
        return []
    try:
        ranked = post(f"{coclick.rstrip('/')}/rank", {"query": query, "candidates": candidates}, TIMEOUT)
    except (urllib.error.URLError, TimeoutError) as error:
        print(f"coclick does not answer ({error}): this is the order of the engine", file=sys.stderr)
        return [(hit["_id"], float(hit.get("_score") or 0)) for hit in hits]
    return [(row["doc"], row["score"]) for row in ranked["results"]]


def main(arguments: list[str]) -> None:
    """Print the ten best documents of a query."""
    parser = argparse.ArgumentParser(description="Find documents with an engine and rank them with coclick.")
    parser.add_argument("--engine", required=True, help="URL of the engine's search")
    parser.add_argument("--coclick", required=True, help="URL of `coclick serve`")
    parser.add_argument("query")
    given = parser.parse_args(arguments)
    request = json.loads(Path(__file__).with_name("request.json").read_text(encoding="utf-8"))
    for doc, score in rerank(given.engine, given.coclick, request, given.query)[:10]:
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
