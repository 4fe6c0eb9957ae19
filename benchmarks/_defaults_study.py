"""Measure candidates for a model's defaults on every log at hand, against the first of them.

    python -m benchmarks._defaults_study [--logs bestbuy,nfcorpus] 'vpcg(preset=paper)' vpcg …

For each log (`_held_out.py`) and model: nDCG@10 over all queries and over unseen ones, the difference from
the first model with its p-value (paired t-test), CPU seconds of training, CPU milliseconds
a query. After `/` comes
another first model.
"""

from __future__ import annotations

import argparse
import time

from benchmarks._held_out import HeldOutLog, held_out_logs
from coclick.evaluation.breakdown import query_groups
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.evaluation.significance import t_test
from coclick.models.training import train

LOGS = ("bestbuy", "zerozero", "nfcorpus", "simulated", "judged")
COLUMNS = ("log", "model", "all", "difference", "p", "unseen", "train, CPU s", "CPU ms a query")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks._defaults_study", description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--logs", default=",".join(LOGS))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print("|", " | ".join(COLUMNS), "|\n" + "|---" * len(COLUMNS) + "|")
    for log in held_out_logs(args.threads):
        if log.name in args.logs.split(","):
            _measure(log, args.models)


def _measure(log: HeldOutLog, specs: list[str]) -> None:
    queries = list(log.judgments.queries)
    unseen = set(query_groups(log.train, log.judgments)["query"].get("unseen", ()))
    base = None
    for spec in specs:
        if spec == "/":
            base = None
            continue
        started = time.process_time()
        model = train(spec, log.train)
        trained = time.process_time()
        values = evaluate_model(model, log.judgments, Protocol()).values()
        answered = time.process_time()
        base = values if base is None else base
        rest = values[[query in unseen for query in queries]]
        cells = [
            log.name,
            f"`{spec}`",
            f"{values.mean():.4f}",
            f"{values.mean() - base.mean():+.4f}",
            f"{t_test(values - base):.2g}" if (values != base).any() else "",
            f"{rest.mean():.4f}" if len(rest) else "",
            f"{trained - started:.1f}",
            f"{(answered - trained) / len(queries) * 1000:.2f}",
        ]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
