"""Damage to artefacts that opening cannot see by size or name: forged arrays, types, shapes and entries.

Each kind of damage changes one array of an artefact, with a manifest that agrees with the file, so that only
the gate stands between the array and the code that works with it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Change = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any] | None]  # None: not for this array


class Case(NamedTuple):
    """One damage to one array of an artefact."""

    array: str
    kind: str


def _with_entry(place: float, value: Callable[[np.ndarray[Any, Any]], Any], kinds: str) -> Change:
    """Set one entry, at a relative place from 0 to 1."""

    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        if array.dtype.kind not in kinds or not array.size or array.dtype.itemsize < 2:
            return None
        changed = array.copy()
        new = value(array)
        if array.dtype.kind in "iu" and not 0 <= new - np.iinfo(array.dtype).min <= np.iinfo(array.dtype).max:
            new = np.iinfo(array.dtype).max if new > 0 else np.iinfo(array.dtype).min
        changed.reshape(-1)[int(place * (array.size - 1))] = new
        return changed

    return change


_OTHER = {"f4": "f8", "f8": "f4", "i4": "i8", "i8": "i4", "u1": "i4", "u2": "i4", "u4": "i8", "i2": "i4"}

CONTENT: dict[str, Change] = {
    "last is 2^30": _with_entry(1, lambda array: 2**30, "i"),
    "first is 2^30": _with_entry(0, lambda array: 2**30, "i"),
    "last is negative": _with_entry(1, lambda array: -1, "i"),
    "middle is negative": _with_entry(0.5, lambda array: -(2**30), "i"),
    "not ascending": _with_entry(0.5, lambda array: int(array.max()) + 1, "i"),
    "last beyond the end": _with_entry(1, lambda array: int(array.reshape(-1)[-1]) + 7, "i"),
    "NaN": _with_entry(0, lambda array: math.nan, "f"),
    "infinite": _with_entry(1, lambda array: math.inf, "f"),
}
FORM: dict[str, Change] = {
    "another type": lambda array: array.astype(_OTHER[array.dtype.str[1:]]),
    "two dimensions": lambda array: array.reshape(*array.shape, 1),
    "no dimensions": lambda array: array.reshape(-1)[:1].reshape(()) if array.size else None,
    "one entry less": lambda array: array[:-1] if len(array) else None,
    "one entry more": lambda array: np.concatenate([array, array[-1:]]) if len(array) else None,
    "empty": lambda array: array[:0] if len(array) else None,
}
OTHER = ("missing", "truncated", "swapped")
KINDS = (*CONTENT, *FORM, *OTHER)


class Damaged:
    """An artefact whose files are changed, one case at a time, and restored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = json.loads((path / "manifest.json").read_text())
        self._touched: dict[Path, bytes | None] = {}

    def cases(self, stride: int = 1, offset: int = 0) -> Iterator[Case]:
        """All cases, or every `stride`-th; which ones depends on `offset`."""
        arrays = [name for name, entry in self.manifest["files"].items() if "dtype" in entry]
        every = [Case(array, kind) for array in arrays for kind in KINDS]
        yield from every[offset % stride :: stride]

    def apply(self, case: Case) -> bool:
        """Damage the artefact; return False if the case does not exist for this array."""
        manifest = json.loads(json.dumps(self.manifest))
        files = manifest["files"]
        entry = files[case.array]
        path = self.path / entry["file"]
        if case.kind == "missing":
            del files[case.array]
        elif case.kind == "truncated":
            if not math.prod(entry["shape"]):
                return False
            self._write(path, path.read_bytes()[:-1])
        elif case.kind == "swapped":
            alike = [name for name, other in files.items() if other.get("dtype") == entry["dtype"]]
            other = alike[(alike.index(case.array) + 1) % len(alike)]
            if other == case.array:
                return False
            files[case.array], files[other] = files[other], entry
        else:
            array = np.load(path)
            changed = (CONTENT | FORM)[case.kind](array)
            if changed is None or (changed.dtype == array.dtype and np.array_equal(changed, array)):
                return False
            self._store(path, entry, changed)
        self._write(self.path / "manifest.json", json.dumps(manifest).encode())
        return True

    def restore(self) -> None:
        """Undo the damage."""
        for path, content in self._touched.items():
            path.unlink()
            if content is not None:
                path.write_bytes(content)
        self._touched.clear()

    def _store(self, path: Path, entry: dict[str, Any], array: np.ndarray[Any, Any]) -> None:
        """Write an array as coclick does, and describe it in its entry."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        text = repr({"descr": array.dtype.str, "fortran_order": False, "shape": array.shape})
        length = -(-(10 + len(text) + 1) // 64) * 64
        head = text.ljust(length - 11) + "\n"
        header = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("latin1")
        content = header + array.tobytes()
        entry |= {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": len(content),
            "digest": hashlib.sha256(array.tobytes()).hexdigest(),
        }
        self._write(path, content)

    def _write(self, path: Path, content: bytes) -> None:
        """Replace a file, which may be a hard link, by a new one."""
        self._touched.setdefault(path, path.read_bytes() if path.exists() else None)
        path.unlink(missing_ok=True)
        path.write_bytes(content)
