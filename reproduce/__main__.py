"""Run the papers' experiments, store the results, and write docs/reproduction.md from them."""

from __future__ import annotations

import argparse
from pathlib import Path

from reproduce import results
from reproduce.logs import SOURCES
from reproduce.page import write_page
from reproduce.papers import PAPERS
from reproduce.run import run, tell

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".reproduce"


def main() -> None:
    """`python -m reproduce`."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PAPERS, default=list(PAPERS), help="papers to measure")
    parser.add_argument("--log", nargs="+", choices=SOURCES, default=list(SOURCES), help="logs to use")
    parser.add_argument("--quick", action="store_true", help="small logs: all parts run, in about 5 minutes")
    parser.add_argument("--page", action="store_true", help="only write the page from the stored results")
    parser.add_argument(
        "--processes", type=int, default=2, help="processes, each with one thread and up to 6 GB"
    )
    parser.add_argument("--work", type=Path, default=WORK, help="logs and scores, kept to go on later")
    parser.add_argument("--results", type=Path, help="stored results (default: reproduce/results)")
    parser.add_argument("-o", "--out", type=Path, help="page to write (default: docs/reproduction.md)")
    args = parser.parse_args()
    stored = args.results or (args.work / "quick-results" if args.quick else results.RESULTS)
    page = args.out or (args.work / "quick.md" if args.quick else ROOT / "docs" / "reproduction.md")
    if not args.page:
        papers = [PAPERS[key] for key in args.only]
        sources = [SOURCES[name] for name in args.log]
        facts = run(papers, sources, args.work, stored, quick=args.quick, processes=args.processes)
        if len(papers) == len(PAPERS) and len(sources) == len(SOURCES):
            results.write_run(stored, facts)
    write_page(results.read(stored), results.read_run(stored), results.read_notes(stored), page)
    tell(f"wrote {page}")


if __name__ == "__main__":
    main()
