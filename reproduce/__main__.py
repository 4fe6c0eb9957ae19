"""Run the papers' tables, print each expected order with what was measured, write docs/reproduction.md."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from reproduce import logs
from reproduce.experiments import experiments
from reproduce.findings import Finding, find_out
from reproduce.page import measured_text, page, remark_text, verdict_text
from reproduce.papers import PAPERS, VPCG

PAGE = Path(__file__).resolve().parents[1] / "docs" / "background" / "reproduction.md"


def main() -> None:
    """`python -m reproduce`."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("--queries", type=int, default=logs.QUERIES, help="of the simulated log")
    parser.add_argument("--docs", type=int, default=logs.DOCS, help="of the simulated log")
    parser.add_argument("--seed", type=int, default=logs.SEED, help="of the simulated log")
    parser.add_argument(
        "--data", type=Path, default=logs.BESIDE, help="the development data, with nfcorpus/ in it"
    )
    parser.add_argument("-o", "--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        found = [(log, [*run(log)]) for log in available(Path(directory), chosen)]
        chosen.out.write_text(page(found), encoding="utf-8")
    print(f"\nall in {time.perf_counter() - started:.0f} seconds; the page is {chosen.out.name}")


def available(work: Path, chosen: argparse.Namespace) -> Iterator[logs.Log]:
    """The simulated log, and what else there is."""
    yield logs.simulated(work, chosen.queries, chosen.docs, chosen.seed)
    if (chosen.data / "nfcorpus").is_dir():
        yield logs.nfcorpus(chosen.data / "nfcorpus")
    else:
        print("\nNFCorpus is left out: the development data is not beside this repository")


def run(log: logs.Log) -> Iterator[Finding]:
    """Every expectation on one log, printed as it is found out."""
    print(f"\n{log.name}")
    ways = experiments(log, VPCG.systems["base+vpcg&vg"])
    for paper in PAPERS:
        for expectation in paper.expectations:
            finding = find_out(paper, expectation, ways)
            show(finding)
            yield finding


def show(finding: Finding) -> None:
    """A few lines on the terminal."""
    expected = finding.expectation
    print(f"\n{finding.paper.number} {expected.table}, {expected.experiment}: {expected.order}")
    for title, text in (
        ("measured", measured_text(finding)),
        ("holds?", verdict_text(finding).replace("*", "")),
        ("remark", remark_text(finding)),
    ):
        if text:
            print(f"  {title:9}{text}", flush=True)


if __name__ == "__main__":
    main()
