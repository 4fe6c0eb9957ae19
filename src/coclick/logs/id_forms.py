"""Find out why documents of a log are not in DOCS: their ids may be written in another way there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coclick.logs.duckdb_session import DuckDBSession

# What differs → SQL that writes ids without it.
_FORMS = {
    "upper and lower case": "lower({id})",
    "leading zeros": "regexp_replace({id}, '^0+', '')",
    "a '.0' at the end": r"regexp_replace({id}, '\.0$', '')",
    "blanks and quotes around them": """trim({id}, ' ''"')""",
    "a slash at the end": "regexp_replace({id}, '/$', '')",
    "what is before the last / : = or #": "regexp_extract({id}, '([^/:=#]+)/?$', 1)",
}


def other_form(db: DuckDBSession, missing: str, documents: str = "document") -> dict[str, Any]:
    """Return in what most ids of `missing` differ from ids of DOCS, how many do, and an example of both.

    Both are relations with a column `name`. Empty if no simple difference explains any of them.
    """
    best: dict[str, Any] = {}
    for differs, form in _FORMS.items():
        logged, described = (
            f"""SELECT {form.format(id="name")} AS form, min(name) AS name, count(*) AS n
                FROM {rows} GROUP BY form"""
            for rows in (missing, documents)
        )
        [(count, in_log, in_docs)] = db.fetchall(f"""
            SELECT coalesce(sum(log.n), 0)::BIGINT, min(log.name), arg_min(docs.name, log.name)
            FROM ({logged}) log JOIN ({described}) docs USING (form) WHERE form <> ''""")
        if count > best.get("count", 0):
            best = {"differs": differs, "count": count, "examples": [in_log, in_docs]}
    return best


def describe_form(found: Mapping[str, Any]) -> str:
    """Return the sentence for people about what `other_form` found."""
    in_log, in_docs = found["examples"]
    return (
        f"{found['count']:,} of them only differ in {found['differs']}: {in_log!r} in the log is {in_docs!r} "
        "in DOCS"
    )
