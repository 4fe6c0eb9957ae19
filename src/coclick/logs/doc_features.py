"""`read_doc_features`: read features of new documents into memory, from files like those of `add_view`."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from coclick.errors import UserError
from coclick.jit.threads import threads as all_threads
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.files import locate_error
from coclick.logs.format import VIEW
from coclick.logs.intake import Intake
from coclick.logs.reader import LogReader
from coclick.logs.rejects import create_reject_tables
from coclick.logs.user_view import check_rows, view_columns
from coclick.storage.temporary import temporary_directory


class DocFeatures(NamedTuple):
    """The features of documents (id → feature → value), and what could not be used."""

    features: dict[str, dict[str, float]]
    unknown: list[str]  # ids that are not among the documents
    rejected: list[tuple[str, str]]  # file and line, reason


def read_doc_features(sources: Sequence[str | Path], docs: Container[str]) -> DocFeatures:
    """Read files of doc, feature and optionally value, for the given documents.

    Without a value column every value is 1. Values of the same document and feature are summed.
    """
    with (
        temporary_directory() as directory,
        DuckDBSession(directory / "duckdb", parse_memory("1GB"), all_threads()) as db,
        Intake(db) as intake,
    ):
        create_reject_tables(db)
        files = intake.open_log(sources)
        log = LogReader(db, VIEW, {"doc", "feature", "value"}, ())
        try:
            log.open([view_columns(file, "doc") for file in files])
            n_valid = db.fetch_value(f"SELECT count(*) FROM ({log.relation}) WHERE error IS NULL")
            if n_valid < log.n_rows:
                log.save_rejects()
                intake.restore_places()
            check_rows(db, files, log.n_rows, n_valid)
            # Sorted values make the sums independent of the order of rows.
            rows = db.fetchall(f"""
                SELECT doc, feature, sum(value ORDER BY value) FROM ({log.relation}) WHERE error IS NULL
                GROUP BY doc, feature ORDER BY doc, feature""")
        except duckdb.Error as error:
            raise locate_error(error, [file.path for file in files]) from error
        rejected = db.fetchall("""
            SELECT file || ', line ' || line, trim(field || ' ' || reason) FROM reject ORDER BY file, line""")
    features: dict[str, dict[str, float]] = {}
    for doc, feature, value in rows:
        features.setdefault(doc, {})[feature] = value
    unknown = [doc for doc in features if doc not in docs]
    if len(unknown) == len(features):
        raise UserError(
            f"none of the new documents has a feature here; the first id is {unknown[0]!r}",
            where=", ".join(file.name for file in files[:3]),
            hint="use the ids of the file of documents",
        )
    for doc in unknown:
        del features[doc]
    return DocFeatures(features, unknown, rejected)
