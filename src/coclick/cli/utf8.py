"""File names are UTF-8 in every locale: where the locale has another encoding, restart in UTF-8 mode."""

from __future__ import annotations

import os
import sys


def restart_in_utf8() -> None:
    """Replace this process by one in UTF-8 mode if the locale has another encoding for file names.

    Libraries such as DuckDB take names as UTF-8 only. What is printed keeps the encoding of the terminal. If
    Python ignores the setting (`-I`, `-X utf8=0`), the process goes on as it is.
    """
    if sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    streams = f"{getattr(sys.stdout, 'encoding', 'utf-8')}:replace"
    environment = {"PYTHONIOENCODING": streams} | os.environ | {"PYTHONUTF8": "1"}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
