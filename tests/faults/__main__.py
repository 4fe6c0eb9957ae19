"""Try faults on everything that is stored or written, and count what came of them.

    make faults                                     # the long form, hours
    make faults ARGS="--short"                      # few trials; `make test` runs nine of `damage`
    make faults ARGS="damage --trials 500 --seed 7"

A trial depends on its seed: a failure is printed with the seed that repeats it (`--trials 1 --seed S`,
and `--short` if it was given).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a pool of OpenMP does not survive a fork
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from faults import artefacts, damage, kill, manifests, places, together
from faults.damage import Result

# Modules, with the number of trials in the long and in the short form.
KINDS = {
    "kill": (kill, 1000, 25),
    "damage": (damage, 10_000, 120),
    "manifests": (manifests, 2000, 60),
    "places": (places, 500, 27),
    "together": (together, 20, 1),
}
_SHOW_EVERY = 60  # seconds


def main() -> int:
    """Run the trials, print counts and failures."""
    parser = argparse.ArgumentParser(prog="make faults", description="Try faults, count what came of them.")
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--trials", type=int, help="number of trials of each kind")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first trial")
    parser.add_argument("--short", action="store_true", help="few trials, on one model of each family")
    parser.add_argument("--json", type=Path, help="write the failures to this file")
    options = parser.parse_args()
    if unknown := [kind for kind in options.kinds if kind not in KINDS]:
        parser.error(f"no such kind of fault: {unknown[0]}")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        return run(options, Path(folder))


def run(options: argparse.Namespace, folder: Path) -> int:
    """Make the artefacts, run all kinds, and return the exit code: 1 if something is not allowed."""
    began = time.monotonic()
    targets = artefacts.make(folder, options.short)
    print(f"made {len(targets)} artefacts in {time.monotonic() - began:.0f} s", flush=True)
    failed: list[Result] = []
    for kind in options.kinds:
        module, long, short = KINDS[kind]
        count = options.trials or (short if options.short else long)
        began = shown = time.monotonic()
        results: list[Result] = []
        for result in module.trials(targets, folder, count, options.seed):
            results.append(result)
            if result.kind not in module.ALLOWED:  # at once: a long run may be stopped
                print(_failures([result]), flush=True)
            if time.monotonic() - shown > _SHOW_EVERY:
                shown = time.monotonic()
                print(f"{kind}: {len(results):,} of {count:,}: {_counts(module, results)}", flush=True)
        seconds = time.monotonic() - began
        print(f"{kind}: {count:,} trials in {seconds:.0f} s: {_counts(module, results)}", flush=True)
        bad = [result for result in results if result.kind not in module.ALLOWED]
        print(_failures(bad), flush=True)
        failed += bad
        if options.json:
            options.json.write_text(json.dumps([vars(one) for one in failed], indent=1))
    return int(bool(failed))


def _counts(module: object, results: list[Result]) -> str:
    found = Counter(result.kind for result in results)
    classes: tuple[str, ...] = module.CLASSES  # type: ignore[attr-defined]
    return ", ".join(f"{found[kind]:,} {kind}" for kind in classes)


def _failures(results: list[Result]) -> str:
    """The failures, those of one place together, each with a seed that repeats it."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        groups.setdefault((result.kind, result.question, _place(result.detail)), []).append(result)
    lines = []
    for (kind, question, place), found in sorted(groups.items(), key=lambda group: -len(group[1])):
        first = found[0]
        lines.append(f"  {len(found):4} × {kind}{f' in {question}' if question else ''}: {place}")
        lines.append(f"         seed {first.seed}: {first.target}, {first.what} {first.file}")
    return "\n".join(lines)


def _place(detail: str) -> str:
    """The innermost line of ours in a traceback, and its message."""
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    ours = [line for line in lines if "coclick/" in line and ".py" in line and " line " in line]
    if "most recent call first" in detail:  # a crash
        return f"{lines[0]} {ours[0].rpartition('coclick/')[2] if ours else ''}"
    place = ours[-1].rpartition("coclick/")[2] if ours else ""
    return f"{place} {lines[-1][:150] if lines else ''}".strip()


if __name__ == "__main__":
    sys.exit(main())
