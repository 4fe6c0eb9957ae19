"""Give changed files to every reader for some time: `make fuzz MINUTES=60`.

Hypothesis draws them at random, with other seeds than in the tests. A file that a reader neither reads nor
refuses is written to tests/faults/found, where a test reads it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOUND = Path(__file__).parent / "found"


def main() -> int:
    """Run every reader in a separate process, for its share of the time."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="Give changed files to readers.")
    parser.add_argument("readers", nargs="*", help="names of readers; default: all")
    parser.add_argument("--minutes", type=float, default=10, help="for all readers together")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="random seed")
    parser.add_argument("--here", action="store_true", help="in this process: one reader")
    options = parser.parse_args()
    if options.here:
        return Fuzzer(options.readers[0], 60 * options.minutes, options.seed).run()
    from faults.readers import READERS

    names = options.readers or list(READERS)
    failed = 0
    for name in names:
        arguments = [
            name,
            "--here",
            "--minutes",
            str(options.minutes / len(names)),
            "--seed",
            str(options.seed),
        ]
        failed += (
            subprocess.run([sys.executable, "-m", "faults.fuzz", *arguments], check=False).returncode != 0
        )
    return int(failed > 0)


class Fuzzer:
    """Tries one reader, and keeps the files that it fails on."""

    def __init__(self, name: str, seconds: float, seed: int) -> None:
        self.name, self.seconds, self.seed = name, seconds, seed
        self.began, self.count, self.failures = time.monotonic(), 0, set[str]()

    def run(self) -> int:
        """Try until the time is over, print how often, and return 1 if the reader failed."""
        while self._is_time_left():
            self._test(self.seed + self.count)()
        return self._finish()

    def _test(self, seed: int) -> Any:
        """A test of hypothesis, which draws files for the reader."""
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis import seed as with_seed
        from hypothesis import strategies as st

        from faults.readers import READERS, check_reader

        def attempt(content: bytes, file: str) -> None:
            if self._is_time_left():
                self.count += 1
                self._try(lambda: check_reader(self.name, content, file), content, file)

        reader = READERS[self.name]
        test = given(content=reader.content, file=st.sampled_from(reader.names))(attempt)
        wanted = settings(
            max_examples=200,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        return with_seed(seed)(wanted(test))

    def _try(self, read: Callable[[], str], content: bytes, file: str) -> None:
        try:
            read()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__} in {place.filename}, line {place.lineno}"
            if what not in self.failures:  # one file for each place is enough
                self.failures.add(what)
                kept = keep(self.name, content, file)
                print(f"{self.name}: {what}: {error!s:.100} (kept as {kept.name})", flush=True)

    def _is_time_left(self) -> bool:
        return time.monotonic() < self.began + self.seconds

    def _finish(self) -> int:
        seconds = time.monotonic() - self.began
        print(
            f"{self.name}: {self.count:,} files in {seconds:.0f} s, {len(self.failures)} failures", flush=True
        )
        return int(bool(self.failures))


def keep(name: str, content: bytes, file: str) -> Path:
    """Write a file that a reader failed on to tests/faults/found."""
    digest = hashlib.sha256(content).hexdigest()[:8]
    path = FOUND / f"{name.replace(' ', '-')}--{digest}--{file}"
    path.write_bytes(content)
    return path


if __name__ == "__main__":
    sys.exit(main())
