"""Document expansion: BM25 over titles and a field of learned words, against BM25 over titles alone.

    python -m benchmarks --only expansion

The engine adds the scores of both fields, that of the learned words with half the weight (`mix`); each
document has at most ten learned words, none of them in its title. Nothing is tuned. nDCG@10.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks._held_out import HeldOutLog, held_out_logs
from benchmarks._row import make_row
from coclick.arrays.strings import Strings
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.evaluation.significance import t_test
from coclick.jit.threads import set_threads
from coclick.models.registry import create

MODELS = ("bm25sd_mult", "vpcg", "wtm", "bltm", "pls(views=words)")
WORDS = 10
ENGINE = "bm25(fields=title) + 0.5*bm25(fields=learned)"


def rows(shape: str, threads: int, models: tuple[str, ...] = MODELS) -> list[dict]:
    set_threads(threads)
    return [row for log in held_out_logs(threads) for row in _rows(log, models, threads)]


def _rows(log: HeldOutLog, models: tuple[str, ...], threads: int) -> list[dict]:
    titles = {"title": log.train.texts["title"]}
    graph = replace(log.train, texts=titles, artefact=None)
    alone = evaluate_model(create("bm25").fit(graph), log.judgments, Protocol()).values()
    found = []
    for spec in models:
        words = create(spec).fit(log.train).expand_docs(k=WORDS)
        learned = Strings.from_list(" ".join(word for word, _ in hits) for hits in words)
        expanded = replace(graph, texts={**titles, "learned": learned})
        both = evaluate_model(create(ENGINE).fit(expanded), log.judgments, Protocol()).values()
        found.append(
            make_row(
                name=f"expansion {log.name}",
                shape="-",
                params=spec,
                threads=threads,
                peer="titles alone",
                ours=float(both.mean()),
                theirs=float(alone.mean()),
                unit="nDCG@10",
                check=f"{len(both)} queries, p = {t_test(both - alone):.2g}",
                higher_is_better=True,
            )
        )
    return found
