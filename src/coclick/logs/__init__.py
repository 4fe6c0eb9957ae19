"""Build a click graph on disk from log files.

    files ──reader──▶ typed rows ──numbering──▶ integer ids ──events · build_steps──▶ (query, doc) tables
        ──write_arrays · history──▶ graph

All steps are SQL on a temporary DuckDB database that spills to disk. Python handles one block at a time.
"""

from __future__ import annotations

from coclick.logs.check_log import CheckReport, check
from coclick.logs.documents import read_docs
from coclick.logs.format import format_names
from coclick.logs.pipeline import build
from coclick.logs.rejects import rejects
from coclick.logs.spellings import variants
from coclick.logs.user_view import add_view

__all__ = ["CheckReport", "add_view", "build", "check", "format_names", "read_docs", "rejects", "variants"]
