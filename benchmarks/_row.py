"""One row of the table that `python -m benchmarks` prints."""

from __future__ import annotations

from typing import Any


def make_row(
    name: str,
    shape: str,
    params: str,
    threads: int,
    peer: str,
    ours: float,
    theirs: float,
    unit: str,
    check: str = "",
    *,
    higher_is_better: bool = False,
    **extra: Any,
) -> dict[str, Any]:
    """Return a row; its ratio is above 1 where we are better. `extra` columns go to `--json` only."""
    return {
        "name": name,
        "shape": shape,
        "params": params,
        "threads": threads,
        "peer": peer,
        "ours": ours,
        "theirs": theirs,
        "ratio": ours / theirs if higher_is_better else theirs / ours,
        "unit": unit,
        "check": check,
        **extra,
    }
