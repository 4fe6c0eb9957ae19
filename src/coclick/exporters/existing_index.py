"""`ExistingIndex`: an index or table of the user, to which an export adds its vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coclick.errors import UserError

INTO_ENGINES = ("elasticsearch", "opensearch", "pgvector", "qdrant", "solr", "vespa")
_DEFAULT_IDS = {
    "elasticsearch": "_id",
    "opensearch": "_id",
    "qdrant": "_id",
    "solr": "id",
    "vespa": "documentid",
}
MISSING_IDS = "missing-ids.txt"  # filled by the load script
_PART = r"[^\W\d][\w-]*"
_TABLE = re.compile(rf"({_PART}\.)?{_PART}")
_COLUMN = re.compile(_PART)
_INDEX = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_COLLECTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_DOCUMENT_TYPE = re.compile(r"(?:[A-Za-z0-9_-]+\.)?[A-Za-z_][A-Za-z0-9_]*")  # with or without namespace
_NAMES = {
    "pgvector": (_TABLE, "the name of a table"),
    "elasticsearch": (_INDEX, "the name of an index"),
    "opensearch": (_INDEX, "the name of an index"),
    "qdrant": (_COLLECTION, "the name of a collection"),
    "solr": (_COLLECTION, "the name of a collection"),
    "vespa": (_DOCUMENT_TYPE, "the name of a document type"),
}
_FIELD = re.compile(r"[\w@-]+(?:\.[\w@-]+)*")
_WEIGHTED = re.compile(rf"({_FIELD.pattern})(?:\^([0-9]+(?:\.[0-9]+)?))?")


@dataclass(frozen=True)
class ExistingIndex:
    """An index or table, the field with the document ids, and the fields that hybrid queries search.

    Names have no quotes, spaces and dollars, so they can be part of SQL, URLs and scripts.
    """

    name: str
    id_field: str
    text_fields: tuple[str, ...] = ()  # with weights, such as `title^3`

    @classmethod
    def parse(cls, engine: str, into: str, id_field: str | None, hybrid: str | None) -> ExistingIndex:
        """Check the names that a user gave."""
        if engine not in INTO_ENGINES:
            raise UserError(
                f"the export to {engine} cannot add vectors to an index that exists",
                hint=f"--into works with {', '.join(INTO_ENGINES)}; without it, an index is made",
            )
        sql = engine == "pgvector"
        if engine in ("pgvector", "qdrant") and hybrid is not None:
            raise UserError(
                f"--hybrid works with elasticsearch, opensearch, solr and vespa, not with {engine}"
            )
        if sql and id_field is None:
            raise UserError(f"which column of {into} has the document ids?", hint="name it with --id COLUMN")
        id_field = _DEFAULT_IDS[engine] if id_field is None else id_field
        _check(into, *_NAMES[engine])
        _check(id_field, _COLUMN if sql else _FIELD, "the name of the field with the document ids")
        return cls(into, id_field, () if hybrid is None else _text_fields(hybrid))


def _check(name: str, pattern: re.Pattern[str], what: str) -> None:
    too_long = any(len(part.encode()) > 63 for part in name.split(".")) and pattern in (_TABLE, _COLUMN)
    if not pattern.fullmatch(name) or too_long or len(name.encode()) > 255:
        raise UserError(f"{name!r:.80} cannot be {what}", hint="use letters, digits, _ and -")


def _text_fields(hybrid: str) -> tuple[str, ...]:
    fields = [field.strip() for field in hybrid.split(",")]
    for field in fields:
        found = _WEIGHTED.fullmatch(field)
        if not found or (found[2] is not None and float(found[2]) == 0):
            raise UserError(
                f"--hybrid: {field!r:.80} is not a field with a weight",
                hint="write fields and weights above 0 as in --hybrid 'title^3,body'",
            )
    return tuple(fields)
