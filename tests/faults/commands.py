"""Every command that writes, with its inputs and its output, and what may be left of a stopped run."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coclick import ClickGraph
from coclick.errors import CoclickError
from coclick.storage.directories import PUBLISHED
from faults import forks
from faults.artefacts import Target, ask_verify, command

_NEVER = 600.0  # seconds: longer than any command here


@dataclass(frozen=True)
class Command:
    """A command that writes to `output` in a folder; its inputs are never changed."""

    name: str
    run: Callable[[Path], tuple[int, str]]
    output: str = "out"
    # What a second run does, if it cannot be the same: documents that were added cannot be added again.
    again: Callable[[Path], tuple[int, str]] | None = None
    old: str | None = None  # an artefact that must be there already, in the folder of inputs
    verifiable: bool = True
    one_by_one: bool = False  # its files appear one after the other, among files of others


def commands(inputs: Path, targets: list[Target]) -> list[Command]:
    """All commands that write; `inputs` is the folder of `artefacts.make`, which returned the targets."""
    made = {target.name.partition("(")[0]: target.path for target in reversed(targets)}
    log, graph, model, vectors = inputs / "log", inputs / "graph", made["bm25"], made["vpcg"]

    def cli(*arguments: str | Path) -> Callable[[Path], tuple[int, str]]:
        """A command line; OUT stands for the output."""
        return lambda folder: command(*[folder / "out" if one == "OUT" else one for one in arguments])

    def file(name: str, *arguments: str | Path) -> Command:
        """A command that writes one file, with that suffix."""
        output = f"out.{name.partition(' ')[2]}"

        def run(folder: Path) -> tuple[int, str]:
            return command(*[folder / output if one == "OUT" else one for one in arguments])

        return Command(name, run, output, verifiable=False)

    def merge(folder: Path) -> tuple[int, str]:
        try:
            one, other = ClickGraph.open(graph), ClickGraph.open(inputs / "rejecting")
            one.merge(other).save(folder / "out", force=True)
        except CoclickError as error:
            return error.exit_code, str(error)
        except (OSError, MemoryError) as error:  # for callers in Python, as on the command line
            return 1, str(error)
        return 0, ""

    force = ("-o", "OUT", "--force")
    tags = ("--queries", log / "query-tags.tsv", "--docs", log / "tags.tsv")
    judged = ("--queries", log / "queries.tsv", "--qrels", log / "qrels.tsv")
    return [
        Command(
            "sample",
            cli("sample", "OUT", "--queries", "20", "--docs", "20", "--events", "300", "--force"),
            verifiable=False,
            one_by_one=True,
        ),
        Command("build", cli("build", log / "events.parquet", "--docs", log / "docs.tsv", *force)),
        Command("build with rejects", cli("build", log / "log.tsv", "--max-rejected", "1", *force)),
        Command("filter", cli("filter", graph, "--min-clicks", "2", *force)),
        Command("view", cli("view", inputs / "graph-plain", "tags", *tags, *force)),
        Command("merge", merge),
        Command("train", cli("train", "vpcg", graph, *force)),
        Command("train a sum", cli("train", "0.8*clicks + 0.2*bm25", graph, *force)),
        Command(
            "add",
            cli("add", "OUT", log / "new.tsv"),
            again=cli("add", "OUT", log / "more.tsv"),
            old=model.name,
        ),
        Command("compare", cli("compare", graph, "--only", "bm25", "--only", "clicks", *force)),
        Command("ltr", cli("ltr", graph, "--models", "bm25", "--models", "clicks", *force)),
        Command("suggest build", cli("suggest", "build", graph, *force)),
        *(
            Command(f"export {to}", cli("export", vectors, "--to", to, *force), verifiable=False)
            for to in ("opensearch", "parquet", "pgvector", "qdrant")
        ),
        file("rules txt", "rules", graph, "--to", "querqy", "--no-replay", *force),
        file("failing html", "failing", graph, "--html", "OUT"),
        file("check html", "check", log / "log.tsv", "--html", "OUT"),
        file("features txt", "features", graph, "--models", "bm25", "--models", "clicks", *force),
        file("run trec", "run", model, "--queries", log / "queries.tsv", *force),
        file("evaluate html", "evaluate", graph, "--models", "bm25", *judged, "--html", "OUT"),
        file("similar tsv", "similar", vectors, *force),
        file("similar parquet", "similar", vectors, *force),
        file("expand ndjson", "expand", vectors, *force),
    ]


_SECONDS = re.compile(rb'"seconds":[0-9.e-]+')  # of training, in a report: other ones in each run


@dataclass
class Prepared:
    """A command whose results are known: the trees of an old and of a new output."""

    command: Command
    old: Path | None
    new: dict[str, str]
    leftovers: set[str]  # other files of a run that nothing stopped
    volatile: set[str]  # files that differ from run to run, such as manifests with the time of training
    seconds: float
    steps: int


Run = Callable[[Path], tuple[int, str]]


def prepare(
    one: Command, inputs: Path, folder: Path, count_steps: Callable[[Run, Path, Any], None]
) -> Prepared:
    """Run a command twice, so that its results, its time and its steps are known."""
    trees, ends = [], []
    for _ in range(2):
        reset(folder, one, inputs, with_old=True)
        end = forks.run(lambda report: count_steps(one.run, folder, report), _NEVER, memory=None)
        if end.kind != "done" or not end.reports or end.reports[-1][0] != 0:
            raise RuntimeError(f"{one.name} failed: {end.kind} {end.reports} {end.detail}")
        trees.append(tree(folder / one.output))
        ends.append(end)
    changing = {name for name in trees[0] | trees[1] if trees[0].get(name) != trees[1].get(name)}
    volatile = {"manifest.json", *changing}
    others = set(tree(folder)) - {name for name in tree(folder) if _belongs(name, one.output)}
    return Prepared(
        one,
        inputs / one.old if one.old else None,
        trees[1],
        others,
        volatile,
        ends[1].seconds,
        ends[1].reports[-1][1],
    )


def reset(folder: Path, one: Command, inputs: Path, *, with_old: bool) -> None:
    """Empty the folder of a trial, and put the old output there, if there is one."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    if one.old is not None:
        shutil.copytree(inputs / one.old, folder / one.output)


def tree(path: Path) -> dict[str, str]:
    """The files below a path with digests of their content, and folders."""
    if path.is_file():
        content = _SECONDS.sub(b"", path.read_bytes())
        return {"": hashlib.sha256(content).hexdigest()}
    found = {}
    for one in sorted(path.rglob("*")) if path.is_dir() else ():
        name = one.relative_to(path).as_posix()
        found[name] = "" if one.is_dir() else hashlib.sha256(one.read_bytes()).hexdigest()
    return found


def _belongs(name: str, output: str) -> bool:
    return name == output or name.startswith(f"{output}/")


def state(prepared: Prepared, folder: Path, before: dict[str, str]) -> str:
    """Which output there is: "old", "new", "absent", or "mixed"."""
    found = tree(folder / prepared.command.output)
    if not prepared.command.verifiable:  # hidden files are not part of it; `left over` counts them
        found = {name: digest for name, digest in found.items() if not name.startswith(".")}
    if not found or (prepared.command.one_by_one and found.items() < prepared.new.items()):
        return "absent"
    if found == before:
        return "old"
    manifest = folder / prepared.command.output / "manifest.json"
    if prepared.command.verifiable:  # files of the old artefact are collected by the next writer
        if not manifest.exists():
            return "absent"
        named = _named(folder / prepared.command.output)
        if before and named == {name for name in before if _is_named(name)}:
            return "old"
        found = {name: digest for name, digest in found.items() if name in named}
    expected = set(filter(_is_named, prepared.new)) if prepared.command.verifiable else set(prepared.new)
    if set(found) != expected:
        return "mixed"
    same = all(prepared.new[name] == found[name] for name in found if name not in prepared.volatile)
    return "new" if same else "mixed"


def _is_named(file: str) -> bool:
    """Whether a manifest names a file: not what is hidden, and no second names, which `verify` checks."""
    return not file.startswith(".") and not PUBLISHED.fullmatch(file)


def _named(path: Path) -> set[str]:
    """The files that the manifest of an artefact names, and the manifest."""
    import json

    files = json.loads((path / "manifest.json").read_text())["files"]
    return {"manifest.json", *(entry["file"] for entry in files.values())}


def verified(path: Path) -> str:
    """What `verify` reports about an output, or nothing."""
    end = forks.run(lambda report: report(ask_verify(path)))
    return "" if end.kind == "done" and end.reports == [[]] else f"{end.kind} {end.reports} {end.detail}"
