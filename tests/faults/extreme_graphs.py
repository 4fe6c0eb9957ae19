"""Every model on extreme graphs: finite scores, equal for any threads and order of rows, in bounded time.

python -m faults.extreme_graphs                   # all models, with a query of a million documents
python -m faults.extreme_graphs --size 10000 vpcg
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from coclick import ClickGraph, create, model_names
from coclick.errors import CoclickError, UserError
from coclick.jit import threads
from planted import with_history

Rows = list[tuple[str, str, float]]
_MOST_SHOWN = 1 << 24
SIZES = {"dim": 4, "n_topics": 4, "n_trees": 5, "n_folds": 2}
SCRIPTS = (
    "ニューヨークのホテル", "東京の安い旅館", "纽约酒店便宜", "فندق رخيص في نيويورك",
    "رحلة إلى طهران", "โรงแรมราคาถูก", "ร้านอาหารกรุงเทพ", "🏨💤🗽", "👩‍👩‍👧‍👦 🇩🇪", "е\u0301 ё й", "ﬁﬂ ǅ ß İ",
)  # fmt: skip
_BILINEAR = frozenset({"large_margin", "lsi_dt", "mpls", "pls", "rmls", "ssi", "svdfeature"})
_OF_TITLES = frozenset({"bltm", "bltm_pr", "bltm_pr_1v", "cl_lsa", "lsa", "opca", "plsa", "s2net", "wtm"})
# What models refuse with an error, because there is nothing to learn from.
REFUSED = {
    "one edge": {"ltr"},
    "one query": {"ltr"},
    "identical texts": {"rmls"},
    "only stop words": _BILINEAR | {"ltr"},
    "spread counts": {"ctr", "logged"},  # a graph without a history
    "no texts": _BILINEAR | _OF_TITLES | {"ltr"},
}
_REFUSED = "refused"


def small(name: str) -> str:
    """A model with few dimensions, topics and trees, for small graphs."""
    model = create(name)
    sizes = [f"{key}={value}" for key, value in SIZES.items() if isinstance(getattr(model, key, None), int)]
    return f"{name}({','.join(sizes)})" if sizes else name


def _some_clicks() -> Rows:
    """Six queries on six documents, each on three of them."""
    words = ("red", "green", "blue", "small", "large", "old")
    return [
        (f"{word} shoe", f"D{(i + j) % 6}", 1.0 + i + j) for i, word in enumerate(words) for j in range(3)
    ]


def _titles(title: Callable[[int], str], count: int = 6) -> dict[str, str]:
    return {f"D{i}": title(i) for i in range(count)}


def graphs(size: int) -> dict[str, tuple[Rows, dict[str, str]]]:
    """Clicks and titles of each graph; `size` is the number of documents of a query, and the reverse."""
    named = _titles(lambda i: f"{('red', 'green', 'blue', 'small', 'large', 'old')[i]} shoe {i}")
    stops = ("the", "of the", "and", "to be", "is it", "a")
    spread = [(q, d, 10.0 ** (i - 6)) for i, (q, d, _) in enumerate((_some_clicks() * 2)[:19])]
    return {
        "one edge": ([("shoe", "D0", 1.0)], {"D0": "red shoe"}),
        "one query": (
            [("shoe", f"D{i}", 1.0 + i % 7) for i in range(size)],
            _titles(lambda i: f"shoe {i % 50}", size),
        ),
        "one document": ([(f"shoe {i}", "D0", 1.0 + i % 7) for i in range(size)], {"D0": "red shoe"}),
        "identical texts": (_some_clicks(), _titles(lambda i: "red shoe")),
        "only stop words": (
            [(stops[i % 6], f"D{(i * 5) % 6}", 1.0 + i) for i in range(12)],
            _titles(lambda i: stops[i]),
        ),
        "scripts": (
            [(SCRIPTS[i % 11], f"D{(i * 7) % 11}", 1.0 + i) for i in range(22)],
            _titles(lambda i: SCRIPTS[-i - 1], 11),
        ),
        "long titles": (
            _some_clicks(),
            _titles(lambda i: f"red shoe {i} " * (100_000 // 11) if i else "x" * 100_000),
        ),
        "spread counts": (spread, named),
        "no texts": (_some_clicks(), _titles(lambda i: "")),
    }


def build(rows: Rows, titles: dict[str, str], seed: int | None = None) -> ClickGraph:
    """A graph with a history; with a seed, of shuffled rows."""
    rows, docs = list(rows), list(titles.items())
    if seed is not None:
        random.Random(seed).shuffle(rows)
        random.Random(seed + 1).shuffle(docs)
    graph = ClickGraph.from_clicks(rows, dict(docs))
    fits = all(1 <= clicks < _MOST_SHOWN for _, _, clicks in rows)  # a history counts in whole numbers
    return with_history(graph) if fits else graph


def answers(model: Any) -> list[tuple[str, list[tuple[str, float]]]]:
    """Everything that the model says about some known queries and new ones."""
    known = sorted(model.graph_.queries[i] for i in range(min(len(model.graph_.queries), 8)))
    queries = [*known, "shoe", "red shoe 3", "the", SCRIPTS[0], "unknown"]
    docs = sorted(model.graph_.docs[i] for i in range(min(len(model.graph_.docs), 8)))
    run = model.search(queries, 20)
    found = [(f"search {query}", run.hits(i)) for i, query in enumerate(queries)]
    scores = model.score(queries, [docs] * len(queries))
    for query, row in zip(queries, scores, strict=True):
        found.append((f"score {query}", list(zip(docs, map(float, row), strict=True))))
    if "similar" in model.capabilities:
        found += [(f"similar to {query}", model.similar_queries(query, 10).hits()) for query in known]
        found += [(f"similar to {doc}", model.similar_docs(doc, 10).hits()) for doc in docs]
    if "explain" in model.capabilities:
        for query in queries[:3]:
            tree = model.explain(query, docs[0]).to_dict()
            found.append((f"explain {query}", [(docs[0], float(tree["score"]))]))
    if "expand" in model.capabilities:
        found += [(f"expand {query}", model.expand(query)) for query in queries]
    return found


def problems(spec: str, rows: Rows, titles: dict[str, str]) -> Iterator[str]:
    """Train a model and yield what is wrong with it; `REFUSED` says what it may refuse."""
    try:
        model = create(spec).fit(build(rows, titles))
    except UserError as error:
        yield f"{_REFUSED}: {error}"
        return
    first = answers(model)
    for what, hits in first:
        if not all(math.isfinite(score) for _, score in hits):
            yield f"{what}: a score is not finite: {[score for _, score in hits][:5]}"
    before = threads.threads()
    threads.set_threads(2 if before == 1 else 1)
    try:
        yield from _differences("threads", first, answers(create(spec).fit(build(rows, titles))), 0.0)
    finally:
        threads.set_threads(before)
    yield from _differences("order of rows", first, answers(create(spec).fit(build(rows, titles, 5))), 1e-4)


def unexpected(name: str, graph: str, found: list[str]) -> list[str]:
    """Return the problems that are not the refusal of `REFUSED`; a model that does not refuse is one."""
    if name not in REFUSED.get(graph, ()):
        return found
    return [] if [one.partition(":")[0] for one in found] == [_REFUSED] else [f"not refused: {found}"]


def _differences(what: str, first: list[Any], second: list[Any], tolerance: float) -> Iterator[str]:
    """Differences of scores; documents of (nearly) the same score may change places."""
    for (name, ours), (_, theirs) in zip(first, second, strict=True):
        a, b = (np.array([score for _, score in hits]) for hits in (ours, theirs))
        if len(a) != len(b) or not np.allclose(a, b, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True):
            yield f"{name}: depends on the {what}: {a[:5]} and {b[:5]}"
            return
        if tolerance == 0 and [doc for doc, _ in ours] != [doc for doc, _ in theirs]:
            yield f"{name}: the ranking depends on the {what}"
            return


def main() -> int:
    """Try models on all graphs, print what is wrong and what takes long."""
    parser = argparse.ArgumentParser(description="Try models on extreme graphs.")
    parser.add_argument("models", nargs="*", default=model_names(), help="names; default: all")
    parser.add_argument("--size", type=int, default=1_000_000, help="documents of a query, and the reverse")
    parser.add_argument("--graphs", nargs="*", help="names of graphs; default: all")
    parser.add_argument("--seconds", type=float, default=300, help="processor time that training may take")
    options = parser.parse_args()
    failed = 0
    for name in options.models:
        for graph, (rows, titles) in graphs(options.size).items():
            if options.graphs and graph not in options.graphs:
                continue
            began = time.process_time()
            try:
                found = unexpected(name, graph, list(problems(small(name), rows, titles)))
            except CoclickError as error:
                found = [f"not a mistake of the user: {error}"]
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            seconds = time.process_time() - began
            if seconds > 3 * options.seconds:
                found.append(f"takes {seconds:.0f} s of processor time")
            for problem in found:
                print(f"{name}, {graph}: {problem}", flush=True)
            failed += bool(found)
        print(f"{name}: done", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
