"""Everything that reads a graph or a model, run on damaged ones in a separate process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numba.core import event

import coclick
from coclick import ClickGraph, logs, open_model
from coclick.answers import describe
from coclick.errors import ArtefactError, CoclickError
from coclick.exporters import export
from coclick.failing import find_failing
from coclick.models.verify import verify
from storage.damage import Case, Damaged

SECONDS = 60  # for all consumers of one case
Consumer = Callable[[Any, Path], Any]

# Of a model. `expand_docs`, `export` and others raise a UserError where a model cannot do them.
OF_MODELS: dict[str, Consumer] = {
    "search": lambda model, _: list(model.search(["hotel", "ny the hotel", "walmart hotel lodging"], 5)),
    "search with a mask": lambda model, _: model.search("hotel", 5, block=["hotel-1"]),
    "score": lambda model, _: model.score(["hotel"], [["hotel-1", "pizza-2"]]),
    "score all": lambda model, _: model._score_all(model._queries("ny hotel")[0]),
    "score texts": lambda model, _: model.score_texts("hotel", ["best manhattan hotel"]),
    "similar queries": lambda model, _: model.similar_queries(["hotel", "cheap hotel"], 5, damped=True),
    "similar docs": lambda model, _: model.similar_docs(["hotel-1", "hotel-7"], 5),
    "explain": lambda model, _: [
        model.explain(query, doc)
        for query in ("hotel", "manhattan hotel suites")
        for doc in ("hotel-1", "hotel-7")
    ],
    "expand": lambda model, _: model.expand("cheap hotel lodging"),
    "expand docs": lambda model, _: model.expand_docs(["hotel-1", "hotel-7"], 5),
    "explain expansion": lambda model, _: model.explain_expansion("hotel-1", 3),
    "confidence": lambda model, _: [
        (model.confidence(q), model.evidence(q)) for q in ("hotel", "shoe dough")
    ],
    "embed": lambda model, _: (model.embed_queries(["hotel", "manhattan"]), model.embed_docs(["hotel-1"])),
    "topics": lambda model, _: model.describe_topics(3),
    "translate": lambda model, _: model.translate("hotel", 3),
    "add": lambda model, _: model.add({"new-1": "the best hotel oven"}).search("hotel", 5),
}
# These open the artefact themselves, and take longer.
OF_MODEL_PATHS: dict[str, Consumer] = {
    "info": lambda path, _: describe(path),
    "save elsewhere": lambda path, out: open_model(path).save(out / "copy"),
}
EXPORTS: dict[str, Consumer] = {
    "export": lambda path, out: export(path, "parquet", out / "export", measure=False),
}
OF_GRAPHS: dict[str, Consumer] = {
    "tables": lambda graph, _: (graph.provides, graph.title(0), graph.clicks_by_doc.row_sums(), repr(graph)),
    "split": lambda graph, _: [graph.split(by) for by in ("queries", "pairs", "time")],
    "filter": lambda graph, _: graph.filter_pairs(min_score=0.5),
    "merge": lambda graph, _: graph.merge(graph),
    "spellings": lambda graph, _: logs.variants(graph),
    "rejects": lambda graph, _: logs.rejects(graph),
    "train": lambda graph, _: [
        coclick.train(name, graph) for name in ("clicks", "bm25", "vpcg", "logged", "ctr")
    ],
    "train on views": lambda graph, _: coclick.train("pls(dim=5,views=tags+clicks)", graph),
    "rules": lambda graph, _: coclick.find_rules(graph, replay=False),
    "suggestions": lambda graph, _: coclick.Suggestions.build(graph).complete("ho"),
    "failing": lambda graph, _: find_failing(graph),
    "save elsewhere": lambda graph, out: graph.save(out / "copy"),
}
OF_GRAPH_PATHS: dict[str, Consumer] = {"info": lambda path, _: describe(path)}
OF_SUGGESTIONS: dict[str, Consumer] = {
    "complete": lambda found, _: [found.complete(text) for text in ("", "h", "hotel s", "hotle")],
    "correct": lambda found, _: [found.correct(text) for text in ("hotle", "ny hotell", "pizzadough")],
}


def _run(consumers: dict[str, Consumer], given: Any, out: Path) -> Iterator[tuple[str, str]]:
    """Run consumers and yield (name, outcome): "answer", "error", "refused" or a traceback."""
    for name, consume in consumers.items():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        try:
            consume(given, out)
        except ArtefactError as error:
            yield name, "error" if _names_file(error) else f"an error without a file: {error}"
        except CoclickError:
            yield name, "refused"  # the model cannot do this
        except Exception:
            yield name, traceback.format_exc(limit=-6)
        else:
            yield name, "answer"


def _names_file(error: ArtefactError) -> bool:
    return bool(error.where) and Path(str(error.where)).suffix in (".npy", ".parquet", ".json")


def outcomes(path: Path, kind: str, exports: bool = False) -> dict[str, str]:
    """Open the artefact and run everything on it."""
    openers: dict[str, tuple[Callable[[Path], Any], dict[str, Consumer], dict[str, Consumer]]] = {
        "model": (open_model, OF_MODELS, OF_MODEL_PATHS | (EXPORTS if exports else {})),
        "graph": (ClickGraph.open, OF_GRAPHS, OF_GRAPH_PATHS),
        "suggestions": (coclick.Suggestions.open, OF_SUGGESTIONS, {}),
    }
    opener, consumers, of_paths = openers[kind]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        found = dict(_run({"open": lambda where, _: opener(where)}, path, out))
        if found["open"] == "answer":
            found |= _run(consumers, opener(path), out)
            found |= _run(of_paths, path, out)
    try:
        found["verify"] = "error" if verify(path) else "answer"
    except CoclickError:
        found["verify"] = "error"
    except Exception:
        found["verify"] = traceback.format_exc(limit=-6)
    return found


def judge(found: dict[str, str]) -> list[str]:
    """What is not allowed: a traceback, an error without a file, or an answer that `verify` calls sound."""
    wrong = [f"{name}: {what}" for name, what in found.items() if what not in ("answer", "error", "refused")]
    if found["verify"] == "answer" and not wrong:
        wrong.append("verify: calls the damaged artefact sound")
    return wrong


def run_cases(path: Path, kind: str, cases: Sequence[Case], exports: bool = False) -> dict[str, list[str]]:
    """Run cases in a child process, and return what was wrong by case. A child that dies is replaced."""
    wrong: dict[str, list[str]] = {}
    remaining = list(cases)
    while remaining:
        done, problem = _run_child(path, kind, remaining, exports, wrong)
        if problem:
            wrong[str(remaining[done])] = [problem]
            done += 1
        remaining = remaining[done:]
    return wrong


def _run_child(
    path: Path, kind: str, cases: Sequence[Case], exports: bool, wrong: dict[str, list[str]]
) -> tuple[int, str | None]:
    """Run cases in one child on a copy; return how many ended, and how the child died if it did."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "artefact"
        shutil.copytree(path, copy)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            _child(copy, kind, cases, exports, write)
        os.close(write)
        done = 0
        with os.fdopen(read) as lines:
            for line in lines:
                found = json.loads(line)
                if found:
                    wrong[str(cases[done])] = found
                done += 1
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return done, f"the process died: {signal.Signals(os.WTERMSIG(status)).name}"
    return done, None if os.WEXITSTATUS(status) == 0 else "the process ended early"


def _child(path: Path, kind: str, cases: Sequence[Case], exports: bool, write: int) -> None:
    """Run the cases; never returns."""
    status = 1
    try:
        damaged = Damaged(path)
        with os.fdopen(write, "w") as lines:
            for case in cases:
                signal.alarm(SECONDS)
                found: list[str] = []
                if damaged.apply(case):
                    with event.install_recorder("numba:compile") as compiled:
                        found = judge(outcomes(path, kind, exports))
                    if compiled.buffer:
                        found.append("code was compiled for damaged arrays")
                damaged.restore()
                lines.write(json.dumps(found) + "\n")
                lines.flush()
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(status)


def describe_wrong(wrong: dict[str, list[str]]) -> str:
    """The cases with what was wrong, for people."""
    return "\n".join(f"{case}\n    " + "\n    ".join(found) for case, found in wrong.items())
