"""A file for the `synonyms_path` of OpenSearch's `synonym_graph` filter, in Solr's format.

From its documentation ("Synonym graph token filter", parameters `synonyms_path` and `format`). Solr reads
the same file in a `SynonymGraphFilter`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from coclick.rules.formats.base import Rendered, keep_kinds
from coclick.rules.formats.solr_syntax import KINDS, synonym_lines
from coclick.rules.rule import Rule


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return a line for each left side."""
    left_out: Counter[str] = Counter()
    kept = keep_kinds(rules, KINDS, left_out)
    lines = [f"{line}\n" for _, line in synonym_lines(kept)]
    return Rendered(["".join(["# written by coclick\n", *lines])], len(kept), left_out)
