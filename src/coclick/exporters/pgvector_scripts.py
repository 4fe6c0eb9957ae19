"""SQL scripts that load an export, roll it back and remove it.

A script stops at the first error, and psql then exits with a status other than zero. Data changes in one
transaction, so an interrupted load changes nothing. Each script can run again. A load first reduces the
export to what differs from the tables; a vector that is NULL stands for a row to delete. What these rows were
before stays in tables `…_undo` for `rollback.sql`; `…_versions` has the current version and the one before.
Temporary tables hide others of the same name, so theirs have a `$`, which no name of an export has.
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
CREATE TABLE IF NOT EXISTS "{name}_undo" (doc text, title text, vector {type});
CREATE TABLE IF NOT EXISTS "{name}_queries_undo" (query text, vector {type});
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

_LOAD = """\\set ON_ERROR_STOP on
\\ir schema.sql
{start}
{check_base}
-- The export, next to what is loaded
CREATE TEMP TABLE staged$docs (doc text PRIMARY KEY, title text, vector {type}) ON COMMIT DROP;
CREATE TEMP TABLE staged$queries (query text PRIMARY KEY, vector {type}) ON COMMIT DROP;
\\copy pg_temp.staged$docs FROM 'documents.tsv' WITH (ENCODING 'UTF8')
\\copy pg_temp.staged$queries FROM 'queries.tsv' WITH (ENCODING 'UTF8')
ANALYZE pg_temp.staged$docs;
ANALYZE pg_temp.staged$queries;
{check_staged}
{stage_deletions}
DELETE FROM staged$docs AS s WHERE {is_loaded};
DELETE FROM staged$queries AS s USING (
    SELECT query, array_agg(vector) AS vectors FROM "{name}_queries" GROUP BY query
) AS t WHERE t.query = s.query AND t.vectors = ARRAY[s.vector];
ANALYZE pg_temp.staged$docs;

-- Keep what these rows were before, unless this version is loaded already
INSERT INTO "{name}_versions" (slot, version, model, target, documents)
SELECT 'current', 'unknown', 'unknown', '{target}', count(*) FROM {loaded}
WHERE NOT EXISTS (SELECT FROM "{name}_versions") HAVING count(*) > 0;
SELECT NOT EXISTS (
    SELECT FROM "{name}_versions" WHERE slot = 'current' AND version = '{version}'
) AS newer \\gset
\\if :newer
DELETE FROM "{name}_undo";
DELETE FROM "{name}_queries_undo";
INSERT INTO "{name}_undo" SELECT DISTINCT ON (s.doc) s.doc, loaded.title, loaded.vector
FROM staged$docs AS s LEFT JOIN {loaded} ON loaded.doc = s.doc
WHERE EXISTS (SELECT FROM "{name}_versions");
INSERT INTO "{name}_queries_undo" SELECT DISTINCT ON (s.query) s.query, t.vector
FROM staged$queries AS s LEFT JOIN "{name}_queries" AS t ON t.query = s.query
WHERE EXISTS (SELECT FROM "{name}_versions");
DELETE FROM "{name}_versions" WHERE slot = 'previous';
UPDATE "{name}_versions" SET slot = 'previous';
INSERT INTO "{name}_versions" (slot, version, model, target, documents)
VALUES ('current', '{version}', {model}, '{target}', {documents});
\\endif

-- Change what differs
{apply}
COMMIT;
ANALYZE {analyzed};
{report}
SELECT slot, version, model, documents, loaded_at FROM "{name}_versions" ORDER BY slot;
"""

_APPLY_QUERIES = """DELETE FROM "{name}_queries" AS t USING {source} AS s WHERE s.query = t.query;
INSERT INTO "{name}_queries" SELECT query, vector FROM {source} WHERE vector IS NOT NULL;"""

_STAGE_VANISHED = """INSERT INTO staged$docs (doc) SELECT DISTINCT doc FROM {loaded}
WHERE NOT EXISTS (SELECT FROM staged$docs AS s WHERE s.doc = loaded.doc);
INSERT INTO staged$queries (query) SELECT DISTINCT query FROM "{name}_queries" AS t
WHERE NOT EXISTS (SELECT FROM staged$queries AS s WHERE s.query = t.query);"""

_STAGE_DELETED = """\\copy pg_temp.staged$docs (doc) FROM 'deleted-docs.tsv' WITH (ENCODING 'UTF8')
\\copy pg_temp.staged$queries (query) FROM 'deleted-queries.tsv' WITH (ENCODING 'UTF8')"""

_CHECK_BASE = """DO $coclick$
DECLARE found text;
BEGIN
    SELECT version INTO found FROM "{name}_versions" WHERE slot = 'current';
    IF found IS NULL OR found NOT IN ('{base}', '{version}') THEN
        RAISE EXCEPTION 'this increment changes version {base}, but the loaded version is %',
            coalesce(found, 'none')
            USING HINT = 'load the increments in between, or a whole export';
    END IF;
END $coclick$;"""

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
{apply}
DELETE FROM "{name}_undo";
DELETE FROM "{name}_queries_undo";
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
DROP TABLE IF EXISTS "{name}_queries", "{name}_undo", "{name}_queries_undo", "{name}_versions";
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
    loaded: str  # a table expression called `loaded`: the loaded rows, with columns doc, title and vector
    is_loaded: str  # a condition: the staged row `s` is loaded as it is
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
    def apply(self, source: str) -> str:
        """Return SQL that changes documents to the rows of `source`, and clears those without a vector."""

    @abstractmethod
    def remove_documents(self) -> str:
        """Return SQL that removes the vectors of documents."""

    def schema(self) -> str:
        """Return `schema.sql`, in a transaction of its own: it may lock tables, but not for long."""
        documents = self.create_documents()
        return self._start + _SCHEMA.format(
            documents=documents, name=self.name, type=self.type, target=self.target
        )

    def load(self, version: str, base_version: str | None, model: str, documents: int) -> str:
        """Return `load.sql`; `base_version` is that of an increment."""
        names = {"name": self.name, "version": version, "base": base_version, "loaded": self.loaded}
        return _LOAD.format(
            **names,
            start=self._start,
            type=self.type,
            target=self.target,
            analyzed=self.analyzed,
            model=literal(model),
            documents=documents,
            check_base="" if base_version is None else _CHECK_BASE.format(**names),
            check_staged=self.check_staged,
            stage_deletions=(_STAGE_DELETED if base_version else _STAGE_VANISHED).format(**names),
            is_loaded=self.is_loaded,
            apply=self._apply("staged$docs", "staged$queries"),
            report=self.report,
        )

    def rollback(self, version: str) -> str:
        """Return `rollback.sql`."""
        apply = self._apply(f'"{self.name}_undo"', f'"{self.name}_queries_undo"')
        return _ROLLBACK.format(start=self._start, name=self.name, version=version, apply=apply)

    def _apply(self, docs: str, queries: str) -> str:
        return f"{self.apply(docs)}\n{_APPLY_QUERIES.format(name=self.name, source=queries)}"

    def remove(self) -> str:
        """Return `remove.sql`."""
        return _REMOVE.format(start=self._start, name=self.name, documents=self.remove_documents())


class OwnTable(Scripts):
    """Documents in a table of the export's name."""

    def __init__(self, name: str, vector_type: str) -> None:
        """Prepare the scripts."""
        super().__init__(name, vector_type)
        self.target = name
        self.analyzed = f'"{name}"'
        self.loaded = f'"{name}" AS loaded'
        same = "(t.title, t.vector) IS NOT DISTINCT FROM (s.title, s.vector)"
        self.is_loaded = f'EXISTS (SELECT FROM "{name}" AS t WHERE t.doc = s.doc AND {same})'

    def create_documents(self) -> str:
        """Create the table; raise if a table of that name has other columns."""
        columns = f"doc text, title text, vector {self.type}"
        return f"""CREATE TABLE IF NOT EXISTS "{self.name}" (
    doc text PRIMARY KEY, title text NOT NULL, vector {self.type} NOT NULL
);
DO $coclick$
DECLARE columns text;
BEGIN
    SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) INTO columns
    FROM pg_attribute WHERE attrelid = '"{self.name}"'::regclass AND attnum > 0 AND NOT attisdropped;
    IF columns <> '{columns}' THEN
        RAISE EXCEPTION 'the table {self.name} has the columns: %. This export needs: {columns}', columns
            USING HINT = 'export with another --name; --into adds vectors to a table of yours';
    END IF;
END $coclick$;"""

    def apply(self, source: str) -> str:
        """Delete the rows without a vector, update and add the others."""
        return f"""DELETE FROM "{self.name}" AS t USING {source} AS s
WHERE s.doc = t.doc AND s.vector IS NULL;
INSERT INTO "{self.name}" SELECT doc, title, vector FROM {source} WHERE vector IS NOT NULL
ON CONFLICT (doc) DO UPDATE SET title = EXCLUDED.title, vector = EXCLUDED.vector;"""

    def remove_documents(self) -> str:
        """Drop the table."""
        return f'DROP TABLE IF EXISTS "{self.name}";'


def literal(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("\x00", " ").replace("'", "''") + "'"
