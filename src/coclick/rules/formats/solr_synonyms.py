"""A body for Solr's managed synonyms: `PUT /solr/COLLECTION/schema/analysis/synonyms/NAME`.

From the reference guide of Solr 9 ("Managed resources: managing synonyms"): a JSON object from a term to
the list of terms that replace it. Nothing is escaped but by JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from coclick.rules.formats.base import Rendered, group_by_left, keep_kinds, right_sides
from coclick.rules.formats.solr_syntax import KINDS
from coclick.rules.rule import Rule


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return the mapping."""
    left_out: Counter[str] = Counter()
    kept = keep_kinds(rules, KINDS, left_out)
    mapping = {left: right_sides(left, group) for left, group in group_by_left(kept).items()}
    return Rendered([json.dumps(mapping, ensure_ascii=False, indent=1) + "\n"], len(kept), left_out)
