"""`elevate.xml` of Solr's query elevation component.

From the reference guide of Solr 9 ("Query elevation component"): a `query` with its text, and a `doc` for
each document that comes first, or with `exclude="true"` does not come at all. XML has no control
characters, so texts with some are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from coclick.rules.formats.base import Rendered, group_by_left, keep_kinds
from coclick.rules.rule import Rule

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return the file."""
    left_out: Counter[str] = Counter()
    kept = []
    for rule in keep_kinds(rules, ("pin", "exclude"), left_out):
        if _NOT_XML.search(rule.left + rule.right):
            left_out[f"{rule.kind}: XML does not have its characters"] += 1
        else:
            kept.append(rule)
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', "<elevate>"]
    for left, group in group_by_left(kept).items():
        lines.append(f" <query text={quoteattr(left)}>")
        for rule in group:
            excluded = ' exclude="true"' if rule.kind == "exclude" else ""
            lines.append(f"  <doc id={quoteattr(rule.right)}{excluded} />")
        lines.append(" </query>")
    return Rendered(["\n".join([*lines, "</elevate>"]) + "\n"], len(kept), left_out)
