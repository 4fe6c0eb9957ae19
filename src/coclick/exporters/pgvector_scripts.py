"""SQL scripts that load an export, roll it back and remove it.

A script stops at the first error, and psql then exits with a status other than zero. Data changes in one
transaction, so an interrupted load changes nothing. Each script can run again. The version before the current
one stays in tables `…_old` for `rollback.sql`; `…_versions` says which versions these are.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod

_START = """\\set ON_ERROR_STOP on
\\encoding UTF8
SET client_min_messages = warning;
BEGIN;
SELECT pg_advisory_xact_lock({lock}) AS locked \\gset
"""

_SCHEMA = """CREATE EXTENSION IF NOT EXISTS vector;
{documents}
CREATE TABLE IF NOT EXISTS "{name}_queries" (query text NOT NULL, vector {type} NOT NULL);
CREATE TABLE IF NOT EXISTS "{name}_old" (doc text, title text, vector {type});
CREATE TABLE IF NOT EXISTS "{name}_queries_old" (query text, vector {type});
CREATE TABLE IF NOT EXISTS "{name}_versions" (
    slot text PRIMARY KEY CHECK (slot IN ('current', 'previous')),
    version text NOT NULL, model text NOT NULL, target text NOT NULL, documents bigint NOT NULL,
    loaded_at timestamptz NOT NULL DEFAULT now()
);
DO $coclick$
DECLARE other text;
BEGIN
    SELECT target INTO other FROM "{name}_versions" WHERE target <> '{target}' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'an export named {name} is loaded into the table % already', other
            USING HINT = 'export with another --name';
    END IF;
END $coclick$;
COMMIT;
"""

_LOAD = """\\ir schema.sql
{start}
-- The export, next to what is loaded
CREATE TEMP TABLE coclick_docs (doc text PRIMARY KEY, title text, vector {type}) ON COMMIT DROP;
CREATE TEMP TABLE coclick_queries (query text, vector {type}) ON COMMIT DROP;
\\copy pg_temp.coclick_docs FROM 'documents.tsv' WITH (ENCODING 'UTF8')
\\copy pg_temp.coclick_queries FROM 'queries.tsv' WITH (ENCODING 'UTF8')
ANALYZE pg_temp.coclick_docs;
{check_staged}
-- Keep the version that is loaded, unless it is this one
INSERT INTO "{name}_versions" (slot, version, model, target, documents)
SELECT 'current', 'unknown', 'unknown', '{target}', count(*) FROM {loaded}
WHERE NOT EXISTS (SELECT FROM "{name}_versions") HAVING count(*) > 0;
SELECT NOT EXISTS (
    SELECT FROM "{name}_versions" WHERE slot = 'current' AND version = '{version}'
) AS newer \\gset
\\if :newer
DELETE FROM "{name}_old";
DELETE FROM "{name}_queries_old";
INSERT INTO "{name}_old" SELECT doc, title, vector FROM {loaded};
INSERT INTO "{name}_queries_old" SELECT query, vector FROM "{name}_queries";
DELETE FROM "{name}_versions" WHERE slot = 'previous';
UPDATE "{name}_versions" SET slot = 'previous';
INSERT INTO "{name}_versions" (slot, version, model, target, documents)
SELECT 'current', '{version}', {model}, '{target}', count(*) FROM coclick_docs;
\\endif

-- Change what differs
{sync}
DELETE FROM "{name}_queries";
INSERT INTO "{name}_queries" SELECT query, vector FROM coclick_queries;
COMMIT;
ANALYZE {analyzed};
{report}
SELECT slot, version, model, documents, loaded_at FROM "{name}_versions" ORDER BY slot;
"""

_ROLLBACK = """{start}
SELECT to_regclass('"{name}_versions"') IS NOT NULL AS installed \\gset
\\set loaded false
\\if :installed
SELECT EXISTS (
    SELECT FROM "{name}_versions" WHERE slot = 'current' AND version = '{version}'
) AS loaded \\gset
\\endif
\\if :loaded
DO $coclick$
BEGIN
    IF NOT EXISTS (SELECT FROM "{name}_versions" WHERE slot = 'previous') THEN
        RAISE EXCEPTION 'no version before {version} is stored'
            USING HINT = 'load.sql of another export replaces this one; remove.sql removes it';
    END IF;
END $coclick$;
{sync}
DELETE FROM "{name}_queries";
INSERT INTO "{name}_queries" SELECT query, vector FROM "{name}_queries_old";
DELETE FROM "{name}_old";
DELETE FROM "{name}_queries_old";
DELETE FROM "{name}_versions" WHERE slot = 'current';
UPDATE "{name}_versions" SET slot = 'current';
SELECT slot, version, model, documents, loaded_at FROM "{name}_versions";
\\else
\\echo 'Version {version} is not loaded: there is nothing to roll back.'
\\endif
COMMIT;
"""

_REMOVE = """{start}
SELECT to_regclass('"{name}_versions"') IS NOT NULL AS loaded \\gset
\\if :loaded
{documents}
DROP TABLE IF EXISTS "{name}_queries", "{name}_old", "{name}_queries_old", "{name}_versions";
\\else
\\echo 'No export named {name} is loaded: there is nothing to remove.'
\\endif
COMMIT;
"""


class Scripts(ABC):
    """Builds the scripts of an export; a subclass says where the vectors of documents are.

    `name`, `target` and `vector_type` become part of SQL: they contain no quotes, backslashes and dollars.
    """

    target: str  # the table that holds the vectors of documents, as a person names it
    analyzed: str  # the same, quoted
    loaded: str  # a table expression of the loaded rows, with the columns doc, title and vector
    check_staged = ""  # SQL that raises if the export does not fit the target
    report = ""  # commands of psql after a load

    def __init__(self, name: str, vector_type: str) -> None:
        """Prepare the scripts for the tables of that name."""
        self.name, self.type = name, vector_type
        self._start = _START.format(lock=zlib.crc32(name.encode()))

    @abstractmethod
    def create_documents(self) -> str:
        """Return SQL that creates the place of document vectors, or raises if it has another shape."""

    @abstractmethod
    def sync(self, source: str) -> str:
        """Return SQL that makes the loaded documents equal to those of the table `source`."""

    @abstractmethod
    def remove_documents(self) -> str:
        """Return SQL that removes the vectors of documents."""

    def schema(self) -> str:
        """Return `schema.sql`, in a transaction of its own: it may lock tables, but not for long."""
        documents = self.create_documents()
        return self._start + _SCHEMA.format(
            documents=documents, name=self.name, type=self.type, target=self.target
        )

    def load(self, version: str, model: str) -> str:
        """Return `load.sql`."""
        return _LOAD.format(
            start=self._start,
            name=self.name,
            type=self.type,
            target=self.target,
            loaded=self.loaded,
            analyzed=self.analyzed,
            version=version,
            model=literal(model),
            check_staged=self.check_staged,
            sync=self.sync("coclick_docs"),
            report=self.report,
        )

    def rollback(self, version: str) -> str:
        """Return `rollback.sql`."""
        sync = self.sync(f'"{self.name}_old"')
        return _ROLLBACK.format(start=self._start, name=self.name, version=version, sync=sync)

    def remove(self) -> str:
        """Return `remove.sql`."""
        return _REMOVE.format(start=self._start, name=self.name, documents=self.remove_documents())


class OwnTable(Scripts):
    """Documents in a table of the export's name."""

    def __init__(self, name: str, vector_type: str) -> None:
        """Prepare the scripts."""
        super().__init__(name, vector_type)
        self.target = name
        self.analyzed = self.loaded = f'"{name}"'

    def create_documents(self) -> str:
        """Create the table; raise if a table of that name has other columns."""
        columns = f"doc text, title text, vector {self.type}"
        return f"""CREATE TABLE IF NOT EXISTS "{self.name}" (
    doc text PRIMARY KEY, title text NOT NULL, vector {self.type} NOT NULL
);
DO $coclick$
DECLARE found text;
BEGIN
    SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) INTO found
    FROM pg_attribute WHERE attrelid = '"{self.name}"'::regclass AND attnum > 0 AND NOT attisdropped;
    IF found <> '{columns}' THEN
        RAISE EXCEPTION 'the table {self.name} has the columns: %. This export needs: {columns}', found
            USING HINT = 'export with another --name; --into adds vectors to a table of yours';
    END IF;
END $coclick$;"""

    def sync(self, source: str) -> str:
        """Delete vanished documents, add new ones, and update those that differ."""
        return f"""DELETE FROM "{self.name}" AS t
WHERE NOT EXISTS (SELECT FROM {source} AS s WHERE s.doc = t.doc);
INSERT INTO "{self.name}" AS t SELECT doc, title, vector FROM {source}
ON CONFLICT (doc) DO UPDATE SET title = EXCLUDED.title, vector = EXCLUDED.vector
WHERE (t.title, t.vector) IS DISTINCT FROM (EXCLUDED.title, EXCLUDED.vector);"""

    def remove_documents(self) -> str:
        """Drop the table."""
        return f'DROP TABLE IF EXISTS "{self.name}";'


def literal(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("\x00", " ").replace("'", "''") + "'"
