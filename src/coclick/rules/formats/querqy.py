"""`rules.txt` of Querqy's common rules rewriter, for Solr, Elasticsearch and OpenSearch.

From its documentation ("Common rules rewriter") and parser: an input ends with `=>`; quotes around it
match whole queries; a backslash escapes `\\ " * #`; a term with a colon names a field, and there is no
escape for that; a query behind `*` is in the engine's own syntax, in which `%%` marks parameters. What
cannot be expressed is left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from coclick.rules.formats.base import Rendered
from coclick.rules.rule import Rule

BOOST = 1000  # of a pinned document, and negative of an excluded one
_OF_DOCUMENTS = ("pin", "exclude")
_SPECIAL = re.compile(r'[\\"*#]')
_UNSAFE = re.compile(r"\S:\S|=>|<<|^def |^[@{]|[\x00-\x1f\x7f\x85\u2028\u2029]")
_UNSAFE_ID = re.compile(r'["\\#%\x00-\x1f\x7f\x85\u2028\u2029]')


def render(rules: Sequence[Rule], id_field: str) -> Rendered:
    """Return the rules by input; `id_field` has the document ids: `_id` in Elasticsearch and OpenSearch."""
    left_out: Counter[str] = Counter()
    inputs: dict[str, list[str]] = {}
    written = 0
    for rule in rules:
        if _UNSAFE.search(rule.left) or (rule.kind not in _OF_DOCUMENTS and _UNSAFE.search(rule.right)):
            left_out[f"{rule.kind}: Querqy cannot express its characters"] += 1
        elif rule.kind in _OF_DOCUMENTS and _UNSAFE_ID.search(rule.right):
            left_out[f"{rule.kind}: Querqy cannot express the id"] += 1
        else:
            escaped = _escape(rule.left)
            whole = rule.kind in (*_OF_DOCUMENTS, "rewrite")
            inputs.setdefault(f'"{escaped}"' if whole else escaped, []).append(_instruction(rule, id_field))
            written += 1
    lines = [
        f"{text} =>\n" + "".join(f"  {instruction}\n" for instruction in dict.fromkeys(instructions)) + "\n"
        for text, instructions in inputs.items()
    ]
    return Rendered(["".join(["# written by coclick\n\n", *lines])], written, left_out)


def _instruction(rule: Rule, id_field: str) -> str:
    if rule.kind == "delete":  # of a query that has other words: Querqy keeps the last one
        return f"DELETE: {_escape(rule.left)}"
    if rule.kind not in _OF_DOCUMENTS:
        return f"SYNONYM: {_escape(rule.right)}"
    if id_field == "_id":
        query = json.dumps({"term": {"_id": rule.right}}, ensure_ascii=False)
    else:
        query = f'{id_field}:"{rule.right}"'
    return f"{'UP' if rule.kind == 'pin' else 'DOWN'}({BOOST}): * {query}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
