"""A click graph as Spark sees it: DataFrames over the tables of an artefact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from coclick.errors import UserError
from coclick.spark.engine import ours
from coclick.spark.storage import Place, read_manifest_at
from coclick.storage.artefact import content_digest


@dataclass(frozen=True)
class SparkGraph:
    """The tables of a graph that was built on Spark."""

    spark: SparkSession  # ours, beside the user's
    path: str
    manifest: dict[str, Any]

    @classmethod
    def open(cls, spark: SparkSession, path: str) -> SparkGraph:
        """Open the graph in a directory; nothing of it is read."""
        session = ours(spark)
        place = Place(session, path)
        manifest = read_manifest_at(place)
        if manifest["kind"] != "graph":
            raise UserError(f"this is a {manifest['kind']}, not a graph", where=path)
        if manifest.get("layout") != "parquet":
            raise UserError(
                "this graph was built on one machine, as arrays that Spark cannot read",
                where=path,
                hint="build it with --engine spark, or train it with --engine local",
            )
        return cls(session, place.path, manifest)

    @property
    def digest(self) -> str:
        """The content's identity."""
        return content_digest(self.manifest["files"])

    @property
    def texts(self) -> list[str]:
        """The documents' fields."""
        return list(self.manifest["texts"])

    @property
    def figures(self) -> dict[str, Any]:
        """What the build counted."""
        return self.manifest["stats"]

    def size(self, table: str) -> int:
        """How many queries, docs or edges there are."""
        return int(self.manifest["sizes"][table])

    def table(self, name: str) -> DataFrame:
        """One of the tables: queries, docs, edges, pairs."""
        return table_of(self.spark, self.path, self.manifest, name)


def table_of(spark: SparkSession, path: str, manifest: dict[str, Any], name: str) -> DataFrame:
    """The files that a manifest names for a table, and no others."""
    files = [
        entry["file"] for key, entry in sorted(manifest["files"].items()) if key.rpartition(".")[0] == name
    ]
    if not files:
        raise UserError(f"there is no table {name!r}", where=path)
    return spark.read.parquet(*(f"{path}/{file}" for file in files))
