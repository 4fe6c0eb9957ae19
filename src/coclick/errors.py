"""Errors made for people: what was wrong, where, and what to do about it.

Everything that a user can cause is a `CoclickError`. The command line prints it without a traceback
and exits with its `exit_code`; whatever else escapes is a defect of ours and exits with 1.
"""

from __future__ import annotations


class CoclickError(Exception):
    """A problem that a person can act on."""

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.hint:
            lines.append(f"  try:   {self.hint}")
        return "\n".join(lines)


class UserError(CoclickError):
    """A mistake in what the user gave us: a file, a column, a parameter, the order of the commands."""

    exit_code = 2


class NotFoundError(UserError):
    """Something was asked for by its name, and there is none of that name."""


class ArtefactError(CoclickError):
    """A graph or model on disk that is damaged, incomplete, or belongs to something else."""

    exit_code = 3


def corrupt_error(what: str) -> ArtefactError:
    """The error for arrays that lead outside of each other, met while they are read."""
    return ArtefactError(f"{what} damaged", hint="run `coclick verify`")
