"""What a build keeps of its users: scrubbed texts, hashed user ids, and nothing that fewer than K users did.

`min_users = K` holds for everything that leaves the build:

- an edge needs K users who clicked it, and a query needs an edge, so K users asked it;
- a pair needs K users who saw or clicked it; if fewer than K clicked it, its clicks are not counted;
- a skip needs K users who made it; a spelling needs K users who typed it;
- a row without a user counts as no user;
- a rejected row keeps its query and document only if the graph has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError, check_path
from coclick.logs import aggregation_sql, scrub, user_hash
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.write_arrays import IdMap


@dataclass(frozen=True)
class Privacy:
    """The privacy options of a build. The key is left out of the repr: it must not get into messages."""

    scrub: str | None = None
    min_users: int = 1
    key: bytes | None = field(default=None, repr=False)  # for user ids; None keeps them as they are

    @classmethod
    def from_options(
        cls, scrub_rules: str | None, min_users: int, hash_users: bool, key_file: str | Path | None
    ) -> Privacy:
        """Check the options and load the key."""
        scrub.check_scrub(scrub_rules)
        if key_file is not None and not hash_users:
            raise UserError(
                "a key file is only used to hash users", hint="add --hash-users (hash_users=True)"
            )
        path = None if key_file is None else check_path(key_file, "key_file")
        return cls(scrub_rules, min_users, user_hash.load_key(path) if hash_users else None)

    @property
    def hides_rows(self) -> bool:
        """Whether a raw line of the log may show what the options hide."""
        return self.scrub is not None or self.min_users > 1 or self.key is not None

    def check_fields(self, fields: set[str]) -> None:
        """Check that the log has what the options need."""
        if self.key is not None and "user" not in fields:
            raise UserError(
                "--hash-users needs a log with a column for the user",
                hint="leave --hash-users (in Python: hash_users) out: no user ids are read",
            )

    def scrub_batch(self, texts: list[str]) -> tuple[list[str], NDArray[np.uint8]]:
        """Return normalised texts without what is to be scrubbed, and the kinds removed from each."""
        if self.scrub is None:
            return texts, np.zeros(len(texts), np.uint8)
        return scrub.scrub_batch(texts)

    def stats(self, db: DuckDBSession) -> dict[str, Any]:
        """Return what was scrubbed in how many rows of the log, and that users were hashed."""
        kinds = "SELECT scrubbed, sum(n)::BIGINT FROM spelling WHERE scrubbed > 0 GROUP BY scrubbed"
        return self.stats_of(lambda: dict(db.fetchall(kinds)))

    def stats_of(self, rows_by_kinds: Callable[[], dict[int, int]]) -> dict[str, Any]:
        """Return the same, given a function that counts the rows of each set of kinds."""
        found: dict[str, Any] = {"hashed_users": True} if self.key is not None else {}
        return found if self.scrub is None else found | {"scrubbed": scrub.count_kinds(rows_by_kinds())}


def is_private(stats: Mapping[str, Any]) -> bool:
    """Return whether a graph with these statistics was built with an option of this module."""
    return stats.get("min_users", 1) > 1 or "scrubbed" in stats or stats.get("hashed_users", False)


def drop_rare_events(db: DuckDBSession, min_users: int, n_docs: int, has_impressions: bool) -> None:
    """Drop from the tables of an event log the pairs that few users saw, and the clicks that few made."""
    db.execute(f"""
        CREATE OR REPLACE TABLE clickers AS SELECT * FROM clickers WHERE users >= {min_users} ORDER BY q, d;
        CREATE OR REPLACE TABLE clicked AS SELECT * FROM clicked SEMI JOIN clickers USING (q, d)
            ORDER BY q, d, day""")
    if has_impressions:
        db.execute(f"""
            CREATE OR REPLACE TABLE shown AS SELECT * FROM shown WHERE pair IN (
                SELECT q::BIGINT * {n_docs} + d FROM ({aggregation_sql.pairs_of_users(min_users)}))
            ORDER BY pair, cell""")


def drop_rare_pairs(db: DuckDBSession, min_users: int) -> None:
    """Drop the pairs of an aggregated log that few users clicked."""
    db.execute(f"""
        CREATE OR REPLACE TABLE pair AS SELECT * FROM pair WHERE known_users >= {min_users} ORDER BY q, d""")


def drop_rare_spellings(db: DuckDBSession, relation: str, min_users: int, has_events: bool) -> None:
    """Keep in `spelling` only what enough users typed; call this last, because it drops rows.

    In an aggregated log, one row must have that many users.
    """
    common = f"SELECT query FROM ({relation}) WHERE error IS NULL AND users >= {min_users}"
    if has_events:
        common = f"""
            SELECT query FROM (
                SELECT DISTINCT query, usr FROM ({relation}) SEMI JOIN merged ON query = raw
                WHERE error IS NULL AND action_code IS NOT NULL)
            GROUP BY query HAVING count(usr) >= {min_users}"""
    db.execute(f"""
        CREATE TEMP TABLE merged AS SELECT raw FROM spelling JOIN query USING (id) WHERE raw <> text;
        CREATE OR REPLACE TABLE spelling AS SELECT * FROM spelling WHERE raw IN ({common});
        DROP TABLE merged""")


def show_rejected_ids(db: DuckDBSession, queries: IdMap, docs: IdMap) -> None:
    """Set `raw` of the rejected rows of the log to their queries and documents, as far as the graph has them.

    User ids, times and lines that could not be read stay away. Needs the columns `q` and `d` of `reject`.
    """
    for table, ids in (("public_query", queries), ("public_doc", docs)):
        db.execute(f"CREATE TABLE {table} (id INTEGER)")
        db.insert(table, {"id": np.flatnonzero(ids.new >= 0).astype(np.int32)})
    db.execute("""
        UPDATE reject SET raw = public.raw FROM (
            SELECT r.rowid AS row_number, CASE
                WHEN query.id IS NULL THEN json_object('doc', doc.name)
                WHEN doc.id IS NULL THEN json_object('query', query.text)
                ELSE json_object('query', query.text, 'doc', doc.name) END::VARCHAR AS raw
            FROM reject r
                LEFT JOIN (query SEMI JOIN public_query USING (id)) AS query ON query.id = q
                LEFT JOIN (doc SEMI JOIN public_doc USING (id)) AS doc ON doc.id = d
            WHERE query.id IS NOT NULL OR doc.id IS NOT NULL
        ) AS public WHERE reject.rowid = row_number""")
