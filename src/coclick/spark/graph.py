"""A click graph on Spark: DataFrames over the tables of an artefact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from coclick.errors import UserError
from coclick.spark.session import coclick_session
from coclick.spark.storage import HadoopDir, read_manifest_at
from coclick.storage.artefact import content_digest


@dataclass(frozen=True)
class SparkGraph:
    """The tables of a graph that was built on Spark."""

    spark: SparkSession  # with coclick's settings
    path: str
    manifest: dict[str, Any]

    @classmethod
    def open(cls, spark: SparkSession, path: str) -> SparkGraph:
        """Open the graph in a directory; reads the manifest only."""
        session = coclick_session(spark)
        directory = HadoopDir(session, path)
        manifest = read_manifest_at(directory)
        if manifest["kind"] != "graph":
            raise UserError(f"this is a {manifest['kind']}, not a graph", where=path)
        if manifest.get("layout") != "parquet":
            raise UserError(
                "this graph was built on one machine, and Spark cannot read its arrays",
                where=path,
                hint="build it with --engine spark, or train it with --engine local",
            )
        return cls(session, directory.path, manifest)

    @property
    def digest(self) -> str:
        """The digest of the content."""
        return content_digest(self.manifest["files"])

    @property
    def texts(self) -> list[str]:
        """The text fields of the documents."""
        return list(self.manifest["texts"])

    @property
    def stats(self) -> dict[str, Any]:
        """The statistics of the build."""
        return self.manifest["stats"]

    def size(self, table: str) -> int:
        """Return the number of queries, docs or edges."""
        return int(self.manifest["sizes"][table])

    def table(self, name: str) -> DataFrame:
        """Return a table: queries, docs, edges or pairs."""
        return read_table(self.spark, self.path, self.manifest, name)


def read_table(spark: SparkSession, path: str, manifest: dict[str, Any], name: str) -> DataFrame:
    """Read a table from the files that the manifest lists for it."""
    files = [
        entry["file"] for key, entry in sorted(manifest["files"].items()) if key.rpartition(".")[0] == name
    ]
    if not files:
        raise UserError(f"no table {name!r}", where=path)
    return spark.read.parquet(*(f"{path}/{file}" for file in files))
