"""Damage to files: flipped bits, extreme values, truncated, extended, swapped and deleted files.

A damaged artefact may be refused with a clean error, or answer as before. It may answer wrongly only where
`verify` reports the damage.
"""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coclick.errors import CoclickError
from faults import forks
from faults.artefacts import IN_FORKS, Target, ask_verify

# From harmless to the worst. "verify only": an answer is wrong, and only `verify` reports the damage.
CLASSES = (
    "unchanged",
    "clean error",
    "verify only",
    "wrong answer",
    "traceback",
    "memory",
    "hang",
    "crash",
)
ALLOWED = ("unchanged", "clean error", "verify only")
_HEADER = 128  # bytes of most arrays' headers
_EXTREME = {
    4: [2**30, 2**31 - 1, 2**32 - 1, 2**31, 0, 1, 0x7F800000, 0x7FC00000, 0x7F7FFFFF, 0x00000001],
    8: [2**30, 2**62, 2**63 - 1, 2**64 - 1, 2**63, 0, 1, 0x7FF0000000000000, 0x7FF8000000000000],
}


@dataclass(frozen=True)
class Result:
    """What came of a trial."""

    kind: str
    target: str
    what: str  # the damage
    file: str
    question: str
    detail: str
    seed: int


def copy(source: Path, path: Path) -> None:
    """Copy an artefact with hard links: damage replaces files, it never writes into them."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(source, path, copy_function=os.link)


def replace(path: Path, content: bytes) -> None:
    """Replace a file that may be a hard link."""
    path.unlink()
    path.write_bytes(content)


def flip(path: Path, chance: random.Random) -> None:
    """Flip one to eight bits, anywhere."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 2, 8))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    replace(path, bytes(content))


def extreme(path: Path, chance: random.Random) -> None:
    """Set numbers to extreme values: the last, the first, one in the middle, or all from one on."""
    content = bytearray(path.read_bytes())
    width = chance.choice((4, 8))
    begin = min(_HEADER, len(content)) if path.suffix == ".npy" else 0
    places = range(begin, len(content) - width + 1, width)
    if not places:
        return flip(path, chance)
    first = chance.choice((places[0], places[-1], chance.choice(places)))
    value = chance.choice(_EXTREME[width]).to_bytes(width, "little")
    last = chance.choice((first, first, first, places[-1]))
    for place in range(first, last + 1, width):
        content[place : place + width] = value
    return replace(path, bytes(content))


def noise(path: Path, chance: random.Random) -> None:
    """Replace the content behind the header by random bytes."""
    content = path.read_bytes()
    begin = min(_HEADER, len(content)) if path.suffix == ".npy" else 0
    replace(path, content[:begin] + chance.randbytes(len(content) - begin))


def truncate(path: Path, chance: random.Random) -> None:
    """Cut off the end, or everything."""
    content = path.read_bytes()
    replace(path, content[: chance.choice((0, len(content) - 1, chance.randrange(len(content))))])


def extend(path: Path, chance: random.Random) -> None:
    """Append bytes."""
    replace(path, path.read_bytes() + chance.randbytes(chance.choice((1, 8, 4096))))


def swap(path: Path, chance: random.Random) -> None:
    """Exchange the content of two files, of the same size if there are such."""
    others = [other for other in sorted(path.parent.iterdir()) if other != path and other.is_file()]
    same = [other for other in others if other.stat().st_size == path.stat().st_size]
    other = chance.choice(same if same and chance.random() < 0.8 else others)
    mine, yours = path.read_bytes(), other.read_bytes()
    replace(path, yours)
    replace(other, mine)


def delete(path: Path, chance: random.Random) -> None:
    """Delete the file."""
    path.unlink()


Damage = Callable[[Path, random.Random], None]
DAMAGES: dict[str, Damage] = {
    damage.__name__: damage for damage in (flip, extreme, noise, truncate, extend, swap, delete)
}
_WEIGHTS = (4, 6, 2, 1, 1, 3, 1)  # those that sizes reveal are found at once


def ask_all(target: Target, path: Path, report: forks.Report) -> None:
    """Ask every question and report (question, kind, answer), at last what `verify` says."""
    opened: list[Any] = []

    def open_it() -> bool:
        opened.append(target.open(path))
        return True

    def ask(name: str, question: Callable[[], Any]) -> None:
        report((name, "asked", None))
        report((name, *_answer(question)))

    ask("open", open_it)
    for name, question in target.questions.items():
        if opened or name == "info":
            ask(name, lambda question=question: question(opened[0] if opened else None, path))  # type: ignore[misc]
    ask("verify", lambda: ask_verify(path))


def _answer(question: Callable[[], Any]) -> tuple[str, Any]:
    try:
        return "answer", repr(question())
    except CoclickError as error:
        return "error", str(error)
    except MemoryError:
        return "memory", traceback.format_exc()
    except Exception:
        return "traceback", traceback.format_exc()


def classify(expected: dict[str, Any], end: forks.End) -> tuple[str, str, str]:
    """Return the worst class of a trial, the question, and its detail."""
    found = {name: (kind, value) for name, kind, value in end.reports if kind != "asked"}
    asked = end.reports[-1][0] if end.reports else "open"
    if end.kind != "done":
        return "crash" if end.kind in ("crash", "killed") else end.kind, asked, end.detail
    kind, reported = found["verify"]
    detected = kind == "error" or reported != "[]"
    worst = ("unchanged", "", "")
    for name, (kind, value) in found.items():
        if kind in ("traceback", "memory"):
            now = kind
        elif name == "verify" or (kind, value) == expected[name]:
            continue
        elif kind == "error" or _refused(value):
            now = "clean error"
        else:
            now = "verify only" if detected else "wrong answer"
        if CLASSES.index(now) > CLASSES.index(worst[0]):
            worst = now, name, str(value)
    return worst


def _refused(value: str) -> bool:
    """Whether a command (`info`) exited with an error."""
    return value.startswith(("(2,", "(3,")) or value in ("2", "3")


def baseline(target: Target, path: Path) -> dict[str, Any]:
    """The answers of an artefact that is not damaged."""
    copy(target.path, path)
    # In this process too, so that forks find everything compiled.
    questions = {name: one for name, one in target.questions.items() if name not in IN_FORKS}
    ask_all(dataclasses.replace(target, questions=questions), path, lambda report: None)
    end = forks.run(lambda report: ask_all(target, path, report), memory=None)
    answers = {name: (kind, value) for name, kind, value in end.reports if kind != "asked"}
    if answers.get("verify") != ("answer", "[]"):
        raise RuntimeError(f"{target.name} is not sound: {answers.get('verify')} {end.kind} {end.detail}")
    for name, (kind, value) in answers.items():
        if kind in ("traceback", "memory"):
            raise RuntimeError(f"{target.name} does not answer {name}: {value}")
    return answers


def trials(targets: list[Target], folder: Path, n_trials: int, seed: int) -> Iterator[Result]:
    """Damage a file of an artefact and ask, as often as asked for; every file in turn."""
    expected: dict[str, dict[str, Any]] = {}
    path = folder / "damaged"
    for number in range(seed, seed + n_trials):
        chance = random.Random(number)
        target = targets[number % len(targets)]
        if target.name not in expected:
            expected[target.name] = baseline(target, path)
        copy(target.path, path)
        files = sorted(file for file in path.rglob("*") if file.is_file())
        file = files[(number // len(targets)) % len(files)]
        [name] = chance.choices(list(DAMAGES), _WEIGHTS)
        DAMAGES[name](file, chance)
        end = forks.run(lambda report, target=target: ask_all(target, path, report))  # type: ignore[misc]
        kind, question, detail = classify(expected[target.name], end)
        yield Result(kind, target.name, name, file.name.partition("-")[0], question, detail, number)
