"""The report of a build: what each column was used as, what was ignored, what was lost.

It is made from the statistics of a graph alone, so that `build`, `check` and `info` say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coclick.errors import counted
from coclick.logs.id_forms import describe_form

WARN_SHARE = 0.05  # of rows or clicked documents; above it a loss is a warning
_MAX_NAMED = 8
_OLDEST = "1980"  # a log that ends earlier has other numbers than seconds since 1970
# What a log without a field cannot do.
_COSTS = {
    "timestamp": "no times: no sessions, no split by time, no recency",
    "user": "no users: no sessions, no --min-users, no search for bots",
    "position": "no positions: no skip pairs, no correction of position bias",
}


@dataclass
class BuildReport:
    """Lines for people. `warnings` are losses that nobody should miss."""

    used: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the lines by section."""
        return {name: list(lines) for name, lines in vars(self).items()}


def build_report(stats: Mapping[str, Any]) -> BuildReport:
    """Return the report of a build with these statistics."""
    report = BuildReport(assumed=list(stats.get("assumed", ())))
    for file in stats.get("columns", []):
        used = ", ".join(_use(one["name"], one["field"]) for one in file["columns"] if one["field"])
        report.used.append(f"{file['file']}: {used or 'nothing'}")
        ignored = [one for one in file["columns"] if not one["field"]]
        if ignored:
            names = [f"{one['name']} (looks like {one['looks_like']})" for one in ignored]
            report.ignored.append(f"{file['file']}: {_first_of(names)}")
    for file in stats.get("docs_columns", []):
        fields = [_use(one["name"], one["field"]) for one in file["columns"] if one["field"]]
        report.used.append(f"{file['file']}: {_first_of(fields)}")
        if unread := [one["name"] for one in file["columns"] if not one["field"]]:
            report.ignored.append(f"{file['file']}: {_first_of(unread)} (not text)")
    for file, encoding in stats.get("encodings", {}).items():
        if encoding != "utf-8":
            report.used.append(f"{file}: read as {encoding}")
    if others := stats.get("other_actions"):
        named = ", ".join(f"{name} {count:,}" for name, count in list(others.items())[:_MAX_NAMED])
        report.ignored.append(f"actions that do not count: {named} (see --actions)")
    if "fields" in stats and stats.get("actions") is not None:
        report.missing += [cost for name, cost in _COSTS.items() if name not in stats["fields"]]
        if not stats.get("has_impressions"):
            report.missing.append("no impressions: no click rates, no skip pairs")
    _losses(stats, report)
    _notes(stats, report)
    return report


def _first_of(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _MAX_NAMED} more"] if len(names) > _MAX_NAMED else []
    return ", ".join([*names[:_MAX_NAMED], *more])


def _use(column: str, field: str) -> str:
    return column if column == field else f"{column} as {field}"


def _losses(stats: Mapping[str, Any], report: BuildReport) -> None:
    rows, rejected = stats.get("rows", 0), stats.get("rejected", {})
    for reason, count in rejected.items():
        report.lost.append(f"{counted(count, 'row')}: {reason}")
    if (n_lost := sum(rejected.values())) > WARN_SHARE * rows:
        reason = next(iter(rejected))
        report.warnings.append(
            f"{n_lost / rows:.0%} of the rows were rejected ({n_lost:,} of {rows:,}), most often: {reason}"
        )
    for file, hint in stats.get("encoding_hints", {}).items():
        report.lost.append(f"lines of {file} that are not UTF-8: {hint}")
    if scrubbed := stats.get("scrubbed"):
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in scrubbed.items())
        report.lost.append(f"personal data in queries, by rows: {kinds}")
    if below := stats.get("pairs_below_thresholds"):
        thresholds = f"--min-clicks {stats['min_clicks']:g} or --min-users {stats['min_users']}"
        report.lost.append(f"{counted(below, 'clicked pair')} below {thresholds}")
    missing, known = stats.get("docs_missing", 0), stats.get("docs_in_log", 0)
    if missing:
        report.lost.append(f"texts of {counted(missing, 'document')} of the log that DOCS does not have")
    if missing > WARN_SHARE * known:
        examples = ", ".join(map(repr, stats.get("missing_examples", ())))
        described = ", ".join(map(repr, stats.get("described_examples", ())))
        report.warnings.append(
            f"DOCS has only {known - missing:,} of the {counted(known, 'document')} in the log; "
            f"it lacks {examples} and has {described}"
            + (f"; {describe_form(other)}" if (other := stats.get("docs_other_form")) else "")
        )
    docs_rejected = stats.get("docs_rejected", {})
    for reason, count in docs_rejected.items():
        report.lost.append(f"{counted(count, 'row')} of DOCS: {reason}")
    n_docs_lost, docs_rows = sum(docs_rejected.values()), stats.get("docs_rows", 0)
    if docs_rows and n_docs_lost > WARN_SHARE * docs_rows:
        report.warnings.append(f"{n_docs_lost:,} of {docs_rows:,} rows of DOCS were rejected")


def _notes(stats: Mapping[str, Any], report: BuildReport) -> None:
    found = stats.get("duplicates", {})
    if found.get("by_id"):
        report.notes.append(f"{counted(found['by_id'], 'event')} with the id of another one, counted once")
    if found.get("not_ids"):
        ids, rows = found["not_ids"]
        report.notes.append(f"event_id has {ids:,} values in {rows:,} rows, so it was not taken as an id")
    if found.get("dropped"):
        report.notes.append(f"{counted(found['dropped'], 'row')} equal to another one, dropped")
    elif found.get("exact"):
        about = "about " if found.get("estimated") else ""
        rows = counted(found["exact"], "row")
        report.notes.append(f"{about}{rows} equal to another one in all fields; see --duplicates drop")
    if anonymous := stats.get("without_user"):
        alone = stats.get("without_session", 0)
        sessions = f", and {counted(alone, 'event')} in no session" if alone else ""
        report.notes.append(
            f"{counted(anonymous, 'event')} without a user: their clicks count, but as no user{sessions}"
        )
    if outside := stats.get("outside_span"):
        report.notes.append(f"{counted(outside, 'event')} outside --since and --until, not counted")
    last = stats.get("last")
    if last and last < _OLDEST and "time_format" not in stats:
        report.warnings.append(
            f"the last event is of {last[:10]}: if the times are numbers of a spreadsheet, add --time-format "
            "excel; if they count from some start, --time-format s (or ms)"
        )
    if future := stats.get("future"):
        report.warnings.append(f"{counted(future, 'event')} in the future: check the clock and --timezone")
    if gaps := stats.get("gaps"):
        spans = ", ".join(first if first == last else f"{first} to {last}" for first, last in gaps[:3])
        more = f" and {len(gaps) - 3} more gaps" if len(gaps) > 3 else ""
        report.notes.append(f"no events on {spans}{more}")
    bots = stats.get("bots", {})
    if bots.get("n_users"):
        done = "dropped" if bots.get("policy") == "drop" else "kept; see --bots drop"
        events = counted(bots["n_events"], "event")
        report.notes.append(f"{counted(bots['n_users'], 'user')} with {events} look like bots, {done}")
