"""Print code that nothing uses, by vulture, and the coverage of each room, by coverage.py.

    python tests/health.py [ARGUMENT OF PYTEST…]     # without arguments: the quick tests

Compiled code counts as not covered: coverage.py cannot look into it. Code that only Spark, browsers or long
tests run counts so, too, unless the arguments select them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "coclick"
QUICK = ["-m", "not spark and not browser and not slow"]
# Called by frameworks, by decorators' registries, or through their names.
DECORATORS = (
    "@app.*,@*.command,@*.callback,@router.*,@*.get,@*.post,@register,@*.middleware,@overload*,@intrinsic"
)
MIN_CONFIDENCE = 60  # of vulture: a name that occurs nowhere else


def unused_code() -> str:
    """Return vulture's lines: names of the package that neither it nor tests, benchmarks and docs use."""
    users = [PACKAGE, *(ROOT / name for name in ("tests", "benchmarks", "reproduce", "docs"))]
    command = [sys.executable, "-m", "vulture", *map(str, users), "--ignore-decorators", DECORATORS]
    done = subprocess.run(
        [*command, "--min-confidence", str(MIN_CONFIDENCE)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith("src/"))


def by_room(files: dict[str, dict[str, dict[str, int]]]) -> list[tuple[str, int, int]]:
    """Return (room, covered lines, lines) from the files of a JSON report of coverage.py."""
    covered, lines = Counter[str](), Counter[str]()
    for name, report in files.items():
        inside = Path(name).parts[Path(name).parts.index("coclick") + 1 :]
        room = inside[0] if len(inside) > 1 else inside[0].removesuffix(".py")
        covered[room] += report["summary"]["covered_lines"]
        lines[room] += report["summary"]["num_statements"]
    return [(room, covered[room], lines[room]) for room in sorted(lines)]


def coverage(arguments: list[str]) -> tuple[list[tuple[str, int, int]], int]:
    """Run pytest under coverage.py; return the lines of each room, and pytest's exit code."""
    with tempfile.TemporaryDirectory() as place:
        tool = [sys.executable, "-m", "coverage"]
        data = f"--data-file={place}/data"
        tests = ["-m", "pytest", "--numprocesses=0", *arguments]
        ran = subprocess.run([*tool, "run", data, f"--source={PACKAGE}", *tests], cwd=ROOT)
        report = f"{place}/report.json"
        subprocess.run([*tool, "json", "--quiet", data, "-o", report], check=True, cwd=ROOT)
        return by_room(json.loads(Path(report).read_text())["files"]), ran.returncode


def main() -> int:
    """Print both; the exit code is that of the tests."""
    print(unused_code() or "no unused code", flush=True)
    rooms, code = coverage(sys.argv[1:] or QUICK)
    print(f"{'room':<16}{'lines':>8}{'covered':>9}")
    for room, covered, lines in rooms:
        print(f"{room:<16}{lines:>8}{covered / max(lines, 1):>9.0%}")
    return code


if __name__ == "__main__":
    sys.exit(main())
