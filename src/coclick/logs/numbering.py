"""Assign integer ids to queries, documents, users and sessions, so that later steps sort and group integers.

Ids of queries and documents follow the byte order of their strings, so they do not depend on the order of
rows and files. Some ids may turn out unused, such as those with invalid rows only. `IdMap` closes these gaps
when the graph is written, and keeps the order.
"""

from __future__ import annotations

import numpy as np

from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.privacy import Privacy
from coclick.logs.user_hash import hash_names
from coclick.text.normalise import normalise_batch

TEXT_BLOCK_ROWS = 200_000  # strings held as Python objects at a time


def assign_query_ids(db: DuckDBSession, relation: str, privacy: Privacy) -> None:
    """Create `spelling` (raw, n rows, scrubbed, id of the query or null if blank) and `query` (id, text).

    `scrubbed` says which kinds of personal data were removed, as in `scrub.scrub_batch`.
    """
    db.execute(f"""
        CREATE TABLE raw_query AS SELECT query AS raw, count(*) AS n FROM ({relation})
            WHERE query IS NOT NULL GROUP BY query;
        CREATE TABLE normalised (raw_row BIGINT, text VARCHAR, scrubbed UTINYINT)""")
    _normalise(db, privacy)
    db.execute("""
        CREATE TABLE query AS
            SELECT (row_number() OVER (ORDER BY text) - 1)::INTEGER AS id, text
            FROM (SELECT DISTINCT coalesce(text, raw) AS text
                  FROM raw_query LEFT JOIN normalised ON raw_query.rowid = raw_row)
            WHERE text <> '' ORDER BY id;
        CREATE TABLE spelling AS
            SELECT raw, n, scrubbed, id FROM (
                SELECT raw, n, coalesce(scrubbed, 0) AS scrubbed, coalesce(text, raw) AS text
                FROM raw_query LEFT JOIN normalised ON raw_query.rowid = raw_row
            ) LEFT JOIN query USING (text);
        DROP TABLE raw_query; DROP TABLE normalised""")


def _normalise(db: DuckDBSession, privacy: Privacy) -> None:
    """Fill `normalised` with the queries that normalisation or scrubbing changes, block by block."""
    for batch in db.blocks("raw_query", "rowid AS raw_row, raw", max_rows=TEXT_BLOCK_ROWS):
        raw = batch["raw"].tolist()
        texts, scrubbed = privacy.scrub_batch(normalise_batch(raw))
        changed = np.array([a != b for a, b in zip(raw, texts, strict=True)], bool)
        if changed.any():
            new = {"raw_row": batch["raw_row"], "text": np.array(texts, object), "scrubbed": scrubbed}
            db.insert("normalised", {name: values[changed] for name, values in new.items()})


def assign_doc_ids(db: DuckDBSession, relation: str, has_documents: bool) -> None:
    """Create `doc` (id, name) of all documents in the log, and in DOCS if there is one."""
    db.execute(
        f"CREATE TABLE log_doc AS SELECT doc AS name FROM ({relation}) WHERE doc IS NOT NULL GROUP BY doc"
    )
    names = "SELECT name FROM log_doc UNION SELECT name FROM document" if has_documents else "FROM log_doc"
    db.execute(f"""
        CREATE TABLE doc AS SELECT (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id, name
        FROM ({names}) ORDER BY id""")


def assign_user_ids(db: DuckDBSession, relation: str) -> None:
    """Create `log_user` (id, name) in no particular order."""
    db.execute(f"""
        CREATE TABLE log_user AS SELECT (row_number() OVER () - 1)::INTEGER AS id, name
        FROM (SELECT usr AS name FROM ({relation}) WHERE usr IS NOT NULL GROUP BY usr)""")


def assign_session_ids(db: DuckDBSession, relation: str, key: str) -> None:
    """Create `log_session` (id, usr, name) in no particular order; `key` names a session of a user.

    A row without a user has a session only if it has an id.
    """
    db.execute(f"""
        CREATE TABLE log_session AS SELECT (row_number() OVER () - 1)::INTEGER AS id, usr, name
        FROM (SELECT DISTINCT usr, {key} AS name FROM ({relation})
              WHERE error IS NULL AND (usr IS NOT NULL OR session IS NOT NULL))""")


def hash_user_names(db: DuckDBSession, key: bytes) -> None:
    """Replace the names in `log_user` by digests. Call this once events hold ids instead of names."""
    db.execute("CREATE TABLE hashed_user (id INTEGER, name VARCHAR)")
    for batch in db.blocks("log_user", "id, name", max_rows=TEXT_BLOCK_ROWS):
        names = np.array(hash_names(batch["name"].tolist(), key), object)
        db.insert("hashed_user", {"id": batch["id"], "name": names})
    db.execute("DROP TABLE log_user; ALTER TABLE hashed_user RENAME TO log_user")
