"""The command that starts the HTTP service."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.terminal import say
from coclick.errors import UserError


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Directories of trained models, the default first; NAME=DIR sets the name.",
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    api_key_file: Annotated[
        Path | None, typer.Option(help="File with the API key that every request must send.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Report for the studio, written by `evaluate --html` or `compare --html`."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of processes; they share the models in memory.")
    ] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Time limit of a request in seconds.")] = 10,
) -> None:
    """Serve models over HTTP, with a studio page to inspect them.

    A model that is retrained in its directory is reloaded within a second, without dropping requests.
    """
    gc.disable()  # until the service is up: what it loads stays, and collecting takes long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # like kernels: requests run in parallel instead
    try:
        from coclick.service import run
        from coclick.service.loaded_models import named_paths
    except ModuleNotFoundError as missing:
        raise UserError(f"the service needs {missing.name}", hint='pip install "coclick[serve]"') from None
    from coclick.service.settings import Settings

    key = run.read_key(api_key_file) if api_key_file else None
    if report is not None and not report.is_file():
        raise UserError(
            "the report does not exist", where=str(report), hint="coclick compare GRAPH --html FILE"
        )
    if key is None and host not in ("127.0.0.1", "localhost", "::1"):
        say(
            "note: no API key is set: anyone who can reach this address can query it; "
            "--api-key-file sets a key"
        )
    settings = Settings(
        named_paths(models), key, timeout, str(report.resolve()) if report is not None else None
    )
    run.serve(settings, host, port, workers)
