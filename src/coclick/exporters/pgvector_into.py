"""pgvector, in a table that exists: adds a column with the vectors of its rows."""

from __future__ import annotations

from pathlib import Path

from coclick.exporters.existing_index import MISSING_IDS, ExistingIndex
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.pgvector import PgVector
from coclick.exporters.pgvector_scripts import Scripts
from coclick.storage.directories import write_file


class PgVectorInto(PgVector):
    """Exports a column of a table, and a table of queries."""

    stores_titles = False
    existing: ExistingIndex

    def __init__(
        self, source: ModelVectors, index: str, max_weights: int | None, existing: ExistingIndex
    ) -> None:
        """Name the table, its id and the new column."""
        super().__init__(source, index, max_weights)
        self.existing = existing
        self.table = quote(existing.name)
        self.id_column, self.vector_column = f'"{existing.id_field}"', f'"{index}_vector"'
        self.shown_columns = ""

    def scripts(self) -> Scripts:
        """Return the scripts for the user's table."""
        return ExistingTable(self.index, self.vector_type, self.existing)

    def write_schema(self, folder: Path) -> None:
        """Write the scripts, and the file that lists ids without a row."""
        super().write_schema(folder)
        write_file(folder / MISSING_IDS, "")

    def readme(self) -> str:
        """Return the psql commands."""
        table, column = self.existing.name, f"{self.index}_vector"
        increment = f"{note}\n" if (note := self.increment_note()) else ""
        return f"""
Run these commands in this folder, with the URL of your database as `$DB`:

    psql $DB -f load.sql
    psql $DB -f check.sql
    psql $DB -f sample.sql

`load.sql` adds the column `{column}` to `{table}` and fills it in the rows whose
`{self.existing.id_field}` is the id of a document here; other columns and rows stay as they are. It prints
how many ids `{table}` does not have, and lists them in `{MISSING_IDS}`. Rows that this export does
not have lose the vector of an earlier one. Vectors change in one transaction: if it fails, psql exits with a
status other than zero and they are as before. Readers are not blocked; triggers of the table run for the
changed rows. The script can run again, and the next export, or the next increment, is loaded in the same way.
`check.sql` asks sample queries and compares the results with those of coclick; it fails if they differ.
`{self.index}_versions` shows the current version and the one before.

{increment}
    psql $DB -f rollback.sql     # back to the version that was loaded before this one
    psql $DB -f remove.sql       # drop the column {column} and the tables {self.index}_…

The search is exact and scans the whole table. `psql $DB -f index.sql` creates an HNSW index, which is fast
and approximate. Your own conditions go into `WHERE`. The table `{self.index}_queries` has query vectors:

    SELECT p.*, -(p.{column} <#> q.vector) AS score FROM {table} p, {self.index}_queries q
    WHERE q.query = '…' AND p.{column} <#> q.vector < 0 ORDER BY p.{column} <#> q.vector LIMIT 10;
"""


class ExistingTable(Scripts):
    """Documents in a column of the user's table."""

    def __init__(self, name: str, vector_type: str, existing: ExistingIndex) -> None:
        """Prepare the scripts."""
        super().__init__(name, vector_type)
        self.target, self._id_name, self._column_name = existing.name, existing.id_field, f"{name}_vector"
        self.analyzed = self._table = quote(existing.name)
        self._id, self._column = f'"{self._id_name}"::text', f'"{self._column_name}"'
        self.loaded = (
            f"(SELECT {self._id} AS doc, NULL::text AS title, {self._column} AS vector "
            f"FROM {self._table} WHERE {self._column} IS NOT NULL) AS loaded"
        )
        of_doc = f"{self._table} AS t WHERE t.{self._id} = s.doc"
        self.is_loaded = (
            f"EXISTS (SELECT FROM {of_doc}) "
            f"AND NOT EXISTS (SELECT FROM {of_doc} AND t.{self._column} IS DISTINCT FROM s.vector)"
        )
        has_row = f"EXISTS (SELECT FROM {of_doc})"
        missing = f"FROM pg_temp.staged$docs AS s WHERE NOT {has_row}"
        self.check_staged = f"""DO $coclick$
BEGIN
    IF NOT EXISTS (SELECT FROM staged$docs AS s WHERE {has_row}) THEN
        RAISE EXCEPTION 'none of the document ids is in the column {self._id_name} of {self.target}'
            USING HINT = 'export with --id and the column that has the ids of the click log';
    END IF;
END $coclick$;
SELECT count(*) AS missing {missing} \\gset
\\copy (SELECT s.doc {missing} ORDER BY s.doc) TO '{MISSING_IDS}' WITH (ENCODING 'UTF8')
"""
        self.report = f"\\echo :missing 'ids are not in {self.target}; {MISSING_IDS} lists them'"

    def create_documents(self) -> str:
        """Add the column; raise if the table, its id or the type is not as expected."""
        of_table = f"attrelid = '{self._table}'::regclass AND attnum > 0 AND NOT attisdropped"
        return f"""DO $coclick$
DECLARE kind text;
BEGIN
    IF to_regclass('{self._table}') IS NULL THEN
        RAISE EXCEPTION 'there is no table {self.target} in this database'
            USING HINT = 'check the URL, and the name and schema given with --into';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE {of_table} AND attname = '{self._id_name}') THEN
        RAISE EXCEPTION 'the table {self.target} has no column {self._id_name}'
            USING HINT = 'export with --id and the column that has the document ids';
    END IF;
    SELECT format_type(atttypid, atttypmod) INTO kind FROM pg_attribute
    WHERE {of_table} AND attname = '{self._column_name}';
    IF NOT FOUND THEN
        ALTER TABLE {self._table} ADD COLUMN IF NOT EXISTS {self._column} {self.type};
    ELSIF kind <> '{self.type}' THEN
        RAISE EXCEPTION
            'the column {self._column_name} of {self.target} has the type %, not {self.type}', kind USING
            HINT = 'export with another --name, or run remove.sql of the export that made the column';
    END IF;
END $coclick$;"""

    def apply(self, source: str) -> str:
        """Set the vectors, and clear those of rows without one."""
        return f"""UPDATE {self._table} AS t SET {self._column} = s.vector FROM {source} AS s
WHERE s.doc = t.{self._id} AND t.{self._column} IS DISTINCT FROM s.vector;"""

    def remove_documents(self) -> str:
        """Drop the column."""
        return f"ALTER TABLE IF EXISTS {self._table} DROP COLUMN IF EXISTS {self._column};"


def quote(table: str) -> str:
    """Return the name of a table, with or without schema, as an identifier of SQL."""
    return ".".join(f'"{part}"' for part in table.split("."))


EXPORTER = PgVectorInto
