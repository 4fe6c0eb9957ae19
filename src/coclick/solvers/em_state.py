"""What expectation maximisation keeps between rounds, on disk: a round is there as a whole or not at all.

Each round reads the files of the round before and writes others. With a checkpoint they are synced, and only
then `state.json` is replaced, which names the round. After a crash at any moment the last whole round is
there.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.storage.directories import write_file

if TYPE_CHECKING:
    from coclick.solvers.em import Corpus

Floats = NDArray[np.float32]

_STATE = "state.json"


class State:
    """θ and changes of normalisers, before and after a round, in a checkpoint or in temporary files."""

    def __init__(self, checkpoint: Path | None, corpus: Corpus, options: dict[str, Any]) -> None:
        self.curve: list[dict] = []
        self._keeps = checkpoint is not None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if checkpoint is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="coclick-topics-")
            self._path = Path(self._temporary.name)
        else:
            self._path = checkpoint
            self._path.mkdir(parents=True, exist_ok=True)
            self._digest = _digest(corpus, options)
            if (self._path / _STATE).exists():
                self._resume()
        self._files: dict[str, FileIO] = {}

    def __enter__(self) -> State:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._temporary:
            self._temporary.cleanup()

    @property
    def rounds_done(self) -> int:
        """How many rounds are behind us."""
        return len(self.curve)

    @property
    def given(self) -> Floats:
        """P(word|topic) after the last round of the checkpoint."""
        return np.load(self._name("words.npy", 0), allow_pickle=False)

    def begin_round(self) -> None:
        """Open what the round reads and writes."""
        for what in ("mixes", "changes"):
            if self.rounds_done:
                self._files[what] = self._name(what, 0).open("rb", buffering=0)
            name = self._name(what, 1)
            name.touch()
            self._files[f"new {what}"] = name.open("r+b", buffering=0)  # its blocks on disk are used again

    def read(self, what: str, at: int, values: Floats) -> None:
        """Values from place `at` on after the round before; the first round leaves what is there."""
        if (
            self.rounds_done
            and os.preadv(self._files[what].fileno(), [_bytes(values)], 4 * at) != values.nbytes
        ):
            raise UserError("the checkpoint is damaged: a file is too short", where=str(self._path))

    def write(self, what: str, at: int, values: Floats) -> None:
        """Values from place `at` on after this round."""
        if os.pwrite(self._files[f"new {what}"].fileno(), _bytes(values), 4 * at) != values.nbytes:
            raise UserError("the disk is full", where=str(self._path))

    def commit(self, given: Floats, found: dict) -> None:
        """This round is complete."""
        if self._keeps:
            with self._name("words.npy", 1).open("wb") as stream:
                np.save(stream, given, allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
            for file in self._files.values():
                os.fsync(file.fileno())
            state = {"digest": self._digest, "curve": [*self.curve, found]}
            write_file(self._path / _STATE, [json.dumps(state, indent=1), "\n"])
        self._close()
        self.curve.append(found)

    def _resume(self) -> None:
        try:
            state = json.loads((self._path / _STATE).read_text(encoding="utf-8"))
            digest, self.curve = state["digest"], state["curve"]
        except (ValueError, KeyError, TypeError):
            digest = None
        if digest != self._digest:
            raise UserError(
                "the checkpoint is of another corpus or of other parameters",
                where=str(self._path),
                hint="remove the directory, or choose another one",
            )

    def _name(self, what: str, ahead: int) -> Path:
        """The file of the last complete round, or of the one after it."""
        return self._path / f"{(self.rounds_done + ahead) % 2}-{what}"

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
