"""The review file: a table of rules with their evidence, and what a person decided about each.

It is tab-separated, for a spreadsheet or an editor. A person fills in `decision` (accept or reject) and
`note`; the rest is written anew by each run. Decisions stay, also of rules that a later log does not
support any more.
"""

from __future__ import annotations

import csv
import fcntl
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from coclick.errors import UserError, check_path
from coclick.rules.rule import CLICKS, FOLLOW_UPS, KINDS, Effect, Rule
from coclick.storage.directories import write_file

DECISIONS = ("accept", "reject", "")
COLUMNS = (
    "rule",
    "kind",
    "left",
    "right",
    "title",
    "evidence",
    "clicks",
    "share",
    "interval",
    "effect",
    "decision",
    "note",
)
_FIRST_COLUMNS = tuple(name for name in COLUMNS if name != "evidence")  # of files before follow-ups
_FORMULA = "=+-@"  # a spreadsheet would run a cell that starts so
_INTERVAL = re.compile(r"([01]\.\d+) to ([01]\.\d+)")
_EFFECT = re.compile(r"([01]\.\d+) to ([01]\.\d+) in (\d+)")


@dataclass(frozen=True)
class ReviewedRule:
    """A rule, and what a person decided: `accept`, `reject`, or nothing yet."""

    rule: Rule
    decision: str = ""
    note: str = ""


def load_review(path: str | Path) -> list[ReviewedRule]:
    """Read a review file.

    Raises an error with the line number for other columns, a rule whose id does not belong to its text, a
    rule that is there twice, or an unknown decision.
    """
    path = check_path(path, "path")
    try:
        text = path.read_bytes().decode("utf-8-sig")  # line breaks stay as they are
    except OSError as error:
        raise UserError(f"the review file cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        hint = "save it as tab-separated text in UTF-8"
        raise UserError("the review file is not UTF-8 text", where=str(path), hint=hint) from None
    rows = _rows(text, path)
    line, head = next(rows, (1, []))
    if tuple(head) not in (COLUMNS, _FIRST_COLUMNS):
        hint = f"the columns are, separated by tabs: {', '.join(COLUMNS)}"
        raise UserError("this is not a review file of coclick", where=f"{path}, line {line}", hint=hint)
    found: dict[str, tuple[int, ReviewedRule]] = {}
    for line, cells in rows:
        reviewed = _read_row(head, cells, f"{path}, line {line}")
        if reviewed.rule.id in found:
            hint = f"the first is in line {found[reviewed.rule.id][0]}; keep one of them"
            raise UserError("this rule is in the file twice", where=f"{path}, line {line}", hint=hint)
        found[reviewed.rule.id] = line, reviewed
    return [reviewed for _, reviewed in found.values()]


def save_review(path: str | Path, reviewed: Iterable[ReviewedRule]) -> None:
    """Write a review file; the old one stays until the new one is complete."""
    rows = [COLUMNS, *map(_cells, reviewed)]
    write_file(check_path(path, "path"), ("\t".join(map(_quote, row)) + "\n" for row in rows))


def merge_review(old: Sequence[ReviewedRule], rules: Sequence[Rule]) -> list[ReviewedRule]:
    """Return the rules of a new run with the decisions of a review.

    Rules that the run does not have are kept if there is a decision or a note about them, at the end.
    """
    decided = {reviewed.rule.id: reviewed for reviewed in old}
    current = {rule.id for rule in rules}
    merged = [
        replace(decided[rule.id], rule=rule) if rule.id in decided else ReviewedRule(rule) for rule in rules
    ]
    vanished = (one for one in old if one.rule.id not in current and (one.decision or one.note))
    return merged + list(vanished)


def update_review(path: str | Path, rules: Sequence[Rule]) -> list[ReviewedRule]:
    """Merge rules into a review file, which is created if there is none; return all of them."""
    path = check_path(path, "path")
    with _lock(path):
        old = load_review(path) if path.exists() else []
        merged = merge_review(old, rules)
        save_review(path, merged)
    return merged


def decide(path: str | Path, rule_id: str, decision: str, note: str | None = None) -> ReviewedRule:
    """Record the decision about a rule of a review file: `accept`, `reject`, or the empty string for none.

    The note stays as it is unless one is given. Returns the rule as it is recorded.
    """
    if decision not in DECISIONS:
        raise UserError(f"a decision cannot be {decision!r}", hint="accept, reject, or nothing")
    path = check_path(path, "path")
    with _lock(path):
        reviewed = load_review(path)
        for place, one in enumerate(reviewed):
            if one.rule.id == rule_id:
                reviewed[place] = replace(one, decision=decision, note=one.note if note is None else note)
                save_review(path, reviewed)
                return reviewed[place]
    raise UserError(f"there is no rule {rule_id!r:.40} to decide about", where=str(path))


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row that is not blank."""
    rows = csv.reader(io.StringIO(text, newline=""), dialect="excel-tab", strict=True)
    while True:
        line = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise UserError(f"cannot split the row: {error}", where=f"{path}, line {line}") from None
        if any(cells):
            yield line, cells


def _read_row(head: list[str], cells: list[str], where: str) -> ReviewedRule:
    if len(cells) != len(head):
        hint = f"each row has {len(head)} cells, separated by tabs"
        raise UserError(f"the row has {len(cells)} cells", where=where, hint=hint)
    row = {"evidence": CLICKS} | dict(zip(head, cells, strict=True))
    left, right, title, note = (_unescape(row[name]) for name in ("left", "right", "title", "note"))
    decision = row["decision"].strip().lower()
    if decision not in DECISIONS:
        raise UserError(
            f"unknown decision {row['decision']!r:.40}", where=where, hint="accept, reject, or nothing"
        )
    interval, effect = _INTERVAL.fullmatch(row["interval"]), _EFFECT.fullmatch(row["effect"])
    try:
        clicks, share = float(row["clicks"]), float(row["share"])
    except ValueError:
        interval = None
    known = row["kind"] in KINDS and row["evidence"] in (CLICKS, FOLLOW_UPS)
    if interval is None or (row["effect"] and effect is None) or not known:
        hint = "change only the columns decision and note"
        raise UserError("the evidence of the rule cannot be read", where=where, hint=hint)
    measured = Effect(float(effect[1]), float(effect[2]), int(effect[3])) if effect else None
    ends = float(interval[1]), float(interval[2])
    rule = Rule(row["kind"], left, right, clicks, share, ends, title, measured, row["evidence"])
    if rule.id != row["rule"]:
        raise UserError(
            f"{row['rule']!r:.40} is not the id of this rule: coclick did not propose it",
            where=where,
            hint="change only the columns decision and note; keep rules of your own in a file of your own",
        )
    return ReviewedRule(rule, decision, note)


def _cells(reviewed: ReviewedRule) -> list[str]:
    rule, effect = reviewed.rule, reviewed.rule.effect
    return [
        rule.id,
        rule.kind,
        *map(_escape, (rule.left, rule.right, rule.title)),
        rule.evidence,
        f"{rule.clicks:.10g}",
        f"{rule.share:.3f}",
        f"{rule.interval[0]:.3f} to {rule.interval[1]:.3f}",
        "" if effect is None else f"{effect.before:.3f} to {effect.after:.3f} in {effect.queries}",
        reviewed.decision,
        _escape(reviewed.note),
    ]


def _quote(cell: str) -> str:
    """Put quotes around a cell that has tabs, line breaks or quotes, as CSV files do."""
    return '"' + cell.replace('"', '""') + '"' if any(character in cell for character in '\t\n\r"') else cell


def _escape(text: str) -> str:
    """Put an apostrophe in front of what a spreadsheet would run, or take for such an apostrophe."""
    return f"'{text}" if text[:1] and (text[0] in _FORMULA or _is_escaped(text)) else text


def _unescape(text: str) -> str:
    return text[1:] if _is_escaped(text) else text


def _is_escaped(text: str) -> bool:
    return len(text) > 1 and text[0] == "'" and text[1] in _FORMULA + "'"


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Wait until no other thread or process changes a review file in this directory."""
    try:
        folder = os.open(path.absolute().parent, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"the review file cannot be written: {error.strerror}", where=str(path)) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
