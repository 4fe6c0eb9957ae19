"""docs/tutorial.md, run as it stands: every command succeeds and prints what the page shows."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs/tutorial.md"
TOLERANCE = 0.002  # of shown numbers: sums of float32 may be rounded otherwise on another machine
LEFT_OUT = "…"
BARS = re.compile("[▏▎▍▌▋▊▉█]+")
SECONDS = re.compile(r"\d+\.\d s$")


PROGRESS = re.compile(r"[\w ]+(?:: [\d,]+(?: of [\d,]+)?)? \(\d+ s\)")  # of a slow step


class Step(NamedTuple):
    line: int
    command: list[str] | str  # a program, or a line for the shell
    shown: list[str]


def steps() -> list[Step]:
    """Commands of `console` blocks with what they show; `python` blocks, shown by the next `text` block."""
    found = []
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", TUTORIAL.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        kind, content = block.groups()
        line = block.string.count("\n", 0, block.start()) + 1
        if kind == "python":
            found.append(Step(line, [sys.executable, "-c", content], []))
        elif kind == "text":
            found[-1].shown.extend(content.splitlines())
        else:
            assert kind == "console", f"line {line}: nothing runs a block of {kind}"
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                lines = part.splitlines()
                end = next((i for i in range(1, len(lines)) if not lines[i].startswith("> ")), len(lines))
                command = "\n".join([lines[0], *(more[2:] for more in lines[1:end])])
                found.append(Step(line, command, lines[end:]))
    return found


@pytest.mark.slow
def test_the_tutorial_is_true(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    for step in steps():
        done = subprocess.run(
            step.command,
            shell=isinstance(step.command, str),
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        told = f"docs/tutorial.md, block at line {step.line}:\n{step.command}\n{done.stdout}"
        assert done.returncode == 0, told
        missing = first_missing(step.shown, done.stdout.splitlines())
        assert missing is None, f"{told}\nis shown, but was not printed:\n{missing}"


def first_missing(shown: list[str], printed: list[str]) -> str | None:
    """The first shown line that was not printed in its place. Only `…` stands for lines that are left out."""
    rest = [line for line in printed if line.strip() and not PROGRESS.fullmatch(line)]
    wanted = [line for line in shown if line.strip()]
    anywhere = False
    for line in wanted:
        if line.strip() == LEFT_OUT:
            anywhere = True
            continue
        place = next((i for i, found in enumerate(rest) if same(line, found)), None)
        if place is None or (place > 0 and not anywhere):
            return line
        rest, anywhere = rest[place + 1 :], False
    return None if anywhere or not rest or not wanted else f"(the end; then came) {rest[0]}"


def same(shown: str, printed: str) -> bool:
    """Equal but for bars, times, white space and the last digits of numbers."""
    ours, theirs = (
        SECONDS.sub("", BARS.sub("", line.strip())).replace("–", " – ").split() for line in (shown, printed)
    )
    return len(ours) == len(theirs) and all(map(same_word, ours, theirs))


def same_word(shown: str, printed: str) -> bool:
    if shown == printed:
        return True
    try:
        ours, theirs = (float(word.rstrip("%:").replace(",", "")) for word in (shown, printed))
    except ValueError:
        return False
    tolerance = 100 * TOLERANCE if shown.endswith("%") else TOLERANCE
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=tolerance)


def test_what_is_compared():
    """The comparison itself: what it forgives and what it does not."""
    printed = ["a  0.5000 ███▌  1.2 s", "", "b 12 │ x", "c 3,000", "d"]
    assert first_missing(["a 0.5004 ██ 0.3 s", "b 12 │ x", "…", "d"], printed) is None
    assert first_missing(["…", "c 3,000", "d"], printed) is None
    assert first_missing(["a 0.6 ██ 0.3 s", "…"], printed) == "a 0.6 ██ 0.3 s"
    assert first_missing(["a 0.5 1.2 s", "c 3,000", "…"], printed) == "c 3,000"
    assert first_missing(["…", "b 13 │ x", "…"], printed) == "b 13 │ x"
    assert first_missing(["a 0.5 1.2 s", "b 12 │ x"], printed) == "(the end; then came) c 3,000"
