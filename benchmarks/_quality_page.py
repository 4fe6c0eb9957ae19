"""The page docs/quality.md and the tables of `benchmarks.quality`, from its results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
  milliseconds; both with one thread and without compilation.
- {ENCODER_NAME} is a pre-trained neural encoder that does not learn from clicks; its *train* is the time to
  encode the documents.
"""

THIN = """\
Most documents of a thin log have no clicks. `thinN`: N % of the documents have events, chosen at random, and
all judged queries are unseen. `smallN`: a site with few users, who clicked N % of the documents. nDCG@10 over
all documents, by the simulator's judgments. **Bold**: the best model of the log is not significantly better
(paired t-test, p < .05, uncorrected).
"""


def whole_page(results: dict[str, Result]) -> str:
    """Return docs/quality.md."""
    real = [result for name, result in results.items() if SOURCES[name].folder]
    simulated = [result for name, result in results.items() if not SOURCES[name].folder]
    parts = [
        INTRODUCTION,
        "## Does the recommendation hold?\n",
        claims(results.values()),
        "## Real logs\n",
        *(log_section(result) for result in real),
        "## Simulated thin logs\n",
        THIN,
        *([across_logs(simulated)] if simulated else []),
        left_out(results.values()),
        f"Measured on commit {_commits(results.values())}.\n",
    ]
    return "\n".join(parts)


def claims(results: Iterable[Result]) -> str:
    """Return the table of the recommended model and of backoff beside their peers, log by log."""
    lines = []
    for result in results:
        best = best_single(result)
        pairs = dict.fromkeys([(RECOMMENDED, best), (RECOMMENDED, BM25), (BACKOFF, BM25)])
        for group in GROUPS:
            for ours, theirs in pairs:
                found = difference(result, ours, result, theirs, group) if theirs else None
                if found:
                    peer = f"`{theirs}`, best single model" if theirs == best else f"`{theirs}`"
                    lines.append([f"{result['log']}, {group}", _label(result, ours), peer, *_cells(found)])
    return _table(["log, queries", "model", "beside", "nDCG@10", "its", "difference (95 %)", "p"], lines)


def log_section(result: Result) -> str:
    """Return one log's heading and table of models, best first."""
    unseen = any(mean_and_interval(result, name, "unseen") for name in result["models"])
    what = "judged candidates re-ranked" if result["retrieval"] == "judged" else "full retrieval"
    share = f"{result['clicked_docs']:,} of {result['docs']:,} documents have clicks"
    about = SOURCES[result["log"]].about if result["log"] in SOURCES else "a log"
    seen = len(result["queries"]) - sum(result["unseen"])
    queries = f"{len(result['queries'])} judged queries, {seen} of them seen"
    lines = []
    for name in by_quality(result):
        row = result["models"][name]
        cells = [_label(result, name), _with_interval(mean_and_interval(result, name))]
        cells += [_with_interval(mean_and_interval(result, name, "unseen"))] * unseen
        cells += [f"{row['R@100']:.3f}", f"{row['seconds']:.1f}", f"{row['ms']:.2f}"]
        lines.append(cells)
    head = ["model", "nDCG@10, all", *["unseen"] * unseen, "R@100", "train, s", "query, ms"]
    return f"### {result['log']}\n\n{about}; {queries}; {share}; {what}.\n\n{_table(head, lines)}"


def across_logs(results: list[Result]) -> str:
    """Return one table with a column for each log, ordered by the mean over logs."""
    names = [name for name in results[0]["models"] if all(name in result["models"] for result in results)]
    means = {name: [mean_and_interval(result, name) for result in results] for name in names}
    best = [by_quality(result)[0] for result in results]
    lines = []
    for name in sorted(names, key=lambda name: -sum(found[0] for found in means[name] if found)):
        cells = []
        for result, found, top in zip(results, means[name], best, strict=True):
            assert found is not None
            behind = difference(result, name, result, top)
            tied = behind is None or behind.difference > -1e-9 or behind.p >= _SIGNIFICANT
            cells.append(f"**{found[0]:.3f}**" if tied else f"{found[0]:.3f}")
        seconds = sum(result["models"][name]["seconds"] for result in results) / len(results)
        ms = sum(result["models"][name]["ms"] for result in results) / len(results)
        label = RECOMMENDED if name == RECOMMENDED else _label(results[0], name)
        lines.append([label, *cells, f"{seconds:.1f}", f"{ms:.2f}"])
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


def _with_interval(found: tuple[float, float, float] | None) -> str:
    return f"{found[0]:.3f} ({found[1]:.3f} to {found[2]:.3f})" if found else ""


def _table(head: list[str], lines: list[list[str]]) -> str:
    text = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in text)


def _commits(results: Iterable[Result]) -> str:
    by_commit: dict[str, set[str]] = {}
    for result in results:
        for row in result["models"].values():
            by_commit.setdefault(row["commit"], set()).add(result["log"])
    if len(by_commit) == 1:
        return next(iter(by_commit))
    return "; ".join(f"{commit}: {', '.join(sorted(logs))}" for commit, logs in by_commit.items())
