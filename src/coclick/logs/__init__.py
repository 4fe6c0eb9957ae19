"""From log files to a click graph on disk.

    files ──rows──▶ typed rows ──ids──▶ integers ──events · clicks──▶ tables of pairs ──arrays──▶ graph

All of it is SQL on a temporary DuckDB database that spills to disk; Python sees a block at a time.
"""

from __future__ import annotations

from coclick.logs.documents import read_docs
from coclick.logs.pipeline import build
from coclick.logs.rejects import rejects
from coclick.logs.spellings import variants
from coclick.logs.user_view import add_view

__all__ = ["add_view", "build", "read_docs", "rejects", "variants"]
