"""The artefacts that faults are tried on: a graph, a model of every kind, and suggestions.

They are small, so that a trial takes milliseconds, and made from a log with everything that a graph can hold.

DuckDB, once used, hangs in every fork of a process, because its threads are gone there. So this process never
uses it: what needs it runs in forks.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import duckdb

import coclick
from coclick import ClickGraph, answers, create, model_names, open_model
from coclick.cli import main
from coclick.jit.threads import set_threads
from coclick.logs import rejects, variants
from coclick.models.verify import verify
from coclick.suggestions.suggestions import Suggestions
from faults import forks

SIZES = {"dim": 4, "n_topics": 4, "iterations": 2, "n_trees": 5, "max_queries": 20, "n_folds": 2}
MORE = (
    "0.8*clicks + 0.2*bm25",
    "pls(dim=4,index=approximate)",
    "mpls(dim=4,views=title+chars+clicks+tags)",
    "vpcg(units=chars,own_weight=0)",
    "vpcg(start=doc,max_terms=5)",
)
SHORT = ("bm25", "vpcg", "pls(dim=4)", "neighbours", "bltm(n_topics=4,iterations=2)", MORE[0])

IN_FORKS = ("rejects",)  # questions that DuckDB answers
Question = Callable[[Any, Path], Any]  # of what was opened, and of the directory


@dataclass(frozen=True)
class Target:
    """An artefact, and the questions that users ask it."""

    name: str
    path: Path
    open: Callable[[Path], Any]
    questions: dict[str, Question]


def command(*arguments: str | Path) -> tuple[int, str]:
    """Run the command line in this process; return its exit code and what it printed."""
    before, sys.argv = sys.argv, ["coclick", *map(str, arguments)]
    content, code = BytesIO(), 0
    out = TextIOWrapper(content, "utf-8", write_through=True)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = before
    return code, content.getvalue().decode("utf-8", "replace")


def specs(short: bool) -> list[str]:
    """The models to train: in the long form every registered one, with small sizes."""
    if short:
        return list(SHORT)
    return [*map(_small, model_names()), *MORE]


def _small(name: str) -> str:
    model = create(name)
    sizes = [f"{key}={value}" for key, value in SIZES.items() if isinstance(getattr(model, key, None), int)]
    return f"{name}({','.join(sizes)})" if sizes else name


def make_log(folder: Path) -> None:
    """Write a simulated log, documents, features of a user view and new documents."""
    done(command("sample", folder, "--queries", "60", "--docs", "80", "--events", "3000", "--force"))
    docs = [line.split("\t") for line in (folder / "docs.tsv").read_text().splitlines()[1:]]
    tags = "".join(f"{doc[0]}\t{doc[1].split()[0].lower()}\n" for doc in docs)
    (folder / "tags.tsv").write_text(f"doc\tfeature\n{tags}")
    for name in ("new", "more"):
        rows = "".join(f"{name}-{i}\t{doc[1]}\t{doc[2]}\n" for i, doc in enumerate(docs[:9]))
        (folder / f"{name}.tsv").write_text(f"doc\ttitle\tbody\n{rows}")
    lines = "".join(f"{doc[1].lower()}\t{doc[0]}\t{i + 1}\n" for i, doc in enumerate(docs[:30]))
    (folder / "log.tsv").write_text(f"query\tdoc\tclicks\n{lines}\t\t\nbroken\n")


def make_graph(log: Path, path: Path) -> None:
    """Build a graph with a history and a user view."""
    plain = path.with_name(f"{path.name}-plain")
    done(command("build", log / "events.parquet", "--docs", log / "docs.tsv", "-o", plain, "--force"))
    queries = "".join(f"{query}\t{query.split()[0]}\n" for query in ClickGraph.open(plain).queries)
    (log / "query-tags.tsv").write_text(f"query\tfeature\n{queries}")
    tags = ("--queries", log / "query-tags.tsv", "--docs", log / "tags.tsv")
    done(command("view", plain, "tags", *tags, "-o", path, "--force"))


def make(folder: Path, short: bool = False) -> list[Target]:
    """Make all artefacts in a folder."""
    set_threads(1)
    import_all()
    log, graph, rejecting = folder / "log", folder / "graph", folder / "rejecting"

    def build(report: forks.Report) -> None:
        make_log(log)
        make_graph(log, graph)
        # The other kind of log: counts, with rejected rows.
        done(command("build", log / "log.tsv", "--max-rejected", "1", "-o", rejecting, "--force"))

    if (end := forks.run(build, 300, memory=None)).kind != "done":
        raise RuntimeError(end.detail)
    forbid_duckdb()
    opened = ClickGraph.open(graph)
    found = [Target("graph", graph, ClickGraph.open, _graph_questions())]
    found.append(Target("graph with rejects", rejecting, ClickGraph.open, _graph_questions()))
    Suggestions.build(opened).save(folder / "suggestions")
    asked = _suggestions_questions(opened)
    found.append(Target("suggestions", folder / "suggestions", Suggestions.open, asked))
    for number, spec in enumerate(specs(short)):
        path = folder / f"model-{number}"
        create(spec).fit(opened).save(path)
        found.append(Target(spec, path, open_model, _model_questions(opened)))
    return found


def import_all() -> None:
    """Import every module: in a fork that is another user, or short of memory, it may not be readable."""
    for module in pkgutil.walk_packages(coclick.__path__, "coclick."):
        if not re.match(r"coclick\.(spark|integrations|service|__main__)", module.name):
            importlib.import_module(module.name)
    importlib.import_module("rich.table")
    importlib.import_module("rich.console")


def forbid_duckdb() -> None:
    """Raise if this process, not a fork of it, connects to DuckDB."""
    parent, connect = os.getpid(), duckdb.connect

    def checked(*arguments: Any, **options: Any) -> Any:
        if os.getpid() == parent:
            raise RuntimeError("DuckDB in the parent of forks")
        return connect(*arguments, **options)

    duckdb.connect = checked


def done(end: tuple[int, str]) -> None:
    """Raise if a command failed."""
    if end[0]:
        raise RuntimeError(f"the command failed: {end[1]}")


def _asked(graph: ClickGraph) -> tuple[Sequence[str], str]:
    """Queries to ask, the last two of them new, and a document that was clicked."""
    best = int(graph.clicks_by_doc.row_nnz().argmax())
    row = int(graph.clicks_by_doc.row(best)[0][0])
    known = [graph.queries[row], graph.queries[0], graph.queries[len(graph.queries) - 1]]
    return [*known, f"best {known[0]}", "nothing like it"], graph.docs[best]


def _model_questions(graph: ClickGraph) -> dict[str, Question]:
    queries, doc = _asked(graph)
    docs = [doc, graph.docs[0]]
    new = [{"doc": "?", "title": queries[0]}]
    return {
        "search": lambda model, _: answers.search(model, queries, 5),
        "rank": lambda model, _: answers.rank(model, queries[0], docs),
        "rank texts": lambda model, _: answers.rank(model, queries[0], new),
        "similar queries": lambda model, _: answers.similar_queries(model, queries, 5),
        "similar documents": lambda model, _: answers.similar_docs(model, docs, 5),
        "explain": lambda model, _: answers.explain(model, queries[0], doc),
        "explain new": lambda model, _: answers.explain(model, queries[3], doc),
        "expand": lambda model, _: answers.expand(model, queries[0]),
        "expand document": lambda model, _: answers.expand_doc(model, doc),
        "vectors": lambda model, _: answers.query_vectors(model, queries),
        "topics": lambda model, _: answers.topics(model, 3),
        "info": lambda _, path: _info(path),
    }


def _graph_questions() -> dict[str, Question]:
    def train(spec: str, graph: ClickGraph) -> Any:
        return answers.search(create(spec).fit(graph), [graph.queries[0], graph.queries[5]], 5)

    def keep_clicked(path: Path) -> int:
        return command("filter", path, "--min-clicks", "2", "-o", path.with_name("filtered"), "--force")[0]

    return {
        "rejects": lambda graph, _: list(rejects(graph)),
        "spellings": lambda graph, _: list(variants(graph)),
        "train clicks": lambda graph, _: train("clicks", graph),
        "train vpcg": lambda graph, _: train("vpcg", graph),
        "filter": lambda _, path: keep_clicked(path),
        "suggest": lambda graph, _: Suggestions.build(graph).complete("a"),
        "info": lambda _, path: _info(path),
    }


def _suggestions_questions(graph: ClickGraph) -> dict[str, Question]:
    queries, _ = _asked(graph)
    return {
        "complete": lambda found, _: [
            answers.complete(found, text[:n], 5) for text in queries for n in (0, 1, 4)
        ],
        "correct": lambda found, _: [answers.correct(found, text[:3] + text[4:]) for text in queries],
        "info": lambda _, path: _info(path),
    }


def _info(path: Path) -> Any:
    """What the command prints for people, without its own path."""
    code, printed = command("info", path)
    return code, printed.replace(str(path), "")


def ask_verify(path: Path) -> list[tuple[str, str]]:
    """What `coclick verify` reports."""
    return verify(path)
