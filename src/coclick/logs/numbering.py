"""Strings to numbers, once: every later step sorts and groups integers.

Numbers of queries and documents follow the order of their bytes, so the same log in any order of rows and
files gets the same numbers. Some may turn out unused (their only rows were bad): they are closed up in the
end, which keeps the order.
"""

from __future__ import annotations

import numpy as np

from coclick.logs.duckdb_session import Workspace
from coclick.text.normalise import normalise_batch

TEXTS_AT_ONCE = 200_000  # as Python objects


def number_queries(work: Workspace, relation: str) -> None:
    """Tables `spelling` (raw, its rows, the query's id or null if blank) and `query` (id, text)."""
    work.run(f"""
        CREATE TABLE typed AS SELECT query AS raw, count(*) AS n FROM ({relation})
            WHERE query IS NOT NULL GROUP BY query;
        CREATE TABLE normal (place BIGINT, text VARCHAR)""")
    _normalise(work)
    work.run("""
        CREATE TABLE query AS
            SELECT (row_number() OVER (ORDER BY text) - 1)::INTEGER AS id, text
            FROM (SELECT DISTINCT coalesce(text, raw) AS text
                  FROM typed LEFT JOIN normal ON typed.rowid = place)
            WHERE text <> '' ORDER BY id;
        CREATE TABLE spelling AS
            SELECT raw, n, id FROM (
                SELECT raw, n, coalesce(text, raw) AS text
                FROM typed LEFT JOIN normal ON typed.rowid = place
            ) LEFT JOIN query USING (text);
        DROP TABLE typed; DROP TABLE normal""")


def _normalise(work: Workspace) -> None:
    """Put into `normal` the spellings that are not yet in normal form, some thousand at a time."""
    for batch in work.blocks("typed", "rowid AS place, raw", most=TEXTS_AT_ONCE):
        raw = batch["raw"].tolist()
        texts = normalise_batch(raw)
        changed = np.array([a != b for a, b in zip(raw, texts, strict=True)], bool)
        if changed.any():
            texts_changed = np.array(texts, object)[changed]
            work.insert("normal", {"place": batch["place"][changed], "text": texts_changed})


def number_docs(work: Workspace, relation: str, documents: bool) -> None:
    """Table `doc` (id, name) over the log's documents, and those of DOCS."""
    work.run(f"CREATE TABLE log_doc AS SELECT DISTINCT doc AS name FROM ({relation}) WHERE doc IS NOT NULL")
    names = "SELECT name FROM log_doc UNION SELECT name FROM document" if documents else "FROM log_doc"
    work.run(f"""
        CREATE TABLE doc AS SELECT (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id, name
        FROM ({names}) ORDER BY id""")


def number_users(work: Workspace, relation: str) -> None:
    """Table `person` (id, name); their order means nothing."""
    work.run(f"""
        CREATE TABLE person AS SELECT (row_number() OVER () - 1)::INTEGER AS id, name
        FROM (SELECT DISTINCT usr AS name FROM ({relation}) WHERE usr IS NOT NULL)""")
