"""Fields of click logs and documents: which column names mean which field, and which a log must have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from coclick.errors import UserError

# Field → accepted column names, the canonical one first. Case, spaces and hyphens are ignored.
LOG_COLUMNS: dict[str, tuple[str, ...]] = {
    "query": (
        *("query", "q", "query_text", "search_query", "user_query", "search_term", "term", "keyword"),
        *("keywords", "search"),
    ),
    "doc": (
        *("doc", "doc_id", "docid", "docno", "document", "document_id", "item", "item_id", "product"),
        *("product_id", "asin", "sku", "object_id", "result", "url"),
    ),
    "clicks": ("clicks", "click_count", "n_clicks", "num_clicks", "count"),
    "impressions": ("impressions", "impression_count", "n_impressions", "shown", "views"),
    "users": ("users", "user_count", "n_users", "distinct_users"),
    "timestamp": (
        *("timestamp", "@timestamp", "time", "ts", "datetime", "event_time", "event_timestamp", "click_time"),
        *("clicked_at", "created_at", "query_time", "date"),
    ),
    "user": ("user", "user_id", "userid", "client_id", "visitor", "visitor_id", "anonid", "anonymous_id"),
    "session": ("session", "session_id", "sessionid", "visit_id"),
    "action": ("action", "action_name", "event", "event_type", "event_name"),
    "clicked": ("clicked", "is_clicked", "is_click", "was_clicked", "click"),  # whether a result was clicked
    "position": ("position", "pos", "rank", "ordinal"),
    "event_id": ("event_id", "eventid", "message_id", "insert_id", "uuid"),
    "dwell": ("dwell", "dwell_time", "dwell_seconds", "time_on_page"),  # seconds on the clicked document
    "results": ("results", "n_results", "num_results", "result_count", "total_results"),  # of a search
}
DOC_COLUMNS: dict[str, tuple[str, ...]] = {
    "doc": (*LOG_COLUMNS["doc"][:-1], "id", "_id"),
    "title": (
        *("title", "name", "doc_title", "product_title", "product_name", "item_name", "titel", "bezeichnung"),
        *("titre", "título", "titulo", "titolo", "название", "商品名", "标题"),
    ),
}
VIEW_COLUMNS: dict[str, tuple[str, ...]] = {
    "query": LOG_COLUMNS["query"],
    "doc": (*LOG_COLUMNS["doc"], "id", "_id"),
    "feature": ("feature", "feature_name", "tag", "category", "term", "word", "token", "name", "key"),
    "value": ("value", "weight", "score", "count", "n", "tf"),
}
CLICK_ACTIONS = (
    *("click", "clicks", "clicked", "item_click", "product_click", "result_click", "doc_click"),
    *("product_clicked", "select_item", "search_click", "list_click", "link_click"),
)
FIELDS = {
    "clicks": ("query", "doc", "clicks", "impressions", "users"),
    "events": (
        *("query", "doc", "timestamp", "user", "session", "action", "clicked", "position"),
        *("event_id", "dwell", "results"),
    ),
    "view": ("query", "doc", "feature", "value"),  # either query or doc
}
_MAX_NAME = 60  # characters of a column that an error shows
REQUIRED = {"clicks": ("query", "doc", "clicks"), "events": ("query", "doc")}


def canonical_name(name: str) -> str:
    """Return a column or action name in the form in which names are compared."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def find_field(name: str, table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS) -> str | None:
    """Return the field that a column of this name holds, or None."""
    return next((field for field, names in table.items() if canonical_name(name) in names), None)


def match_columns(
    columns: Sequence[str], table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS
) -> dict[str, int]:
    """Map each field to the index of its column. Names listed earlier in the table win."""
    names = [canonical_name(name) for name in columns]
    found = {}
    for field, aliases in table.items():
        match = next((alias for alias in aliases if alias in names), None)
        if match:
            found[field] = names.index(match)
    return found


def with_stand_ins(fields: Mapping[str, int]) -> dict[str, int]:
    """Return the columns of the fields, with those that stand in for others.

    In a log without users each session counts as a user. What was clicked or not is an action; a log of
    counts or with actions does not need it.
    """
    found = dict(fields)
    if "session" in found:
        found.setdefault("user", found["session"])
    if "clicked" in found and found.keys() & {"action", "clicks"}:
        del found["clicked"]
    elif "clicked" in found:
        found["action"] = found["clicked"]
    return found


def missing_column_error(field: str, format: str, columns: Sequence[str], where: str) -> UserError:
    """Return the error for a table of clicks or events that lacks a required column."""
    required = ", ".join(REQUIRED[format])
    optional = ", ".join(name for name in FIELDS[format] if name not in REQUIRED[format])
    hint = (
        f"name the column: --columns {field}=NAME (in Python: columns={{{field!r}: …}}); coclick check "
        f"guesses it; if the file has no header, name all in order: --columns {required.replace(' ', '')}"
    )
    if not columns:
        hint = "none of its first lines is a whole JSON record; if the file is cut off, copy it again"
    elif any("\0" in name for name in columns):
        hint = (
            "its first line has NUL bytes, so it is not a text file: export the log as text, JSON or Parquet"
        )
    return UserError(
        f"no column for {field!r}: a log of {format} needs {required} and may have {optional}",
        where=f"{where}, whose columns are {list_columns(columns)}",
        hint=hint,
    )


def list_columns(columns: Sequence[str]) -> str:
    """Return the first columns of a table for an error; a file that is no table has endless ones."""
    shown = (name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…" for name in columns[:20])
    return ", ".join(map(repr, shown)) or "none"


def rename_hint(field: str, columns: Sequence[str]) -> str:
    """Return the hint for a table in memory that lacks a column."""
    unknown = [name for name in columns if find_field(name) is None] or [*columns, "…"]
    plural = {"query": "queries", "doc": "documents"}.get(field, field)
    return f"rename the column that holds the {plural}: frame.rename(columns={{{unknown[0]!r}: {field!r}}})"
