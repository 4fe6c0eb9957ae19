"""Lines of Solr's synonym format, which Elasticsearch and OpenSearch read as well.

From the documentation of Lucene's `SolrSynonymParser`: `left => a, b` replaces left by a and b; a
backslash makes the character behind it plain; a line that starts with # is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coclick.rules.formats.base import group_by_left, right_sides
from coclick.rules.rule import Rule

KINDS = ("synonym", "correction")
_SPECIAL = re.compile(r"[\\,=>#]")
_BREAKS = re.compile(r"\s+")


def synonym_lines(rules: Sequence[Rule]) -> Iterator[tuple[Rule, str]]:
    """Yield a line for each left side, with its first rule."""
    for left, group in group_by_left(rules).items():
        rights = ", ".join(map(_escape, right_sides(left, group)))
        yield group[0], f"{_escape(left)} => {rights}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", _BREAKS.sub(" ", text).strip())
