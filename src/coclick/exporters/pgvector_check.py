"""`check.sql`: asks PostgreSQL the sample queries, and compares the results with those of coclick.

Queries, ids and vectors come from files that COPY reads, so no text of a document is part of SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coclick.arrays.strings import Strings
from coclick.exporters.packed_rows import COPY, concatenate, escape, write_rows
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file

_BEGIN = """\\set ON_ERROR_STOP on
\\encoding UTF8
SET client_min_messages = warning;
BEGIN;
CREATE TEMP TABLE check$wanted (query text, doc text, score float8) ON COMMIT DROP;
"""

_VECTORS = """CREATE TEMP TABLE check$asked (query text, vector {type}) ON COMMIT DROP;
\\copy pg_temp.check$wanted FROM 'sample-results.tsv' WITH (ENCODING 'UTF8')
\\copy pg_temp.check$asked FROM 'sample-vectors.tsv' WITH (ENCODING 'UTF8')
CREATE TEMP TABLE check$found ON COMMIT DROP AS
SELECT q.query, best.doc, best.score FROM check$asked AS q CROSS JOIN LATERAL (
    SELECT t.{id}::text AS doc, -(t.{vector} <#> q.vector) AS score FROM {table} AS t
    WHERE t.{vector} <#> q.vector < 0 ORDER BY t.{vector} <#> q.vector, t.{id} LIMIT 10
) AS best;
"""

_RANKINGS = """CREATE TEMP TABLE check$asked (query text) ON COMMIT DROP;
\\copy pg_temp.check$wanted FROM 'search/sample-results.tsv' WITH (ENCODING 'UTF8')
\\copy pg_temp.check$asked FROM 'search/sample-queries.tsv' WITH (ENCODING 'UTF8')
CREATE TEMP TABLE check$found ON COMMIT DROP AS
SELECT q.query, s.doc, s.score::float8 FROM check$asked AS q, "{name}_search"(q.query, 10) AS s;
"""

_COMPARE = """
-- The lowest score that counts; with fewer than ten documents, all of them do
CREATE TEMP VIEW check$low AS
SELECT query, coalesce((SELECT min(score) FROM check$wanted AS w WHERE w.query = q.query
    HAVING count(*) = 10), 0) AS wanted,
    coalesce((SELECT min(score) FROM check$found AS f WHERE f.query = q.query
    HAVING count(*) = 10), 0) AS found
FROM check$asked AS q;
CREATE TEMP TABLE check$problems ON COMMIT DROP AS
SELECT query, doc, format('has the score %s instead of %s', f.score, w.score) AS problem
FROM check$wanted AS w JOIN check$found AS f USING (query, doc)
WHERE abs(f.score - w.score) > {tolerance} * abs(w.score)
UNION ALL
SELECT query, w.doc, format('with the score %s is not found', w.score)
FROM check$wanted AS w JOIN check$low AS low USING (query)
WHERE w.score > low.found * (1 + {tolerance})
AND NOT EXISTS (SELECT FROM check$found AS f WHERE f.query = w.query AND f.doc = w.doc){in_table}
UNION ALL
SELECT query, f.doc, format('with the score %s is not expected', f.score)
FROM check$found AS f JOIN check$low AS low USING (query)
WHERE f.score > low.wanted * (1 + {tolerance})
AND NOT EXISTS (SELECT FROM check$wanted AS w WHERE w.query = f.query AND w.doc = f.doc);
DO $coclick$
DECLARE problems bigint; first text;
BEGIN
    SELECT count(*), min(format('%s: %s %s', query, doc, problem)) INTO problems, first FROM check$problems;
    IF problems > 0 THEN
        RAISE EXCEPTION '% results are not as expected, the first: %', problems, first
            USING HINT = 'is {loaded} loaded? Run {load}, then check again';
    END IF;
END $coclick$;
SELECT count(*) || ' {kind} have the expected results' FROM check$asked;
DROP VIEW check$low;
COMMIT;
"""

_TOLERANCE = 0.001  # of scores, relative
_IN_TABLE = "\nAND EXISTS (SELECT FROM {table} AS t WHERE t.{id}::text = w.doc)"


def write_check(
    folder: Path, samples: Sequence[SampleQuery], vectors: Sequence[str], names: dict[str, Any], *, own: bool
) -> None:
    """Write `check.sql` and its files; in a table that is not our `own`, rows may be missing."""
    texts = escape(Strings.from_list(sample.query for sample in samples), COPY)
    rows = concatenate(texts, "\t", Strings.from_list(vectors), "\n")
    write_rows(folder / "sample-vectors.tsv", [rows])
    _write_results(folder, [sample.to_dict() for sample in samples])
    _write_script(
        folder,
        _VECTORS,
        names | {"kind": "sample queries", "load": "load.sql", "loaded": f"version {names['version']}"},
        own=own,
    )


def write_ranking_check(
    folder: Path, samples: Sequence[dict[str, Any]], names: dict[str, Any], *, own: bool
) -> None:
    """Write `check.sql` and its files for the function that ranks; `folder` is `search` of the export."""
    texts = escape(Strings.from_list(sample["query"] for sample in samples), COPY)
    write_rows(folder / "sample-queries.tsv", [concatenate(texts, "\n")])
    _write_results(folder, samples)
    _write_script(
        folder,
        _RANKINGS,
        names | {"kind": "rankings", "load": "search/load.sql", "loaded": "this version"},
        own=own,
    )


def _write_results(folder: Path, samples: Sequence[dict[str, Any]]) -> None:
    results = [(sample["query"], row["doc"], row["score"]) for sample in samples for row in sample["results"]]
    columns = [escape(Strings.from_list(row[i] for row in results), COPY) for i in (0, 1)]
    scores = Strings.from_list(repr(float(score)) for _, _, score in results)
    write_rows(folder / "sample-results.tsv", [concatenate(columns[0], "\t", columns[1], "\t", scores, "\n")])


def _write_script(folder: Path, found: str, names: dict[str, Any], *, own: bool) -> None:
    in_table = "" if own else _IN_TABLE.format(**names)
    script = (_BEGIN + found + _COMPARE).format(**names, tolerance=_TOLERANCE, in_table=in_table)
    write_file(folder / "check.sql", script)
