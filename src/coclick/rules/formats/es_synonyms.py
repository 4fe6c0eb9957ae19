"""Bodies of Elasticsearch's synonyms API: `PUT _synonyms/SET` with each file.

From its documentation ("Create or update a synonym set", 8.18): a set has at most 10,000 rules, each a
line of Solr's format with an id.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from coclick.rules.formats.base import Rendered, keep_kinds, split
from coclick.rules.formats.solr_syntax import KINDS, synonym_lines
from coclick.rules.rule import Rule

MAX_RULES = 10_000  # of a set


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return a body for each set."""
    left_out: Counter[str] = Counter()
    kept = keep_kinds(rules, KINDS, left_out)
    lines = [{"id": rule.id, "synonyms": line} for rule, line in synonym_lines(kept)]
    bodies = [{"synonyms_set": part} for part in split(lines, MAX_RULES)]
    texts = [json.dumps(body, ensure_ascii=False, indent=1) + "\n" for body in bodies]
    return Rendered(texts, len(kept), left_out)
