"""State of EM between iterations, on disk. An iteration is saved completely or not at all.

Each iteration reads the files of the previous one and writes others. With a checkpoint they are synced before
`state.json`, which names the iteration, is replaced: after a crash the last complete iteration is there.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.storage.directories import write_file
from coclick.storage.temporary import temporary_directory

if TYPE_CHECKING:
    from coclick.solvers.em import Corpus

Floats = NDArray[np.float32]

_STATE = "state.json"


class EmState:
    """θ and the changes of normalisers, before and after an iteration, in a checkpoint or temporary files."""

    def __init__(self, checkpoint: Path | None, corpus: Corpus, options: dict[str, Any]) -> None:
        self.curve: list[dict] = []
        self._is_checkpoint = checkpoint is not None
        self._temporary = ExitStack()
        if checkpoint is None:
            self._path = self._temporary.enter_context(temporary_directory())
        else:
            self._path = checkpoint
            self._path.mkdir(parents=True, exist_ok=True)
            self._digest = _digest(corpus, options)
            self.curve = self._read_curve()
        self._files: dict[str, FileIO] = {}

    def __enter__(self) -> EmState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._temporary.close()

    @property
    def n_done(self) -> int:
        """The number of complete iterations."""
        return len(self.curve)

    def resume(self, shape: tuple[int, int]) -> Floats | None:
        """Return P(word|topic) after the last iteration of the checkpoint, None if training begins anew."""
        if self.n_done:
            with suppress(OSError):
                words = np.fromfile(self._name("words", 0), np.float32)
                if words.size == shape[0] * shape[1] and np.all((words >= 0) & np.isfinite(words)):
                    return words.reshape(shape)
        self.curve = []
        return None

    def begin_iteration(self) -> None:
        """Open the files that the iteration reads and writes."""
        for what in ("mixes", "changes"):
            if self.n_done:
                self._files[what] = self._name(what, 0).open("rb", buffering=0)
            name = self._name(what, 1)
            name.touch()
            self._files[f"new {what}"] = name.open(
                "r+b", buffering=0
            )  # without truncation, to reuse its disk blocks

    def read(self, what: str, at: int, values: Floats) -> None:
        """Read values of the previous iteration from offset `at`; does nothing in the first iteration."""
        if self.n_done and os.preadv(self._files[what].fileno(), [_bytes(values)], 4 * at) != values.nbytes:
            what, hint = "the checkpoint is corrupt: a file is too short", "remove this directory"
            raise UserError(what, where=str(self._path), hint=hint)

    def write(self, what: str, at: int, values: Floats) -> None:
        """Write values of this iteration from offset `at`."""
        if os.pwrite(self._files[f"new {what}"].fileno(), _bytes(values), 4 * at) != values.nbytes:
            raise UserError("the disk is full", where=str(self._path))

    def commit(self, word_probabilities: Floats, found: dict) -> None:
        """Complete the iteration, with its statistics."""
        if self._is_checkpoint:
            with self._name("words", 1).open("wb") as stream:
                stream.write(_bytes(word_probabilities))
                stream.flush()
                os.fsync(stream.fileno())
            for file in self._files.values():
                os.fsync(file.fileno())
            curve = [*self.curve, found]
            state = {"digest": self._digest_with(curve), "curve": curve}
            write_file(self._path / _STATE, [json.dumps(state, indent=1), "\n"])
        self._close()
        self.curve.append(found)

    def _read_curve(self) -> list[dict]:
        """The statistics of the complete iterations; none if the checkpoint is damaged or of other data."""
        try:
            state = json.loads((self._path / _STATE).read_text(encoding="utf-8"))
            return state["curve"] if state["digest"] == self._digest_with(state["curve"]) else []
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []

    def _digest_with(self, curve: Any) -> str:
        return hashlib.sha256(f"{self._digest} {json.dumps(curve)}".encode()).hexdigest()

    def _name(self, what: str, ahead: int) -> Path:
        """The file of the last complete iteration (ahead=0), or of the next (1)."""
        return self._path / f"{(self.n_done + ahead) % 2}-{what}"

    def _close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}


def _digest(corpus: Corpus, options: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode())
    arrays: list[NDArray[Any]] = [corpus.query_of, corpus.title_of, corpus.weights]
    for texts in corpus.queries, corpus.titles:
        if texts is not None:
            arrays += [texts.indptr, texts.indices, texts.data, np.array(texts.columns)]
    for array in arrays:
        digest.update(_bytes(np.ascontiguousarray(array)))
    return digest.hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
