"""Ctrl-C while compiled code is loaded.

LLVM asks Python for compiled code through a callback. An exception in a callback cannot reach the caller:
LLVM goes on without the code, and the process crashes.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_RETRY_SECONDS = 0.01
_CALLBACKS = ("_raw_object_cache_notify", "_raw_object_cache_getbuffer")  # of llvmlite's execution engine


def postpone_in_callbacks() -> None:
    """Let Ctrl-C wait until a callback of LLVM has returned."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise it is ignored, or not ours
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    caller = frame
    while caller is not None:
        if caller.f_code.co_name in _CALLBACKS:
            threading.Timer(_RETRY_SECONDS, signal.raise_signal, [number]).start()
            return
        caller = caller.f_back
    signal.default_int_handler(number, frame)
