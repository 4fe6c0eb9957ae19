"""Copy the programs that load an export into its folder: `run.py` and the package `programs`."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

if TYPE_CHECKING:
    from coclick.exporters.base import Exporter

_PACKAGE = "coclick.exporters.programs"

_RUN = '''"""Load this folder into {title}: python3 run.py URL COMMAND. Needs Python 3.10 or later."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the folder keeps its files

from programs.{connection} import main
from programs.{program} import COMMANDS

if __name__ == "__main__":
    main(COMMANDS, Path(__file__).resolve().parent, sys.argv[1:])
'''


def write_program(
    folder: Path,
    title: str,
    program: str,
    modules: tuple[str, ...],
    settings: dict[str, Any],
    connection: str = "engine",
) -> None:
    """Write `run.py`, the modules that it needs, and `settings.json`; `connection` has its main function."""
    (folder / "programs").mkdir()
    for name in ("__init__", "engine", "samples", *modules, program):
        text = files(_PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")
        write_file(folder / "programs" / f"{name}.py", text.replace(f"from {_PACKAGE}.", "from programs."))
    write_file(folder / "run.py", _RUN.format(title=title, program=program, connection=connection))
    write_json(folder / "settings.json", settings)


def write_sample_requests(
    folder: Path, exporter: Exporter, request: Callable[[SampleQuery], dict[str, Any]]
) -> None:
    """Write `sample-queries.ndjson`: queries of the log, their requests, and the results to expect."""
    samples = [sample for sample in exporter.samples if sample.results]
    rows = ({**sample.to_dict(), "request": request(sample)} for sample in samples)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_file(folder / "sample-queries.ndjson", lines)
