"""Errors for users: what was wrong, where, and what to do about it.

Everything that a user can cause is a `CoclickError`. The command line prints it without a traceback
and exits with its `exit_code`; any other exception is a bug in coclick and exits with 1.

`check_path`, `check_whole` and `check_number` check arguments of public functions. `counted` writes a number
with its noun.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from pathlib import Path
from typing import Any

MAX_WHOLE = 2**31 - 1  # indices are int32


class CoclickError(Exception):
    """A problem that the user can act on."""

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    @property
    def reason(self) -> str:
        """What was wrong and what to do about it, on one line."""
        return f"{self.what}; {self.hint}" if self.hint else self.what

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.hint:
            lines.append(f"  try:   {self.hint}")
        return "\n".join(lines)


class UserError(CoclickError):
    """A mistake in the input: a file, a column, a parameter, the order of the commands."""

    exit_code = 2


class NotFoundError(UserError):
    """There is nothing of the name that the user gave."""


class ArtefactError(CoclickError):
    """A graph or model on disk that is damaged, incomplete, or belongs to something else."""

    exit_code = 3


class ThreadError(CoclickError):
    """The system refuses to start a thread."""

    def __init__(self, error: RuntimeError) -> None:
        what = f"no thread can be started: {error}"
        hint = "end other processes, or raise the limit of processes (ulimit -u) or the memory"
        super().__init__(what, hint=hint)


def corrupt_error(what: str) -> ArtefactError:
    """Return the error for stored arrays whose indices point out of bounds."""
    return ArtefactError(f"{what} damaged", hint="run `coclick verify`")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: "1 query", "2,000 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def check_path(value: Any, name: str) -> Path:
    """Return an argument as a path; raise if it is none."""
    if not isinstance(value, str | Path) or not str(value):
        raise UserError(f"{name} must be a path, not {value!r}")
    return Path(value)


def check_whole(value: Any, name: str, low: int, high: int = MAX_WHOLE) -> int:
    """Return an argument as a whole number; raise if it is none, too small or too large."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise UserError(f"{name} must be a whole number of at least {low}, not {value!r}")
    if int(value) > high:
        raise UserError(f"{name} must be a whole number of at most {high:,}, not {value!r}")
    return int(value)


def check_number(value: Any, name: str) -> float:
    """Return an argument as a number; raise if it is none."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise UserError(f"{name} must be a number, not {value!r}")
    return float(value)
