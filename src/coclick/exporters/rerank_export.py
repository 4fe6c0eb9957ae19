"""Export the wiring of re-ranking: an engine finds documents, and `coclick serve` ranks them (`POST /rank`).

For models that no engine can compute, such as `ltr` with all its features. Nothing is lost: the model itself
ranks.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from coclick.exporters.output_folder import create_folder, write_manifest
from coclick.models.base import Model
from coclick.storage.directories import write_file, write_json

_REQUEST = {"size": 200, "_source": ["title"], "query": {"match": {"title": "{{query}}"}}}
_README = """# Re-ranking with coclick

Your engine finds documents, and the model `{model}` ranks them. Nothing is lost: the model itself
runs, beside the engine.

    coclick serve MODEL --port 8000
    python3 rerank.py --engine http://localhost:9200/products/_search --coclick http://localhost:8000 "xbox"

`request.json` is the search that finds candidates, for Elasticsearch and OpenSearch: `{{{{query}}}}` stands
for the query. Replace it by the query that you have, with at most 1,000 results. `rerank.py` needs only
Python 3.10; the function `rerank` in it is what your search service does:

1. send the query to the engine, and take the ids (and titles) of the hits;
2. `POST /rank` with `{{"query": …, "candidates": [{{"doc": …, "title": …}}]}}`; documents that the model does
   not know are scored by their texts, if the model can;
3. show the documents in the order of `results`. If coclick does not answer in time, show those of the engine.

`ltr(task=reranking)` is trained for this: see `docs/ltr.md` of coclick.
"""


def export_rerank(model: Model, path: Path, *, force: bool = False) -> dict[str, Any]:
    """Write the program, the search and the README; return the statistics."""
    stats = {"engine": "rerank", "model": str(model), "graph": model.graph_digest}
    with create_folder(path, force=force) as folder:
        program = files("coclick.exporters").joinpath("rerank_program.py").read_text(encoding="utf-8")
        write_file(folder / "rerank.py", program)
        write_json(folder / "request.json", _REQUEST)
        write_file(folder / "README.md", _README.format(model=model))
        write_manifest(folder, stats)
    return stats
