"""A served model that is swapped, damaged and mended all the time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks._server import request
from benchmarks._soak.trial import RANDOM, Trial, WrongError
from coclick.models.base import Model

SWAP_SECONDS = 5.0
PATIENCE = 300.0  # seconds until the server has noticed; about one on an idle machine


class Swaps:
    """Swap two models; every third time, damage the manifest first and see that it is reported."""

    def __init__(self, trial: Trial, models: list[Model], place: Path) -> None:
        self._trial, self._models, self._place = trial, models, place
        self._n = 0

    def __call__(self) -> None:
        """Do the next one."""
        self._n += 1
        if self._n % 3 == 0:
            self._damage()
        self._models[self._n % 2].save(self._place, force=True)
        self._trial.count("models swapped")
        self._trial.wait(SWAP_SECONDS)

    def _damage(self) -> None:
        manifest = self._place / "manifest.json"
        right = manifest.read_bytes()
        _replace(manifest, RANDOM.choice(_DAMAGES)(right))
        try:
            self._wait_for(lambda problems: bool(problems), "a damaged model is not reported")
        finally:
            _replace(manifest, right)
        self._wait_for(lambda problems: not problems, "a mended model is still reported")
        self._trial.count("models damaged and mended")

    def _wait_for(self, condition: Callable[[list[str]], bool], wrong: str) -> None:
        connection, until = self._trial.server.connect(), time.monotonic() + PATIENCE
        while not self._trial.is_over:
            _, listed = request(connection, "GET", "/models")
            status, ready = request(connection, "GET", "/ready")
            if condition(json.loads(listed)["problems"]) and condition(json.loads(ready)["problems"]):
                return
            if status != 200:
                raise WrongError(f"/ready got {status} while the old model was served")
            if time.monotonic() > until:
                raise WrongError(f"{wrong} after {PATIENCE:g} seconds")
            self._trial.wait(0.2)


def _long_shape(right: bytes) -> bytes:
    """Give every array a shape of 100,000 dimensions."""
    manifest = json.loads(right)
    for entry in manifest["files"].values():
        if "shape" in entry:
            entry["shape"] = [2**60] * 100_000
            break
    return json.dumps(manifest).encode()


def _huge_numbers(right: bytes) -> bytes:
    """Give every array more bytes than a number of the machine has."""
    manifest = json.loads(right)
    for entry in manifest["files"].values():
        entry.update({key: 10**30 for key, value in entry.items() if isinstance(value, int)})
    return json.dumps(manifest).encode()


_DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda right: b"{}",
    lambda right: b"",
    lambda right: right[: len(right) // 2],
    lambda right: b"[" * 100_000,
    lambda right: right.replace(b'"shape"', b'"shapes"', 1),
    _long_shape,
    _huge_numbers,
]


def _replace(path: Path, content: bytes) -> None:
    """Replace a file as a whole, as writers of models do."""
    temporary = path.with_name(f"{path.name}.soak")
    temporary.write_bytes(content)
    os.replace(temporary, path)  # noqa: PTH105
