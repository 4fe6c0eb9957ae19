"""A lock that processes share through a file or a directory."""

from __future__ import annotations

import fcntl


def try_lock(file: int) -> bool:
    """Lock an open file or directory for this process, or return False if another process holds it.

    The operating system releases the lock when the file is closed or the process ends, however it ends.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
