"""Rules and synonyms of Algolia: `rules` is the body of `rules/batch`, `synonyms` that of `synonyms/batch`.

From its API reference ("Create or update rules", "Create or replace synonyms"): a condition has a pattern
and an anchoring; the characters `* { } : \\` of a pattern are escaped by a backslash; `edits` replace
or remove words, `promote` pins objects; a `oneWaySynonym` expands words and keeps them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from coclick.rules.formats.base import Rendered
from coclick.rules.rule import Rule

_SPECIAL = re.compile(r"[*{}:\\]")


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return one file with both bodies."""
    body: dict[str, list[Any]] = {"rules": [], "synonyms": []}
    for rule in rules:
        if rule.kind == "synonym":
            words = {"input": rule.left, "synonyms": [rule.right]}
            body["synonyms"].append({"objectID": rule.id, "type": "oneWaySynonym", **words})
        else:
            body["rules"].append(_rule(rule))
    return Rendered([json.dumps(body, ensure_ascii=False, indent=1) + "\n"], len(rules))


def _rule(rule: Rule) -> dict[str, Any]:
    consequence: dict[str, Any]
    if rule.kind == "correction":
        edit = {"type": "replace", "delete": rule.left, "insert": rule.right}
        consequence = {"params": {"query": {"edits": [edit]}}}
    elif rule.kind == "delete":
        consequence = {"params": {"query": {"edits": [{"type": "remove", "delete": rule.left}]}}}
    elif rule.kind == "rewrite":
        consequence = {"params": {"query": rule.right}}
    elif rule.kind == "exclude":
        consequence = {"hide": [{"objectID": rule.right}]}
    else:
        consequence = {"promote": [{"objectID": rule.right, "position": 0}]}
    pattern = _SPECIAL.sub(r"\\\g<0>", rule.left)
    inside = rule.kind in ("correction", "delete")
    condition = {"pattern": pattern, "anchoring": "contains" if inside else "is"}
    return {
        "objectID": rule.id,
        "description": f"coclick: {rule.kind}",
        "conditions": [condition],
        "consequence": consequence,
    }
