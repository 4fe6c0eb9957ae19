"""Bodies of Elasticsearch's query rules: `PUT _query_rules/SET` with each file.

From its documentation ("Create or update a query ruleset", 8.17): a set has at most 100 rules unless the
cluster allows more; a `pinned` or `exclude` rule has criteria and the ids of documents. The query passes
the text as `query_string` in `match_criteria`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from coclick.rules.formats.base import Rendered, group_by_left, keep_kinds, split
from coclick.rules.rule import Rule

MAX_RULES = 100  # of a set
MAX_ID_BYTES = 512


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return a body for each set."""
    left_out: Counter[str] = Counter()
    kept = []
    for rule in keep_kinds(rules, ("pin", "exclude"), left_out):
        if len(rule.right.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
            left_out[f"{rule.kind}: Elasticsearch has no ids of that length"] += 1
        else:
            kept.append(rule)
    found = [
        _query_rule(left, group, kind)
        for kind in ("pin", "exclude")
        for left, group in group_by_left(rule for rule in kept if rule.kind == kind).items()
    ]
    bodies = [{"rules": part} for part in split(found, MAX_RULES)]
    texts = [json.dumps(body, ensure_ascii=False, indent=1) + "\n" for body in bodies]
    return Rendered(texts, len(kept), left_out)


def _query_rule(left: str, group: list[Rule], kind: str) -> dict[str, object]:
    return {
        "rule_id": group[0].id,
        "type": "pinned" if kind == "pin" else "exclude",
        "criteria": [{"type": "exact", "metadata": "query_string", "values": [left]}],
        "actions": {"ids": [rule.right for rule in group]},
    }
