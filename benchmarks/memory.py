"""Peak memory of `coclick train vpcg` with units, the opened graph included, beside the bound we promise."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._graphs import saved_graph

BOUND = {"S": 0.6, "M": 1.5, "L": 6.0}  # GB


def rows(shape: str, threads: int) -> list[dict]:
    graph = saved_graph(shape)
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "model"
        command = [sys.executable, "-m", "coclick.cli", "train", "vpcg", str(graph), "-o", str(model)]
        child = subprocess.Popen([*command, "--threads", str(threads)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        size = sum(path.stat().st_size for path in model.glob("*.npy")) / 1e9
        shutil.rmtree(model, ignore_errors=True)
    peak = usage.ru_maxrss * 1024 / 1e9
    return [
        {
            "name": "memory",
            "shape": shape,
            "params": "coclick train vpcg",
            "threads": threads,
            "peer": "the bound",
            "ours": peak,
            "theirs": BOUND[shape],
            "ratio": BOUND[shape] / peak,
            "unit": "GB peak",
            "check": f"exit code {os.waitstatus_to_exitcode(status)}, model of {size:.2f} GB, "
            f"{usage.ru_utime + usage.ru_stime:.0f} s of processor time",
        }
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    print(rows(parser.parse_args().shape, len(os.sched_getaffinity(0))))
