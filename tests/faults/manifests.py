"""Hostile artefacts: manifests with any value anywhere, and files that are not files.

A manifest is changed in one to three places: another type, a huge number, deep nesting, a path that leads out
of the artefact, a key that is missing or new. The directory gets pipes, devices, links and directories
instead of files. Nothing may crash, hang, need much memory, show a traceback or read outside of the artefact.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from faults import damage, forks
from faults.artefacts import Target
from faults.damage import Result, ask_all, baseline, classify, copy, replace

CLASSES = damage.CLASSES
ALLOWED = (*damage.ALLOWED, "wrong answer")  # who writes a manifest decides what it says; see `_forged`
SECRET = "this text is outside of the artefact"
_DEEP = 100_000
_MEMORY = 512 << 20


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def values(chance: random.Random) -> Any:
    """A value that does not belong there."""
    return chance.choice(
        [
            lambda: None,
            lambda: chance.random() < 0.5,
            lambda: chance.choice((-1, 0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400)),
            lambda: chance.choice((0.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), 1e-320)),
            lambda: chance.choice(
                ("", "x", "model", "graph", "../../secret", "/etc/passwd", "a\x00b", "\ud800")
            ),
            lambda: chance.choice(("<f8", "|O", "|V100000", "<U1000000", ">i4", "S1", "\x1b[2J\u202e")),
            lambda: "x" * chance.choice((300, 100_000)),
            list,
            dict,
            lambda: [1] * chance.choice((3, 100_000)),
            lambda: {str(i): i for i in range(chance.choice((3, 10_000)))},
            lambda: _nested(chance.choice((3, 900))),
        ]
    )()


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a tree."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(pairs):
        yield value, key
        yield from places(part)


def edit(manifest: dict[str, Any], chance: random.Random) -> str:
    """Change one place of a manifest; return what was done."""
    container, key = _place(manifest, chance)
    how = chance.choice(("value", "value", "value", "number", "delete", "rename", "add", "move"))
    old = container[key]
    if how == "number" and isinstance(old, int | float) and not isinstance(old, bool):
        container[key] = chance.choice((old + 1, old - 1, -old, old * 2, old * 10**9, float(old), str(old)))
    elif how == "delete":
        del container[key]
    elif how == "rename" and isinstance(container, dict):
        container[f"{key}x"] = container.pop(key)
    elif how == "add" and isinstance(container, dict):
        container[chance.choice(("x", "parts_", "type", "../x", "__class__", ""))] = values(chance)
    elif how == "move":  # another part of the manifest, which is valid elsewhere
        other, place = _place(manifest, chance)
        container[key] = json.loads(json.dumps(other[place]))
    else:
        container[key] = values(chance)
    return f"{how} {key}"


def _place(manifest: dict[str, Any], chance: random.Random) -> tuple[Any, Any]:
    """A place, with every level of the tree equally likely: there are many files, and few other keys."""
    value: Any = manifest
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.choice(keys)
        part = value[key]
        if not isinstance(part, dict | list) or not part or chance.random() < 0.15:
            return value, key
        value = part


def edited(path: Path, chance: random.Random) -> str:
    """Change a manifest in one to three places."""
    file = path / "manifest.json"
    manifest = json.loads(file.read_text())
    done = [edit(manifest, chance) for _ in range(chance.choice((1, 1, 2, 3))) if manifest]
    replace(file, json.dumps(manifest).encode("utf-8", "surrogatepass"))
    return ", ".join(done)


def text(path: Path, chance: random.Random) -> str:
    """Replace the manifest by text that is no manifest, or hardly JSON."""
    file = path / "manifest.json"
    content = file.read_bytes()
    name, new = chance.choice(
        [
            ("deep", b"[" * _DEEP),
            ("deep object", b'{"a":' * _DEEP),
            (
                "deep in a manifest",
                content.replace(b'"files"', b'"x": ' + b"[" * 5000 + b"]" * 5000 + b', "files"', 1),
            ),
            ("empty", b""),
            ("BOM", b"\xef\xbb\xbf" + content),
            ("UTF-16", content.decode().encode("utf-16")),
            ("not UTF-8", content.replace(b'"kind"', b'"ki\xff\xfe"', 1)),
            ("key twice", content.replace(b'"kind"', b'"kind": "x", "kind"', 1)),
            ("long number", content.replace(b'"format": ', b'"format": ' + b"9" * 100_000, 1)),
            ("NaN", content.replace(b'"format": 2', b'"format": NaN', 1)),
            ("million empty lists", b'{"a": [' + b"[]," * 1_000_000 + b"[]]}"),
            ("only a number", b"1"),
        ]
    )
    replace(file, new)
    return name


def special(path: Path, chance: random.Random) -> str:
    """Put something that is not a plain file in the place of one."""
    files = sorted(file for file in path.iterdir() if file.is_file())
    file = path / "manifest.json" if chance.random() < 0.4 else chance.choice(files)
    size, content = file.stat().st_size, file.read_bytes()
    how = chance.choice(("pipe", "/dev/zero", "/dev/stdin", "link", "link out", "loop", "directory", "huge"))
    file.unlink()
    if how == "pipe":
        os.mkfifo(file)
    elif how.startswith("/dev"):
        file.symlink_to(how)
    elif how == "loop":
        file.symlink_to(file.name)
    elif how == "directory":
        file.mkdir()
    elif how == "huge":  # sparse: it takes no space on the disk
        with file.open("wb") as stream:
            stream.truncate(3 << 29)
    else:  # the same content, and a secret, outside of the artefact
        other = path.parent / "outside"
        other.write_bytes(content if how == "link" else (SECRET * (size // len(SECRET) + 1)).encode()[:size])
        file.symlink_to(other)
    return f"{how} for {file.name.partition('-')[0]}"


def directory(path: Path, chance: random.Random) -> str:
    """The artefact itself is a link to another directory, or a directory in it is one."""
    file = sorted(path.iterdir())[0]
    inside = path / "elsewhere"
    shutil.rmtree(path.parent / "elsewhere", ignore_errors=True)
    (path.parent / "elsewhere").mkdir()
    inside.symlink_to(path.parent / "elsewhere")
    shutil.copy(file, inside / f"part-0-{file.name}")
    manifest = json.loads((path / "manifest.json").read_text())
    name, entry = chance.choice(list(manifest["files"].items()))
    entry["file"] = f"elsewhere/part-0-{file.name}"
    replace(path / "manifest.json", json.dumps(manifest).encode())
    return f"{name} in a directory that is a link"


HOSTILE: dict[str, Callable[[Path, random.Random], str]] = {
    "edited": edited,
    "text": text,
    "special": special,
    "directory": directory,
}
_WEIGHTS = (12, 2, 3, 1)


def trials(targets: list[Target], folder: Path, n_trials: int, seed: int) -> Iterator[Result]:
    """Change the manifest or the files of an artefact, and ask."""
    expected: dict[str, dict[str, Any]] = {}
    path = folder / "hostile" / "artefact"
    for number in range(seed, seed + n_trials):
        chance = random.Random(number)
        target = targets[number % len(targets)]
        if target.name not in expected:
            path.parent.mkdir(exist_ok=True)
            expected[target.name] = baseline(target, path)
        copy(target.path, path)
        [name] = chance.choices(list(HOSTILE), _WEIGHTS)
        what = HOSTILE[name](path, chance)
        work = forks.start(lambda report, target=target: ask_all(target, path, report), memory=_MEMORY)  # type: ignore[misc]
        end = work.wait()
        kind, question, detail = classify(expected[target.name], end)
        if any(SECRET in str(report) for report in end.reports):
            kind, detail = "crash", "the text of a file outside of the artefact was shown"
        yield Result(kind, target.name, name, what, question, detail, number)
