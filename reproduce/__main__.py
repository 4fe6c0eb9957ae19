"""Run the papers' experiments, compare the orders, and write docs/reproduction.md."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from reproduce import logs
from reproduce.experiments import experiments
from reproduce.findings import Finding, evaluate_expectation
from reproduce.page import measured_text, page, remark_text, verdict_text
from reproduce.papers import PAPERS, VPCG

PAGE = Path(__file__).resolve().parents[1] / "docs" / "background" / "reproduction.md"


def main() -> None:
    """`python -m reproduce`."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("--queries", type=int, default=logs.QUERIES, help="size of the simulated log")
    parser.add_argument("--docs", type=int, default=logs.DOCS, help="size of the simulated log")
    parser.add_argument("--seed", type=int, default=logs.SEED, help="random seed of the simulated log")
    parser.add_argument(
        "--data", type=Path, default=logs.DATA, help="development data: the directory with nfcorpus/"
    )
    parser.add_argument("-o", "--out", type=Path, default=PAGE, help="page to write")
    args = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        found = [(log, [*run(log)]) for log in available(Path(directory), args)]
        args.out.write_text(page(found), encoding="utf-8")
    print(f"\ndone in {time.perf_counter() - started:.0f} seconds; wrote {args.out.name}")


def available(work: Path, args: argparse.Namespace) -> Iterator[logs.Log]:
    """Yield the simulated log, and NFCorpus if it is available."""
    yield logs.simulated(work, args.queries, args.docs, args.seed)
    if (args.data / "nfcorpus").is_dir():
        yield logs.nfcorpus(args.data / "nfcorpus")
    else:
        print("\nskipped NFCorpus: the development data was not found")


def run(log: logs.Log) -> Iterator[Finding]:
    """Evaluate and print every expectation on one log."""
    print(f"\n{log.name}")
    available_experiments = experiments(log, VPCG.systems["base+vpcg&vg"])
    for paper in PAPERS:
        for expectation in paper.expectations:
            finding = evaluate_expectation(paper, expectation, available_experiments)
            show(finding)
            yield finding


def show(finding: Finding) -> None:
    """Print a finding on the terminal."""
    expected = finding.expectation
    print(f"\n{finding.paper.citation}, {expected.table}, {expected.experiment}: {expected.order}")
    for title, text in (
        ("measured", measured_text(finding)),
        ("holds?", verdict_text(finding).replace("*", "")),
        ("remark", remark_text(finding)),
    ):
        if text:
            print(f"  {title:9}{text}", flush=True)


if __name__ == "__main__":
    main()
