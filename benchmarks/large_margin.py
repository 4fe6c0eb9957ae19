"""`large_margin` against `pls`, its start, on held-out clicks and judgments.

python -m benchmarks --only large_margin
"""

from __future__ import annotations

from benchmarks._held_out import held_out_logs
from benchmarks._row import make_row
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.evaluation.significance import t_test
from coclick.jit.threads import set_threads
from coclick.models.registry import create

PEER = "pls(views=words)"


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    found = []
    for log in held_out_logs(threads):
        ours, theirs = (
            evaluate_model(create(spec).fit(log.train), log.judgments, Protocol()).values()
            for spec in ("large_margin", PEER)
        )
        found.append(
            make_row(
                name=f"large_margin {log.name}",
                shape="-",
                params="large_margin",
                threads=threads,
                peer=PEER,
                ours=float(ours.mean()),
                theirs=float(theirs.mean()),
                unit="nDCG@10",
                check=f"{len(ours)} queries, p = {t_test(ours - theirs):.2g}",
                higher_is_better=True,
            )
        )
    return found
