"""tantivy: a folder with one index for each version, and a link `current` that is swapped at once.

    FOLDER/current              link to versions/VERSION
    FOLDER/versions/VERSION     an index, queries.ndjson, and coclick.json with the version before

An index is built in a hidden folder and renamed when it is complete, so an interrupted load changes nothing.
An increment starts from hard links to the files of its base, which tantivy never changes.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, read_json, run_command, stop
from coclick.exporters.programs.samples import check_samples

_VERSION = re.compile(r"[0-9a-f]{12}")


def main(commands: Mapping[str, Callable[..., None]], folder: Path, arguments: list[str]) -> None:
    """Run `run.py FOLDER COMMAND`."""
    if len(arguments) != 2 or arguments[1] not in commands:
        names = "".join(f"\n    {name:10}{command.__doc__}" for name, command in commands.items())
        stop(f"usage: python3 run.py FOLDER COMMAND, with the folder of all versions and one of{names}")
    try:
        import tantivy  # noqa: F401
    except ImportError:
        stop("tantivy is missing: run `pip install tantivy`")
    try:
        run_command(commands, arguments[1], Path(arguments[0]), folder)
    except (OSError, ValueError) as error:
        stop(f"{arguments[0]}: {error}")


def load(place: Path, folder: Path, settings: Settings) -> None:
    """Build the index of this version and make it the current one."""
    version, base = settings["version"], settings["base_version"]
    current = _current(place)
    if base and current not in (base, version):
        stop(
            f"this increment changes version {base}, but the loaded version is {current or 'none'}: "
            "load the increments in between, or a whole export"
        )
    if current == version:
        print(f"version {version} is loaded already")
        return
    if (place / "current").exists() and current is None:
        stop(f"{place / 'current'} is not a link of coclick: choose another folder")
    target = place / "versions" / version
    if not target.exists():
        part = place / "versions" / f".part-{version}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        if base:
            _link_files(place / "versions" / base, part)
        _build(part, folder, settings)
        _write_queries(part, folder, place / "versions" / base if base else None)
        part.replace(target)
    _write(target / "coclick.json", json.dumps({"version": version, "previous": current}))
    _point_to(place, version)
    kept = (version, current)
    for old in (place / "versions").iterdir():
        if old.name not in kept and _VERSION.fullmatch(old.name.removeprefix(".part-")):
            shutil.rmtree(old)
    print(f"version {version} is loaded: {settings['documents']:,} documents")


def check(place: Path, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    import tantivy

    from search import search  # type: ignore[import-not-found]  # beside run.py

    index = tantivy.Index.open(str(place / "current"))
    check_samples(folder, lambda words: [(doc, score) for score, doc, _ in search(index, words)])


def rollback(place: Path, folder: Path, settings: Settings) -> None:
    """Make the version before the current one; do nothing if this version is not the current one."""
    version = settings["version"]
    if _current(place) != version:
        print(f"version {version} is not loaded: there is nothing to roll back")
        return
    previous = read_json(place / "versions" / version / "coclick.json")["previous"]
    if previous is None or not (place / "versions" / previous).exists():
        stop(f"no version before {version} is kept: load the folder of an older export instead")
    _point_to(place, previous)
    shutil.rmtree(place / "versions" / version)
    print(f"version {previous} is loaded again")


def remove(place: Path, folder: Path, settings: Settings) -> None:
    """Delete all versions."""
    if _current(place) is not None:
        (place / "current").unlink()
    shutil.rmtree(place / "versions", ignore_errors=True)
    print(f"all versions in {place} are deleted")


def _current(place: Path) -> str | None:
    link = place / "current"
    version = link.readlink().name if link.is_symlink() else ""
    return version if _VERSION.fullmatch(version) else None


def _point_to(place: Path, version: str) -> None:
    """Swap the link in one step."""
    new = place / ".current-new"
    new.unlink(missing_ok=True)
    new.symlink_to(Path("versions") / version, target_is_directory=True)
    new.replace(place / "current")


def _link_files(base: Path, part: Path) -> None:
    for file in base.iterdir():
        if file.suffix == ".lock" or file.name in ("coclick.json", "queries.ndjson"):
            continue
        if file.name in ("meta.json", ".managed.json"):  # replaced by tantivy
            shutil.copyfile(file, part / file.name)
        else:
            (part / file.name).hardlink_to(file)


def _build(part: Path, folder: Path, settings: Settings) -> None:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("doc", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("title", stored=True)
    schema.add_text_field("words", tokenizer_name="raw", index_option="basic")
    increment = bool(settings["base_version"])
    index = tantivy.Index.open(str(part)) if increment else tantivy.Index(schema.build(), path=str(part))
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


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
