"""The page docs/quality.md and the tables of `benchmarks.quality`, from its results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks._quality_logs import SOURCES
from benchmarks._quality_results import (
    GROUPS,
    Difference,
    Result,
    best_single,
    by_quality,
    difference,
    mean_and_interval,
)
from benchmarks.encoder import NAME as ENCODER_NAME

RECOMMENDED, ENCODER = "recommended", "encoder"
BM25, BACKOFF = "bm25", "backoff(neighbours + vpcg + bm25)"
IN_SHORT = (RECOMMENDED, "ltr", BACKOFF, "neighbours", "wtm", "mpls", "pls", "vpcg", BM25, ENCODER)
CLAIMS: dict[str, tuple[str, str | None]] = {  # None: the best single model of the log
    "The recommended model beside the best single model, which is chosen with hindsight": (RECOMMENDED, None),
    "The recommended model beside BM25": (RECOMMENDED, BM25),
    f"`{BACKOFF}` beside BM25": (BACKOFF, BM25),
}
BEGIN, END = "<!-- quality: written by benchmarks.quality -->", "<!-- end of quality -->"
_SIGNIFICANT = 0.05

INTRODUCTION = f"""\
# Quality

How well the models rank on the logs at hand, and what that costs. This page is written by

    python -m benchmarks.quality -o docs/quality.md

Real logs come first. They are not part of the repository, so you need the files to repeat their rows
(`--data DIR`); simulated logs need none. No table replaces `coclick compare` on your own log.

- The measure is nDCG@10 with linear gain, and its 95 % bootstrap interval. *Unseen* queries are not in the
  training clicks; the column is missing where all judged queries are unseen.
- *recommended* is the model that `coclick compare` recommends on the training clicks alone, trained on all of
  them. The judged queries have no part in the choice.
- *train* is processor time in seconds, *query* is processor time of one search for ten documents in
  milliseconds; both with one thread and without compilation. A blank was not measured.
- {ENCODER_NAME} is a pre-trained neural encoder that does not learn from clicks; its *train* is the time to
  encode the documents.
"""

SHORT = """\
nDCG@10; two figures are all and unseen queries. Logs and models are described below; the commits on
which rows were measured are listed at the end.
"""

THIN = """\
Most documents of a thin log have no clicks. `thinN`: N % of the documents have events, chosen at random, and
all judged queries are unseen. `smallN`: a site with few users, who clicked N % of the documents. nDCG@10 over
all documents, by the simulator's judgments. **Bold**: the best model of the log is not significantly better
(paired t-test, p < .05, uncorrected).

On the thinnest of these logs the best model with hindsight beats the recommended one, and clicks cannot tell:
the simulated engine shows what BM25 finds, so clicks, also held-out ones, are on documents that share words
with the query. The simulator's judgments also count documents that were never shown. A real engine is no
different. If most of your documents have no clicks, judge some results by hand (docs/studio.md), and give the
file to `coclick compare`.

Pairs of a clicked document and one that was shown above it and skipped do not help to choose: the share of
pairs that 16 models order rightly and their nDCG@10 have a rank correlation of -.15, .24 and .50 on small10,
thin20 and small40.
"""


def whole_page(results: dict[str, Result]) -> str:
    """Return docs/quality.md."""
    real = [result for name, result in results.items() if SOURCES[name].folder]
    simulated = [result for name, result in results.items() if not SOURCES[name].folder]
    parts = [
        INTRODUCTION,
        "## In short\n",
        SHORT,
        f"{BEGIN}\n{in_short(results)}{END}\n",
        "## Does the recommendation hold?\n",
        verdicts(results.values()),
        claims(results.values()),
        "## Real logs\n",
        *(log_section(result) for result in real),
        "## Simulated thin logs\n",
        THIN,
        *([across_logs(simulated)] if simulated else []),
        left_out(results.values()),
        commits(results.values()),
    ]
    return "\n".join(parts)


def short_table(page: str) -> str:
    """Return the table between the markers of a page."""
    return page.split(BEGIN)[1].split(END)[0]


def with_short_table(page: str, table: str) -> str:
    """Return a page with another table between its markers."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{table}{END}{rest.split(END)[1]}"


def in_short(results: dict[str, Result]) -> str:
    """Return a table of a few models, with one column for each real log and each kind of thin log."""
    real = [name for name in results if SOURCES[name].folder]
    columns = {name: [name] for name in real}
    for kind in ("thin", "small"):
        if logs := [name for name in results if name.startswith(kind)]:
            columns[f"{kind}, mean of {len(logs)}"] = logs
    lines = []
    for model in IN_SHORT:
        cells = [_mean_over([results[log] for log in logs], model) for logs in columns.values()]
        if any(cells):
            lines.append([_short_label(model), *cells])
    best = [_best_over([results[log] for log in logs]) for logs in columns.values()]
    lines.append(["best single model, with hindsight", *best])
    return _table(["nDCG@10", *columns], lines)


def verdicts(results: Iterable[Result]) -> str:
    """Return a sentence for each claim: on which logs it holds, and on which not."""
    pairs = _claims(results)
    lines = []
    for claim in CLAIMS:
        found = [(log, pair) for log, made, _, pair in pairs if made == claim and pair.group == "all"]
        if not found:
            continue
        worse = [log for log, pair in found if pair.p < _SIGNIFICANT and pair.difference < 0]
        better = [log for log, pair in found if pair.p < _SIGNIFICANT and pair.difference > 0]
        lines.append(
            f"- {claim}: significantly better on {_listed(better)}, significantly worse on {_listed(worse)}, "
            f"of {len(found)} logs (paired t-test, p < .05, uncorrected)."
        )
    return "\n".join([*lines, ""])


def claims(results: Iterable[Result]) -> str:
    """Return the table of the recommended model and of backoff beside their peers, log by log."""
    lines = [
        [
            f"{log}, {pair.group}",
            ours,
            f"`{pair.b}`" + ", the best single model" * ("best" in claim),
            *_cells(pair),
        ]
        for log, claim, ours, pair in _claims(results)
    ]
    return _table(["log, queries", "model", "beside", "nDCG@10", "its", "difference (95 %)", "p"], lines)


def _claims(results: Iterable[Result]) -> list[tuple[str, str, str, Difference]]:
    """(log, claim, label of the model, difference) for all queries, and for unseen ones if some are not."""
    found = []
    for result in results:
        for group in GROUPS:
            for claim, (ours, theirs) in CLAIMS.items():
                peer = theirs or best_single(result)
                pair = difference(result, ours, result, peer, group) if peer else None
                if pair:
                    found.append((result["log"], claim, _label(result, ours), pair))
    return found


def log_section(result: Result) -> str:
    """Return one log's heading and table of models, best first."""
    unseen = any(mean_and_interval(result, name, "unseen") for name in result["models"])
    what = "judged candidates re-ranked" if result["retrieval"] == "judged" else "full retrieval"
    share = f"{result['clicked_docs']:,} of {result['docs']:,} documents have clicks"
    about = SOURCES[result["log"]].about if result["log"] in SOURCES else "a log"
    seen = len(result["queries"]) - sum(result["unseen"])
    queries = f"{len(result['queries'])} judged queries, {seen} of them seen"
    retrieval = result["retrieval"] == "all"
    lines = []
    for name in by_quality(result):
        row = result["models"][name]
        cells = [_label(result, name), _with_interval(mean_and_interval(result, name))]
        cells += [_with_interval(mean_and_interval(result, name, "unseen"))] * unseen
        cells += [f"{row['R@100']:.3f}"] * retrieval
        lines.append([*cells, _number(row["seconds"], 1), _number(row["ms"], 2)])
    head = ["model", "nDCG@10, all", *["unseen"] * unseen, *["R@100"] * retrieval, "train, s", "query, ms"]
    return f"### {result['log']}\n\n{about}; {queries}; {share}; {what}.\n\n{_table(head, lines)}"


def across_logs(results: list[Result]) -> str:
    """Return one table with a column for each log, ordered by the mean over logs; a missing row is blank."""
    measured: dict[str, list[Result]] = {}
    for result in results:
        for name in result["models"]:
            measured.setdefault(name, []).append(result)

    def rank(name: str) -> tuple[int, float]:
        return -len(measured[name]), -sum(_mean(result, name) for result in measured[name])

    lines = []
    for name in sorted(measured, key=rank):
        rows = [result["models"][name] for result in measured[name]]
        costs = [
            f"{np.mean([row['seconds'] for row in rows]):.1f}",
            f"{np.mean([row['ms'] for row in rows]):.2f}",
        ]
        cells = [_cell(result, name) if name in result["models"] else "" for result in results]
        lines.append([_short_label(name), *cells, *costs])
    recommended = {
        result["log"]: result["models"][RECOMMENDED]["spec"]
        for result in results
        if RECOMMENDED in result["models"]
    }
    chosen = "; ".join(f"{log}: `{spec}`" for log, spec in recommended.items())
    table = _table(["model", *(result["log"] for result in results), "train, s", "query, ms"], lines)
    return f"{table}\nRecommended: {chosen}.\n" if chosen else table


def left_out(results: Iterable[Result]) -> str:
    """Return which models have no row, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for name, reason in result["left_out"].items():
            reasons.setdefault((name, reason.split("; ")[0]), []).append(result["log"])
    lines = [
        f"- `{name if name != ENCODER else ENCODER_NAME}` on {', '.join(logs)}: {reason}"
        for (name, reason), logs in reasons.items()
    ]
    return "\n".join(["## Without a row\n", *lines, ""]) if lines else ""


def gains(results: dict[str, Result], before: dict[str, Result]) -> str:
    """Return the paired differences of models that both results have, and of the recommended model to ltr."""
    lines = []
    for log, result in results.items():
        earlier = before.get(log)
        if earlier is None:
            continue
        pairs = [(name, name) for name in by_quality(result)]
        pairs += [(RECOMMENDED, "ltr")]
        for ours, theirs in pairs:
            for group in GROUPS:
                found = difference(result, ours, earlier, theirs, group)
                if found:
                    lines.append(
                        [f"{log}, {group}", _label(result, ours), f"`{theirs}` before", *_cells(found)]
                    )
    return _table(["log, queries", "model", "beside", "nDCG@10", "its", "difference (95 %)", "p"], lines)


def figures(results: dict[str, Result]) -> list[dict[str, Any]]:
    """Return the rows of all tables as data."""
    rows = []
    for log, result in results.items():
        for name in by_quality(result):
            row = {key: value for key, value in result["models"][name].items() if key != "values"}
            spans = {group: mean_and_interval(result, name, group) for group in GROUPS}
            rows.append({"log": log, "model": name, "nDCG@10": spans, **row})
    return rows


def _cell(result: Result, name: str) -> str:
    """The mean of a model, bold unless the best model is significantly better."""
    behind = difference(result, name, result, by_quality(result)[0])
    assert behind is not None
    tied = behind.difference > -1e-9 or behind.p >= _SIGNIFICANT
    return f"**{behind.means[0]:.3f}**" if tied else f"{behind.means[0]:.3f}"


def _listed(logs: list[str]) -> str:
    return ", ".join(logs) or "none"


def _label(result: Result, name: str) -> str:
    if name == ENCODER:
        return ENCODER_NAME
    if name == RECOMMENDED:
        return f"*recommended:* `{result['models'][name]['spec']}`"
    return f"`{name}`"


def _cells(found: Difference) -> list[str]:
    low, high = found.interval
    p = "< .001" if found.p < 0.001 else f"{found.p:.3f}"
    return [
        f"{found.means[0]:.3f}",
        f"{found.means[1]:.3f}",
        f"{found.difference:+.3f} ({low:+.3f} to {high:+.3f})",
        p,
    ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _with_interval(found: tuple[float, float, float] | None) -> str:
    return f"{found[0]:.3f} ({found[1]:.3f} to {found[2]:.3f})" if found else ""


def _table(head: list[str], lines: list[list[str]]) -> str:
    text = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in text)


def commits(results: Iterable[Result]) -> str:
    """Return which rows were measured on which commit."""
    found: dict[str, dict[str, list[str]]] = {}
    for result in results:
        for name, row in result["models"].items():
            found.setdefault(row["commit"], {}).setdefault(result["log"], []).append(name)
    if len(found) == 1:
        return f"Measured on commit {next(iter(found))}.\n"
    lines = ["## Measured on several commits\n"]
    for commit, by_log in found.items():
        logs: dict[str, list[str]] = {}  # the same models on several logs are named once
        for log, names in by_log.items():
            logs.setdefault(", ".join(f"`{name}`" for name in names), []).append(log)
        lines += [f"- {commit}, {', '.join(where)}: {names}" for names, where in logs.items()]
    return "\n".join([*lines, ""])


def _mean_over(results: list[Result], model: str) -> str:
    """The mean over logs; of one log also that on its unseen queries."""
    if not all(model in result["models"] for result in results):
        return ""
    if len(results) == 1 and (unseen := mean_and_interval(results[0], model, "unseen")):
        return f"{_mean(results[0], model):.3f} / {unseen[0]:.3f}"
    return f"{sum(_mean(result, model) for result in results) / len(results):.3f}"


def _best_over(results: list[Result]) -> str:
    """The best single model of one log, or the mean over the best of each of several logs."""
    best = [name for result in results if (name := best_single(result))]
    if len(best) < len(results):
        return ""
    if len(results) == 1:
        return f"{_mean_over(results, best[0])} (`{best[0]}`)"
    return f"{sum(map(_mean, results, best)) / len(results):.3f}"


def _mean(result: Result, model: str) -> float:
    values = result["models"][model]["values"]
    return sum(values) / len(values)


def _short_label(model: str) -> str:
    return {ENCODER: ENCODER_NAME, RECOMMENDED: "*recommended* by `coclick compare`"}.get(model, f"`{model}`")
