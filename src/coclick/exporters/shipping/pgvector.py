"""PostgreSQL: a schema for each version with the tables and the function that answers a query.

The function `NAME_search(query, k)` of the user's schema calls that of the current version, so a version is
replaced or rolled back in one moment. The documents are those of the export of vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.formatting import format_floats, join_pairs
from coclick.exporters.pgvector import PgVector
from coclick.exporters.pgvector_check import write_ranking_check
from coclick.exporters.pgvector_scripts import literal
from coclick.exporters.shipping.answer import APOSTROPHES, SEPARATORS
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.versions import folder_version
from coclick.storage.directories import write_file, write_json
from coclick.text.term_ids import N_TERM_IDS

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}  # for COPY; the backslash comes first
_NULL = "\\N"  # of COPY
_START = """\\set ON_ERROR_STOP on
\\encoding UTF8
SET client_min_messages = warning;
BEGIN;
"""

_LOAD = """-- Load the rankings and signals of version {version}, and make it the one that {name}_search uses.
{start}DROP SCHEMA IF EXISTS "{schema}" CASCADE;
CREATE SCHEMA "{schema}";
CREATE TABLE "{schema}".queries (
    query text PRIMARY KEY, docs text[] NOT NULL, scores real[] NOT NULL,
    vector sparsevec({dimensions}) NOT NULL, clicked text[] NOT NULL, weights real[] NOT NULL
);
CREATE TABLE "{schema}".tokens (token text PRIMARY KEY, terms text[] NOT NULL);
CREATE TABLE "{schema}".units (unit text PRIMARY KEY, dimension integer, idf real, word integer);
CREATE TABLE "{schema}".clicked (doc text PRIMARY KEY);
\\copy "{schema}".queries FROM 'search/queries.tsv' WITH (ENCODING 'UTF8')
\\copy "{schema}".tokens FROM 'search/tokens.tsv' WITH (ENCODING 'UTF8')
\\copy "{schema}".units FROM 'search/units.tsv' WITH (ENCODING 'UTF8')
\\copy "{schema}".clicked FROM 'search/clicked.tsv' WITH (ENCODING 'UTF8')
{function}
CREATE TABLE IF NOT EXISTS "{name}_search_versions" (
    slot text PRIMARY KEY CHECK (slot IN ('current', 'previous')), version text NOT NULL, model text NOT NULL,
    loaded_at timestamptz NOT NULL DEFAULT now()
);
SELECT NOT EXISTS (
    SELECT FROM "{name}_search_versions" WHERE slot = 'current' AND version = '{version}'
) AS newer \\gset
\\if :newer
SELECT coalesce(max(format('DROP SCHEMA IF EXISTS %I CASCADE;', '{name}_' || version)), '') AS oldest
FROM "{name}_search_versions" WHERE slot = 'previous' AND version <> '{version}' \\gset
:oldest
DELETE FROM "{name}_search_versions" WHERE slot = 'previous';
UPDATE "{name}_search_versions" SET slot = 'previous' WHERE version <> '{version}';
INSERT INTO "{name}_search_versions" (slot, version, model) VALUES ('current', '{version}', {model});
\\endif
{wrapper}
COMMIT;
ANALYZE "{schema}".queries;
SELECT slot, version, model, loaded_at FROM "{name}_search_versions" ORDER BY slot;
"""

# A function of the version that is current: a rollback changes the table of versions and nothing else.
_WRAPPER = """CREATE OR REPLACE FUNCTION "{name}_search"(query text, k integer DEFAULT 10)
RETURNS TABLE (doc text, score real) LANGUAGE plpgsql STABLE AS $coclick$
DECLARE place text;
BEGIN
    SELECT '{name}_' || v.version INTO STRICT place
    FROM "{name}_search_versions" AS v WHERE v.slot = 'current';
    RETURN QUERY EXECUTE format('SELECT s.doc, s.score FROM %I.search($1, $2) AS s', place) USING query, k;
END $coclick$;"""

_ROLLBACK = """-- Go back to the version that was loaded before {version}; do nothing if that is not loaded.
{start}SELECT EXISTS (
    SELECT FROM "{name}_search_versions" WHERE slot = 'current' AND version = '{version}'
) AND EXISTS (SELECT FROM "{name}_search_versions" WHERE slot = 'previous') AS possible \\gset
\\if :possible
DELETE FROM "{name}_search_versions" WHERE slot = 'current';
UPDATE "{name}_search_versions" SET slot = 'current';
DROP SCHEMA IF EXISTS "{schema}" CASCADE;
\\else
\\echo 'Version {version} is not loaded, or no version before it is stored: there is nothing to roll back.'
\\endif
COMMIT;
"""

_REMOVE = """-- Remove all versions, and {name}_search.
{start}DROP FUNCTION IF EXISTS "{name}_search"(text, integer);
DO $coclick$
DECLARE place text;
BEGIN
    IF to_regclass('"{name}_search_versions"') IS NOT NULL THEN
        FOR place IN SELECT '{name}_' || version FROM "{name}_search_versions" LOOP
            EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', place);
        END LOOP;
    END IF;
END $coclick$;
DROP TABLE IF EXISTS "{name}_search_versions";
COMMIT;
"""

_FUNCTION = """CREATE FUNCTION "{schema}".search(asked text, k integer DEFAULT 10)
RETURNS TABLE (doc text, score real) LANGUAGE plpgsql STABLE AS $coclick$
#variable_conflict use_column
DECLARE
    folded text := replace(lower(normalize(translate(asked, {signs}, '  '), NFKC)), 'ß', 'ss');
    said text := btrim(regexp_replace(folded, '\\s+', ' ', 'g'));
    similar_to sparsevec;
    shared sparsevec;
BEGIN
    -- A query of the log: its stored ranking
    RETURN QUERY SELECT r.doc, r.score FROM "{schema}".queries AS q,
        unnest(q.docs, q.scores) WITH ORDINALITY AS r(doc, score, place)
        WHERE q.query = said ORDER BY r.place LIMIT k;
    IF FOUND THEN RETURN; END IF;
    -- Another query: its vector of words and n-grams, and its words in documents
    WITH tokens AS (
        SELECT t.token, known.terms FROM regexp_split_to_table(said, ' ') AS t(token)
        LEFT JOIN "{schema}".tokens AS known ON known.token = t.token
    ), terms AS (
        SELECT unnest(t.terms) AS term FROM tokens AS t WHERE t.terms IS NOT NULL
        UNION ALL
        SELECT unnest(coalesce(known.terms, ARRAY[p.piece])) FROM tokens AS t
        CROSS JOIN LATERAL regexp_split_to_table({plain_token}, ' +') AS p(piece)
        LEFT JOIN "{schema}".tokens AS known ON known.token = p.piece
        WHERE t.terms IS NULL AND p.piece <> ''
    ), words AS (
        SELECT w.word, w.place FROM
            regexp_split_to_table({plain_query}, ' +') WITH ORDINALITY AS w(word, place)
        WHERE w.word <> ''
    ), spans AS (
        SELECT '_' || w.word || '_' AS span FROM words AS w
        UNION ALL SELECT string_agg(w.word, '' ORDER BY w.place) FROM words AS w HAVING count(*) > 1
    ), units AS (
        SELECT DISTINCT '~' || substr(s.span, start, n) AS unit, {gram_share} AS share FROM spans AS s,
            generate_series({min_n}, {max_n}) AS n, generate_series(1, length(s.span) - n + 1) AS start
        UNION ALL SELECT DISTINCT t.term, {word_share} FROM terms AS t
    ), weighted AS (
        SELECT known.dimension, known.idf, u.share,
            sum(coalesce(known.idf, {unknown_idf}) ^ 2)
                OVER (PARTITION BY u.share, left(u.unit, 1) = '~') AS squares
        FROM units AS u LEFT JOIN "{schema}".units AS known ON known.unit = u.unit
    ), counted AS (
        SELECT known.word, count(*) AS times FROM terms AS t
        JOIN "{schema}".units AS known ON known.unit = t.term
        WHERE known.word IS NOT NULL GROUP BY known.word
    )
    SELECT
        (SELECT '{{' || string_agg(
            format('%s:%s', w.dimension, (w.idf * sqrt(w.share / w.squares))::real), ',' ORDER BY w.dimension
         ) || '}}/{dimensions}' FROM weighted AS w WHERE w.idf > 0 AND w.share > 0),
        (SELECT '{{' || string_agg(format('%s:%s', c.word, c.times), ',' ORDER BY c.word) || '}}/{dimensions}'
         FROM counted AS c)
    INTO similar_to, shared;
    RETURN QUERY
    WITH nearest AS (
        SELECT q.clicked, q.weights,
            least(-(q.vector <#> similar_to), 1) AS similarity
        FROM "{schema}".queries AS q WHERE similar_to IS NOT NULL
        ORDER BY q.vector <#> similar_to LIMIT {n_neighbours}
    ), borrowed AS (
        SELECT c.doc, sum(n.similarity ^ {power} * c.weight) AS clicks FROM nearest AS n,
            unnest(n.clicked, n.weights) AS c(doc, weight) WHERE n.similarity > 0 GROUP BY c.doc
    ), best AS (
        SELECT d.{id}::text AS doc FROM {table} AS d WHERE shared IS NOT NULL AND d.{vector} IS NOT NULL
        ORDER BY d.{vector} <#> shared LIMIT greatest({depth}, k)
    ), matched AS (
        SELECT d.{id}::text AS doc, -(d.{vector} <#> shared) AS words
        FROM {table} AS d WHERE shared IS NOT NULL AND d.{vector} IS NOT NULL
            AND d.{id}::text IN (SELECT b.doc FROM best AS b UNION SELECT b.doc FROM borrowed AS b)
    ), signals AS (
        SELECT doc, coalesce(b.clicks, 0) AS clicks, coalesce(m.words, 0) AS words
        FROM borrowed AS b FULL JOIN matched AS m USING (doc)
    )
    SELECT s.doc, (CASE WHEN known.doc IS NULL THEN {unclicked} ELSE {clicked} END)::real AS score
    FROM signals AS s LEFT JOIN "{schema}".clicked AS known ON known.doc = s.doc
    WHERE s.clicks > 0 OR s.words > 0
    ORDER BY score DESC, s.doc LIMIT k;
END $coclick$;"""


def write_search(exporter: PgVector, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the rows of the tables, and the scripts."""
    search = folder / "search"
    search.mkdir()
    settings = shipped.settings()
    write_json(search / "recipe.json", settings)
    write_file(search / "queries.tsv", _query_lines(exporter, shipped, queries))
    tokens = shipped.vocabulary.tokens.items()
    write_file(search / "tokens.tsv", (f"{_copy(token)}\t{_array(terms)}\n" for token, terms in tokens))
    write_file(search / "units.tsv", _unit_lines(shipped))
    write_file(
        search / "clicked.tsv", (f"{_copy(doc)}\n" for doc in _accepted(exporter, shipped.clicked_docs()))
    )
    version = folder_version(search)
    names = {
        "name": exporter.index,
        "schema": f"{exporter.index}_{version}",
        "version": version,
        "start": _START,
    }
    function = _FUNCTION.format(**names, **_function_parts(exporter, settings))
    load = {"function": function, "wrapper": _WRAPPER.format(**names), "model": literal(str(shipped.model))}
    write_file(search / "load.sql", _LOAD.format(**names, **load, dimensions=N_TERM_IDS))
    write_file(search / "rollback.sql", _ROLLBACK.format(**names))
    write_file(search / "remove.sql", _REMOVE.format(**names))


def write_check(exporter: PgVector, search: Path, samples: Sequence[dict[str, Any]]) -> None:
    """Write a script that compares the rankings of sample queries with those of coclick."""
    names = {"name": exporter.index, "table": exporter.table, "id": exporter.id_column}
    write_ranking_check(search, samples, names, own=exporter.existing is None)


def commands(exporter: PgVector) -> str:
    """Return the commands of the README."""
    name = exporter.index
    return f"""Run these commands in this folder, with the URL of your database as `$DB`:

    psql $DB -f load.sql -f search/load.sql
    psql $DB -f check.sql -f search/check.sql    # compares results with those of coclick
    psql $DB -c "SELECT * FROM {name}_search('xbox', 10)"

`load.sql` loads the documents, `search/load.sql` the rankings and the function `{name}_search(query, k)`,
each in one transaction: if one fails, psql exits with a status other than zero and nothing has changed. Both
can run again. The function returns `doc` and `score`; join it with a table of yours:

    SELECT p.*, s.score FROM {name}_search('xbox', 50) AS s JOIN products AS p ON p.sku = s.doc
    ORDER BY s.score DESC LIMIT 10;

    psql $DB -f search/rollback.sql -f rollback.sql    # back to the version that was loaded before
    psql $DB -f search/remove.sql -f remove.sql        # remove everything"""


def _function_parts(exporter: PgVector, settings: dict[str, Any]) -> dict[str, Any]:
    unclicked, clicked = (
        _score(settings["base"][cell], settings["weights"][cell], settings["maps"]) for cell in (0, 1)
    )
    return {
        "signs": "'™℠'",
        "plain_token": _plain("t.token"),
        "plain_query": _plain("said"),
        "gram_share": repr(1 - settings["word_weight"]),
        "word_share": repr(settings["word_weight"]),
        "id": exporter.id_column,
        "table": exporter.table,
        "vector": exporter.vector_column,
        "unclicked": unclicked,
        "clicked": clicked,
        "dimensions": N_TERM_IDS,
        **{key: settings[key] for key in ("min_n", "max_n", "unknown_idf", "power", "n_neighbours", "depth")},
    }


def _plain(text: str) -> str:
    """SQL that replaces punctuation by spaces and removes apostrophes, which have no counterpart."""
    return f"btrim(translate({text}, {literal(SEPARATORS + APOSTROPHES)}, repeat(' ', {len(SEPARATORS)})))"


def _score(base: float, weights: Sequence[float], maps: Sequence[Sequence[Sequence[float]]]) -> str:
    """SQL of the sum of both signals."""
    signals = [
        f"{weight!r} * ({_line(signal, line)})"
        for signal, weight, line in zip(("s.clicks", "s.words"), weights, maps, strict=True)
    ]
    return " + ".join([repr(float(base)), *signals])


def _line(signal: str, points: Sequence[Sequence[float]]) -> str:
    """SQL of a rising line through 0 and the points, which goes on with its last slope."""
    x, y, parts = 0.0, 0.0, []
    for place, (knot, height) in enumerate(points):
        inside = f"{signal} - {x!r}" if place + 1 == len(points) else f"least({signal}, {knot!r}) - {x!r}"
        parts.append(f"greatest({inside}, 0) * {(height - y) / (knot - x)!r}")
        x, y = knot, height
    return " + ".join(parts)


def _query_lines(exporter: PgVector, shipped: ShippedModel, limit: int | None) -> Iterator[str]:
    keys = [f"{number + 1}:" for number in shipped.vocabulary.numbers().tolist()]
    docs = shipped.graph.docs.to_list()
    good = exporter.filter.accepts_ids(docs)
    for block in shipped.known_queries(limit):
        vectors = join_pairs(block.vectors, keys, format_floats(block.vectors.data), ",")
        for i, (text, vector) in enumerate(zip(block.texts, vectors, strict=True)):
            kept = (block.docs[i] >= 0) & good[block.docs[i]]
            rows, clicks = block.clicks.row(i)
            clicked = good[rows]
            yield "\t".join((
                _copy(text),
                _array([docs[row] for row in block.docs[i][kept].tolist()]),
                _numbers(block.scores[i][kept]),
                f"{{{vector}}}/{N_TERM_IDS}",
                _array([docs[row] for row in rows[clicked].tolist()]),
                _numbers(clicks[clicked]),
            )) + "\n"  # fmt: skip


def _unit_lines(shipped: ShippedModel) -> Iterator[str]:
    known = shipped.vocabulary
    words = (shipped.words.term_numbers + 1).tolist()
    for unit, number, idf in zip(known.units, known.numbers().tolist(), known.unit_idf.tolist(), strict=True):
        row = known.doc_terms.get(unit)
        word = _NULL if row is None else words[row]
        yield f"{_copy(unit)}\t{number + 1}\t{idf:.9g}\t{word}\n"
    for term, row in known.doc_terms.items():
        if term not in known.columns:
            yield f"{_copy(term)}\t{_NULL}\t{_NULL}\t{words[row]}\n"


def _accepted(exporter: PgVector, docs: list[str]) -> Iterator[str]:
    return (doc for doc, good in zip(docs, exporter.filter.accepts_ids(docs).tolist(), strict=True) if good)


def _copy(text: str) -> str:
    """Escape a text for COPY."""
    for character, written in _ESCAPES.items():
        text = text.replace(character, written)
    return text


def _array(texts: Iterable[str]) -> str:
    """Return texts as an array of SQL, escaped for COPY."""
    quoted = ('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)
    return _copy("{" + ",".join(quoted) + "}")


def _numbers(values: np.ndarray) -> str:
    return "{" + ",".join(format_floats(values)) + "}"
