"""Run the benchmarks and print one table: ours, theirs and ratio (above 1 where we are better).

Each module of this package has `rows(shape, threads)`, which first checks that both sides computed the
same result and reports this in `check`. Times depend on the machine; compare the ratios of one run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
from pathlib import Path

import benchmarks


def main() -> None:
    names = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=names, action="append", help="run one benchmark; may be repeated")
    parser.add_argument("--shape", choices=["S", "M", "L"], default="S", help="the size of the graph")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path, help="also write the rows to this JSON file")
    args = parser.parse_args()
    rows = []
    for name in args.only or names:
        print(f"{name} at {args.shape} …", file=sys.stderr, flush=True)
        rows += importlib.import_module(f"benchmarks.{name}").rows(args.shape, args.threads)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    show(rows)


def show(rows: list[dict]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(header_style="bold", box=None, pad_edge=False)
    columns = ["name", "shape", "params", "threads", "peer", "ours", "theirs", "ratio", "unit", "check"]
    for column in columns:
        numeric = column in ("threads", "ours", "theirs", "ratio")
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        cells = [row[column] for column in columns]
        table.add_row(*[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells])
    Console(width=None if sys.stdout.isatty() else 200).print(table)


if __name__ == "__main__":
    main()
