"""The service: an HTTP API over trained models, and the studio page that shows what they have learned.

loaded_models   the models that are served, reloaded when they change on disk; loaded_suggestions likewise
api             the routes of the API; requests, responses and openapi describe what they take and return
watcher         notices what changes on disk; reloading loads it again
connections     limits of connections: their number, slow clients, large heads
middleware      what applies to every request: host, API key, limits, timeouts, headers, metrics
app             all of it as one application; `run` starts it
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from coclick.errors import UserError
from coclick.service.hosts import check_allowed, is_loopback
from coclick.service.settings import EngineSettings, Settings


def serve(
    models: str | Path | Sequence[str | Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    api_key: str | None = None,
    report: str | Path | None = None,
    graph: str | Path | None = None,
    judgments: str | Path | None = None,
    review: str | Path | None = None,
    images: bool = False,
    engine: EngineSettings | None = None,
    workers: int = 1,
    timeout: float = 10.0,
    suggestions: str | Path | None = None,
    allowed_hosts: Sequence[str] = (),
) -> None:
    """Serve models over HTTP, with a studio page to inspect them, until Ctrl-C or SIGTERM.

    Parameters: `models`, directories of trained models, the default first, or texts NAME=DIR; `host` and
    `port` to listen on, port 0 for a free one; `api_key`, which every request must send; `report`, an HTML
    report for the studio; `graph`, for the fields of documents and queries that fail; `judgments`, a file to
    which ratings by hand are added; `review`, a file of rules to decide about; `images`, whether the studio
    loads pictures from the hosts that fields name; `engine`, a search engine to compare with
    (`coclick.service.settings.EngineSettings`); `workers`, the number of processes; `timeout` of a request
    in seconds; `suggestions`, a directory of `coclick suggest build` for completions and corrections;
    `allowed_hosts`, the names that requests may have in their `Host` header besides localhost, "*" for any.
    """
    given = [models] if isinstance(models, str | Path) else models
    if not isinstance(given, Sequence) or not all(isinstance(path, str | Path) for path in given):
        raise UserError(
            f"models must be directories of saved models, not {models!r:.80}",
            hint='save the model first: model.save("model"); coclick.serve("model")',
        )
    gc.disable()  # until the service is up: what it loads stays, and collecting takes long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # like kernels: requests run in parallel instead
    try:
        from coclick.service.loaded_models import named_paths
        from coclick.service.run import run_server
    except ModuleNotFoundError as missing:
        gc.enable()
        raise UserError(f"the service needs {missing.name}", hint='pip install "coclick[serve]"') from None
    _check_studio(graph, judgments, review, engine)
    if report is not None and not Path(report).is_file():
        raise UserError(
            "the report does not exist", where=str(report), hint="coclick compare GRAPH --html FILE"
        )
    if api_key is None and not is_loopback(host) and allowed_hosts:  # without either, it does not start
        note = "note: no API key is set: anyone who can reach this address can query it"
        print(f"{note}; --api-key-file sets a key", file=sys.stderr)
    settings = Settings(
        named_paths(map(str, given)),
        api_key,
        timeout,
        report=_absolute(report),
        graph=_absolute(graph),
        judgments=_absolute(judgments),
        review=_absolute(review),
        images=images,
        engine=engine,
        suggestions=_absolute(suggestions),
        allowed_hosts=check_allowed(allowed_hosts),
    )
    run_server(settings, host, port, workers)


def _absolute(path: str | Path | None) -> str | None:
    return None if path is None else str(Path(path).resolve())


def _check_studio(
    graph: str | Path | None,
    judgments: str | Path | None,
    review: str | Path | None,
    engine: EngineSettings | None,
) -> None:
    """Raise before models are loaded if the studio cannot use what it is given."""
    if graph is not None:
        from coclick.graph.click_graph import ClickGraph

        ClickGraph.open(graph)
    if judgments is not None:
        from coclick.evaluation.rated_judgments import RatedJudgments

        RatedJudgments(Path(judgments))
    if review is not None:
        from coclick.rules.review import load_review

        load_review(review)
    if engine is not None:
        from coclick.service.studio.engine import check_engine

        check_engine(engine)
