"""One thread for each BLAS call; our own threads run over blocks (`coclick.jit.threads`).

The threads of BLAS wait for each other in busy loops. On cores that have other work, a product of 0.2 ms
takes over 10 ms then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_users = 0
_users_change = Lock()
_limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Use one thread for each BLAS call, where threadpoolctl knows the BLAS (OpenBLAS, MKL, BLIS).

    The limit holds for the whole process: the first thread that enters sets it, the last that leaves
    restores it.
    """
    global _users, _limit
    with _users_change:
        if _users == 0:
            _limit = _blas().limit(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _users_change:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


@cache
def _blas() -> Any:
    """Find the loaded BLAS libraries: numpy's is among them. To look for them takes a millisecond."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
