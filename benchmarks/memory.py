"""Peak memory of `coclick train vpcg` with units, including the opened graph, compared with our limit."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks._peak_memory import peak_of
from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph

SPEC = "vpcg(units=words,own_weight=0)"
LIMIT = {"S": 0.6, "M": 1.5, "L": 6.0}  # GB


def rows(shape: str, threads: int) -> list[dict]:
    graph = saved_graph(shape)
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "model"
        command = [sys.executable, "-m", "coclick", "train", SPEC, str(graph), "-o", str(model)]
        peak, code = peak_of([*command, "--threads", str(threads)])
        size = sum(path.stat().st_size for path in model.glob("*.npy")) / 1e9
        shutil.rmtree(model, ignore_errors=True)
    return [
        make_row(
            name="memory",
            shape=shape,
            params=f"coclick train {SPEC}",
            threads=threads,
            peer="limit",
            ours=peak,
            theirs=LIMIT[shape],
            unit="GB peak",
            check=f"exit code {code}, model of {size:.2f} GB",
        )
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    print(rows(parser.parse_args().shape, len(os.sched_getaffinity(0))))
