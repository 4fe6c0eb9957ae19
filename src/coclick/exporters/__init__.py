"""What coclick has learned, in the words of search engines.

`export(model, "pgvector", "folder")` writes a folder with schema, data, queries, a sample query with
what it should find, and a README with the commands to load it. Each engine is a file of this package; so are
trees for the engines' own learning to rank (`coclick.exporters.ltr_json`).
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.exporters.content import Content
from coclick.exporters.engine import Engine
from coclick.exporters.folder import check_folder, new_folder, write_json, write_manifest, write_text
from coclick.exporters.readme import readme
from coclick.exporters.sample import head_queries, measured_error, sample_query
from coclick.models.base import Model
from coclick.progress import Progress, quiet

ENGINES = ("elasticsearch", "opensearch", "parquet", "pgvector", "qdrant", "solr", "tantivy", "vespa")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


def export(
    model: Model,
    engine: str,
    path: str | Path,
    *,
    name: str = "coclick",
    queries: int = 10_000,
    max_weights: int | None = None,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Write a folder for a search engine and return its figures, which are also in its `manifest.json`.

    `name` is that of the index, `queries` how many of the log's most clicked queries travel with it, and
    `most_weights` how many words a document keeps, the heaviest.
    """
    if engine not in ENGINES:
        raise UserError(f"no export is called {engine!r}", hint=f"they are {', '.join(ENGINES)}")
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of an index",
            hint="at most 48 of a–z, 0–9 and _, with a letter first: every engine takes those",
        )
    check_folder(Path(path), force=force)
    content = Content.of(model)
    writer: Engine = importlib.import_module(f"coclick.exporters.{engine}").ENGINE(content, name, max_weights)
    with new_folder(Path(path), force=force) as folder:
        with progress("queries"):
            sample = sample_query(writer)
            blocks = writer.query_blocks(head_queries(content, queries))
            head = [text for texts, _ in blocks for text in texts]  # those that have a vector
            writer.write_queries(folder, head)
            error = measured_error(writer)
        with progress("documents", len(content.graph.docs)) as done:
            writer.write_documents(folder, writer.fitting.blocks(done))
        writer.write_schema(folder)
        writer.write_sample(folder, sample)
        write_json(folder / "expected.json", sample.to_dict())
        figures = _figures(writer) | {"queries": len(head), "score_error": error}
        write_text(folder / "README.md", readme(writer, sample, figures))
        write_manifest(folder, figures)
    return figures


def _figures(writer: Engine) -> dict[str, Any]:
    fitting, content = writer.fitting, writer.content
    size = {"dimensions": content.columns} if content.dense else {"words": len(content.tokens)}
    return {
        "engine": writer.name,
        "index": writer.index,
        "model": str(content.model),
        "graph": content.model.graph_digest,
        "documents": fitting.documents,
        **size,
        "weights": fitting.weights,
        "left_out": {reason: count for reason, count in fitting.left_out.items() if count},
        "score_unit": writer.unit,
    }
