"""tantivy: an index for each version, with the vectors of queries beside it.

    FOLDER/versions/VERSION                     the index of documents, and queries.ndjson
    FOLDER/versions/VERSION/search/queries      the index of queries, for a model without vectors

An increment starts from hard links to the files of its base, which tantivy never changes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, stop
from coclick.exporters.programs.folder_versions import (
    load_version,
    remove,
    rollback,
    run_program,
)
from coclick.exporters.programs.samples import check_rankings, check_samples


def main(commands: Mapping[str, Callable[..., None]], folder: Path, arguments: list[str]) -> None:
    """Run `run.py FOLDER COMMAND`."""
    run_program(commands, folder, arguments, "tantivy")


def load(place: Path, folder: Path, settings: Settings) -> None:
    """Build the index of this version and make it the current one."""
    load_version(place, folder, settings, _build)


def check(place: Path, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    import tantivy

    from search import search  # type: ignore[import-not-found]  # beside run.py

    index = tantivy.Index.open(str(place / "current"))
    check_samples(folder, lambda words: [(doc, score) for score, doc, _ in search(index, words)])
    if "search_version" in settings:
        check_rankings(place / "current" / "search")


def _build(part: Path, folder: Path, settings: Settings, base: Path | None) -> None:
    if base is not None:
        _link_files(base, part)
    _build_documents(part, folder, settings)
    _write_queries(part, folder, base)
    if "search_version" in settings:
        _build_rankings(part / "search")


def _link_files(base: Path, part: Path) -> None:
    for file in base.iterdir():
        if file.is_dir() or file.suffix == ".lock" or file.name in ("coclick.json", "queries.ndjson"):
            continue
        if file.name in ("meta.json", ".managed.json"):  # replaced by tantivy
            shutil.copyfile(file, part / file.name)
        else:
            (part / file.name).hardlink_to(file)


def _build_documents(part: Path, folder: Path, settings: Settings) -> None:
    import tantivy

    increment = bool(settings["base_version"])
    schema = _schema(doc=True, title=True, words=False)
    index = tantivy.Index.open(str(part)) if increment else tantivy.Index(schema, path=str(part))
    writer = index.writer()
    for doc in _read(folder / "deleted-docs.ndjson") if increment else ():
        writer.delete_documents_by_term("doc", doc)
    for document in _read(folder / "documents.ndjson"):
        if increment:
            writer.delete_documents_by_term("doc", document["doc"])
        writer.add_document(tantivy.Document(**document))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    count = index.searcher().num_docs
    if count != settings["documents"]:
        stop(
            f"the index has {count:,} documents instead of {settings['documents']:,}, and is not used: "
            "load a whole export"
        )


def _build_rankings(search: Path) -> None:
    """Replace the file of queries by an index of them."""
    import tantivy

    (search / "queries").mkdir()
    schema = _schema(query=False, units=False, stored=True)
    writer = tantivy.Index(schema, path=str(search / "queries")).writer()
    for row in _read(search / "queries.ndjson"):
        units = row.pop("units")
        writer.add_document(tantivy.Document(query=row["query"], units=units, stored=json.dumps(row)))
    writer.commit()
    writer.wait_merging_threads()
    (search / "queries.ndjson").unlink()


def _schema(**fields: bool) -> Any:
    """Fields of texts, and whether they are stored; only titles are split into words."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    for name, stored in fields.items():
        whole: dict[str, Any] = {} if name == "title" else {"tokenizer_name": "raw", "index_option": "basic"}
        schema.add_text_field(name, stored=stored, **whole)
    return schema.build()


def _write_queries(part: Path, folder: Path, base: Path | None) -> None:
    """Write the query vectors of this version, with those of its base that have not changed."""
    rows = {row["query"]: row for row in _read(base / "queries.ndjson")} if base else {}
    for query in _read(folder / "deleted-queries.ndjson") if base else ():
        rows.pop(query, None)
    rows |= {row["query"]: row for row in _read(folder / "queries.ndjson")}
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values())
    (part / "queries.ndjson").write_text("".join(lines), encoding="utf-8")


def _read(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from map(json.loads, lines)


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
