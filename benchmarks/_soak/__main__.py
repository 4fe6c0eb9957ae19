"""Put a server under load for a long time, with everything that clients and disks can do to it.

Fails at the first wrong response or failed request, and if memory, file descriptors or threads grow.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks._server import Server, serving
from benchmarks._soak import attacks, clients, flat
from benchmarks._soak.crowd import SIZE, Crowd, crowd_size
from benchmarks._soak.models import Swaps
from benchmarks._soak.trial import Trial
from coclick import Suggestions, answers, build, open_model, simulate, train
from coclick.models.base import Model

CLIENTS = 3
PAUSE_SECONDS = 0.03  # between the requests of a client
REPORT_SECONDS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--connections", type=int, default=SIZE, help="open at the same time")
    given = parser.parse_args()
    size = crowd_size(given.connections)
    if size < given.connections:
        print(
            f"NOTE: ulimit -n allows only {size:,} of {given.connections:,} connections at once", flush=True
        )
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        simulate.sample(home / "log")
        graph = build([str(home / "log/events.parquet")], home / "log/docs.tsv", home / "graph")
        models = [train(spec, graph) for spec in ("vpcg", "vpcg(start=doc)")]
        models[0].save(home / "model")
        Suggestions.build(graph).save(home / "suggestions")
        with serving(str(home / "model"), "--suggestions", str(home / "suggestions")) as server:
            _soak(server, given.minutes * 60, size, models, graph.queries.to_list(0, 500), home / "model")
        assert open_model(home / "model").search(graph.queries[0]).hits()


def _soak(
    server: Server, seconds: float, size: int, models: list[Model], queries: list[str], place: Path
) -> None:
    expected = [[answers.search(model, [query])[0] for model in models] for query in queries]
    trial = Trial(server)
    first = flat.usage(server)
    print(f"     0 s  {first}", flush=True)
    searches = clients.Searches(trial, queries, expected)
    crowd = Crowd(trial, size, queries[0], expected[0])
    crowd_pause = max(15.0, min(180.0, seconds / 10))  # ports stay in use for a minute
    for _ in range(CLIENTS):
        trial.repeat("searches", searches.client(), PAUSE_SECONDS)
    trial.repeat("crowd", crowd, crowd_pause)
    trial.repeat("invalid requests", clients.invalid_requests(trial), 10 * PAUSE_SECONDS)
    trial.repeat("generated requests", clients.generated_requests(trial), PAUSE_SECONDS)
    trial.repeat("strangers", partial(clients.strangers, trial), 1.0)
    trial.repeat("half-sent heads", partial(attacks.half_heads, trial), 5.0)
    trial.repeat("half-sent bodies", partial(attacks.half_bodies, trial), 5.0)
    trial.repeat("dripping heads", partial(attacks.dripping, trial), 5.0)
    trial.repeat("slow readers", partial(attacks.slow_readers, trial), 5.0)
    trial.repeat("huge requests", partial(attacks.huge_requests, trial), 5.0)
    trial.repeat("swaps", Swaps(trial, models, place))
    began, memory = time.monotonic(), flat.Memory(seconds)
    while (now := time.monotonic() - began) < seconds and not trial.is_over:
        trial.wait(min(REPORT_SECONDS, seconds / 20))
        used = flat.usage(server)
        memory.add(now, used.memory)
        print(f"{now:6.0f} s  {used}  {sum(trial.counts.values()):9,} requests", flush=True)
    trial.stop()
    last = flat.quiet_usage(server, first.files + flat.MAX_MORE_FILES)
    print(f"  quiet   {last}", flush=True)
    for what, n in sorted(trial.counts.items()):
        print(f"{n:9,}  {what}")
    print(f"{crowd.largest:9,}  connections at once, at most")
    if searches.seconds:
        at = statistics.quantiles(searches.seconds, n=100)
        print(
            f"seconds of a search: median {at[49]:.4f}, p99 {at[98]:.4f}, longest {max(searches.seconds):.2f}"
        )
    bugs = [line for line in server.log if "internal error" in line]
    growth = memory.growth() or flat.growth(first, last)
    if wrong := trial.errors or bugs or growth:
        sys.exit("wrong: " + "\n".join(wrong))
    print(f"no wrong response, no failed request; {memory}")


if __name__ == "__main__":
    main()
