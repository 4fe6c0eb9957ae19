"""The command that starts the service."""

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
            metavar="MODEL...", help="Trained models' directories, the default first; NAME=DIR to name one."
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is all.")] = "127.0.0.1",
    api_key_file: Annotated[
        Path | None, typer.Option(help="A file with a key that every request must bring.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page that `evaluate --html` or `compare --html` wrote.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they share the models' memory.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that a request may take.")] = 10,
) -> None:
    """Serve models over HTTP, with the studio page to look at them.

    A model that is trained anew into its directory is taken within a second, without a dropped request.
    """
    gc.disable()  # until the service stands: what it loads stays, and the search for garbage takes long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for kernels: requests are answered side by side
    try:
        from coclick.service import loaded_models as catalogue
        from coclick.service import run
    except ModuleNotFoundError as missing:
        raise UserError(f"the service needs {missing.name}", hint='pip install "coclick[serve]"') from None
    from coclick.service.settings import Settings

    key = run.read_key(api_key_file) if api_key_file else None
    if report is not None and not report.is_file():
        raise UserError(
            "there is no such report", where=str(report), hint="coclick compare GRAPH --html FILE"
        )
    if key is None and host not in ("127.0.0.1", "localhost", "::1"):
        say("note: whoever reaches this address may ask; --api-key-file asks for a key")
    settings = Settings(
        catalogue.named(models), key, timeout, str(report.resolve()) if report is not None else None
    )
    run.serve(settings, host, port, workers)
