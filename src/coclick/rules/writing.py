"""Write rules for a search engine: those that a person accepted, or those that pass the thresholds."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from coclick.errors import UserError, check_path
from coclick.rules.formats.base import Rendered
from coclick.rules.review import update_review
from coclick.rules.rule import KINDS, Rule
from coclick.storage.directories import check_file, write_file

FORMATS = (
    "querqy",
    "es-synonyms",
    "opensearch-synonyms",
    "solr-synonyms",
    "es-query-rules",
    "elevate",
    "algolia",
)
_MIN_QUERIES = 5  # held-out queries from which a loss counts: fewer can be chance
_FIELD = re.compile(r"[A-Za-z_][\w.-]*")


def write_rules(
    rules: Sequence[Rule],
    to: str,
    path: str | Path,
    *,
    review: str | Path | None = None,
    id_field: str = "id",
    force: bool = False,
) -> dict[str, Any]:
    """Write rules for a search engine.

    Parameters:
        rules: from `find_rules`.
        to: one of querqy, es-synonyms, opensearch-synonyms, solr-synonyms, es-query-rules, elevate, algolia.
        path: the file to write. Where an engine limits the rules of a set, further sets are beside it:
            `rules-2.json`.
        review: a review file. It is created or brought up to date, and only rules that it accepts are
            written. Without it, all rules are written but those that make held-out queries worse, pins that
            change nothing, and deletes and excludes whose effect was not measured.
        id_field: the field of document ids, for pins of Querqy: `_id` for Elasticsearch and OpenSearch.
        force: replace existing files.

    Returns the number of rules found, of those written by kind, of decisions, and what was left out and why.
    """
    path = check_path(path, "path")
    check_format(to, id_field)
    check_file(path, force=force)
    stats: dict[str, Any] = {"format": to, "found": _by_kind(rules)}
    if review is None:
        chosen = [rule for rule in rules if not _is_unhelpful(rule)]
        stats["unhelpful"] = len(rules) - len(chosen)
    else:
        reviewed = update_review(review, rules)
        chosen = [one.rule for one in reviewed if one.decision == "accept"]
        stats["decisions"] = {
            name: sum(one.decision == decision for one in reviewed)
            for name, decision in (("accepted", "accept"), ("rejected", "reject"), ("undecided", ""))
        }
    module = importlib.import_module(f"coclick.rules.formats.{to.replace('-', '_')}")
    rendered: Rendered = module.render(chosen, id_field)
    files = _write_parts(path, rendered.parts, force)
    stats |= {"written": rendered.written, "left_out": dict(rendered.left_out)}
    return stats | {"files": [str(file) for file in files]}


def check_format(to: str, id_field: str = "id") -> None:
    """Raise if there is no such format or field. Call this before long work."""
    if to not in FORMATS:
        raise UserError(f"unknown format {to!r}", hint=f"formats: {', '.join(FORMATS)}")
    if not _FIELD.fullmatch(id_field):
        raise UserError(f"{id_field!r} cannot be the name of a field", hint="use letters, digits, _, - and .")


def _is_unhelpful(rule: Rule) -> bool:
    effect = rule.effect
    if effect is None:
        return rule.kind in ("delete", "exclude")  # too strong a measure for what was not replayed
    harms = effect.queries >= _MIN_QUERIES and effect.change < 0
    return harms or (rule.kind == "pin" and effect.change <= 0)


def _by_kind(rules: Sequence[Rule]) -> dict[str, int]:
    return {kind: sum(rule.kind == kind for rule in rules) for kind in KINDS}


def _write_parts(path: Path, parts: Sequence[str], force: bool) -> list[Path]:
    """Write the first part to the path and others beside it; remove parts of an earlier, longer run."""
    files = [path, *(_part(path, number) for number in range(2, len(parts) + 1))]
    for file in files:
        check_file(file, force=force)
    for file, text in zip(files, parts, strict=True):
        write_file(file, text)
    for number in count(len(parts) + 1) if force else ():
        if not (old := _part(path, number)).exists():
            break
        old.unlink()
    return files


def _part(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")
