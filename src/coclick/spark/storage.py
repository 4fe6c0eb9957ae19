"""Where Spark writes: tables of Parquet, written by the executors, and the one manifest that makes them an
artefact.

The driver sees names, sizes and digests of files, never their content. Everything goes through Hadoop's file
systems, so a graph can lie wherever Spark can write. A table is named in no manifest before all of it is
there: what a failed job leaves behind is never taken for a finished one, and the next job removes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick._version import __version__
from coclick.errors import ArtefactError, UserError
from coclick.storage.directories import check_names, check_replaces
from coclick.storage.manifest import FORMAT, MANIFEST, OWN_NAME

_WORK_NAME = re.compile(r"_work-[0-9a-f]{16}")


class Place:
    """A directory on any file system that Spark can reach."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        jvm = spark._jvm  # pyspark has no public way to Hadoop's file systems; its versions are pinned
        assert jvm is not None
        self._Path = jvm.org.apache.hadoop.fs.Path
        configuration = spark._jsc.hadoopConfiguration()
        fs = self._Path(path).getFileSystem(configuration)
        self._is_local = fs.getUri().getScheme() == "file"
        if self._is_local:  # without files of checksums beside everything
            fs = fs.getRaw()
        self._fs = fs
        self.path = self._Path(path).makeQualified(fs.getUri(), fs.getWorkingDirectory()).toString()

    def names(self) -> list[str]:
        """What the directory holds; nothing if it is not there."""
        here = self._Path(self.path)
        if not self._fs.exists(here):
            return []
        return [status.getPath().getName() for status in self._fs.listStatus(here)]

    def sizes(self, directory: str) -> dict[str, int]:
        """The Parquet files of a table, with their sizes."""
        listed = self._fs.listStatus(self._Path(f"{self.path}/{directory}"))
        files = {status.getPath().getName(): int(status.getLen()) for status in listed}
        return {name: size for name, size in files.items() if name.endswith(".parquet")}

    def read(self, name: str) -> str:
        """A small text file."""
        stream = self._fs.open(self._Path(f"{self.path}/{name}"))
        try:
            jvm = self.spark._jvm
            assert jvm is not None
            return jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def replace(self, name: str, text: str) -> None:
        """Write a small text file so that readers see the old one or the new one, whole."""
        part = self._Path(f"{self.path}/_{name}-{uuid4().hex}")
        stream = self._fs.create(part, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        target = self._Path(f"{self.path}/{name}")
        if self._is_local:
            Path(part.toUri().getPath()).replace(target.toUri().getPath())
        else:
            self._rename_over(part, target)

    def _rename_over(self, part: Any, target: Any) -> None:
        """In one step where the file system can. Where it cannot, there is no artefact for a moment."""
        from py4j.protocol import Py4JJavaError

        jvm, gateway = self.spark._jvm, self.spark._sc._gateway
        assert jvm is not None and gateway is not None
        hadoop = jvm.org.apache.hadoop.fs
        how = gateway.new_array(hadoop.Options.Rename, 1)
        how[0] = hadoop.Options.Rename.OVERWRITE
        try:
            context = hadoop.FileContext.getFileContext(self._fs.getUri(), self._fs.getConf())
            context.rename(part, target, how)
        except Py4JJavaError:
            self._fs.delete(target, False)
            if not self._fs.rename(part, target):
                raise ArtefactError("the manifest could not be put in place", where=self.path) from None

    def remove(self, name: str) -> None:
        """A file or directory in here, with all that it holds."""
        self._fs.delete(self._Path(f"{self.path}/{name}"), True)


class Work:
    """A directory for what passes between steps; all workers must reach it, and it is removed."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        self._count = 0

    def saved(self, name: str, frame: DataFrame) -> DataFrame:
        """The frame, computed, written and read back: what reads it depends on nothing before it."""
        self._count += 1
        place = f"{self.path}/{self._count:03}-{name}"
        frame.write.option("compression", "none").parquet(place)
        return self.spark.read.schema(frame.schema).parquet(place)


class Output:
    """The tables of one artefact in the making."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.work = Work(place.spark, f"{place.path}/_work-{uuid4().hex[:16]}")
        self._run = uuid4().hex[:16]
        self._tables: list[str] = []

    def table(self, name: str, frame: DataFrame) -> DataFrame:
        """Write a table, and read it back."""
        path = f"{self.place.path}/{name}-{self._run}"
        frame.write.parquet(path)
        self._tables.append(name)
        return self.place.spark.read.schema(frame.schema).parquet(path)

    def commit(self, kind: str, **fields: Any) -> None:
        """Make the tables the artefact; what it replaces is removed."""
        files: dict[str, dict[str, Any]] = {}
        digests = self._digests()
        for name in self._tables:
            directory = f"{name}-{self._run}"
            for number, (file, size) in enumerate(sorted(self.place.sizes(directory).items())):
                path = f"{directory}/{file}"
                entry = {"file": path, "bytes": size, "digest": digests[path]}
                files[f"{name}.{number:05}"] = entry
        head = {"format": FORMAT, "coclick": __version__, "kind": kind, "layout": "parquet"}
        manifest = head | fields | {"files": files}
        self.place.replace(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False))

    def _digests(self) -> dict[str, str]:
        """Of each file of each table, computed by the executors."""
        files = [f"{self.place.path}/{name}-{self._run}/*.parquet" for name in self._tables]
        content = self.place.spark.read.format("binaryFile").load(files)
        path = F.slice(F.split("path", "/"), -2, 2)
        found = content.select(F.array_join(path, "/"), F.sha2("content", 256)).collect()
        return {row[0]: row[1] for row in found}

    def clear(self) -> None:
        """Remove everything of ours that no manifest names."""
        names = self.place.names()
        kept = _named(self.place) if MANIFEST in names else set()
        for name in names:
            if _is_ours(name) and name not in kept:
                self.place.remove(name)


@contextmanager
def cleaning(clean: Callable[[], object]) -> Iterator[None]:
    """Clean up in the end. Where something failed, people hear of that, even if cleaning fails, too: a
    driver whose JVM is gone can remove nothing."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            clean()
        raise
    clean()


@contextmanager
def scratch(spark: SparkSession, path: str, table: str) -> Iterator[tuple[str, Work]]:
    """The path of a table that is no artefact, in a directory that must be new, and a work directory there.
    An unfinished table is removed, so that one can try again."""
    place = Place(spark, path)
    if place.names():
        raise UserError("the output exists", where=place.path, hint="choose a new directory")
    work = f"_work-{uuid4().hex[:16]}"
    unfinished = [table]

    def clear() -> None:
        for name in [work, *unfinished]:
            place.remove(name)

    with cleaning(clear):
        yield f"{place.path}/{table}", Work(spark, f"{place.path}/{work}")
        unfinished.clear()


@contextmanager
def output(spark: SparkSession, path: str, kind: str, force: bool) -> Iterator[Output]:
    """A directory for an artefact; refuses one that is there without `force`, and cleans up in any case."""
    place = Place(spark, path)
    check_place(place, kind, force)
    out = Output(place)
    out.clear()
    with cleaning(out.clear):
        yield out


def check_place(place: Place, kind: str, force: bool) -> None:
    """Raise if an artefact may not be written there."""
    names = place.names()
    check_names(place.path, names, _is_ours, force)
    if MANIFEST in names:
        check_replaces(place.path, read_manifest_at(place)["kind"], kind)


def read_manifest_at(place: Place) -> dict[str, Any]:
    """The manifest of an artefact that Spark can reach."""
    if MANIFEST not in place.names():
        raise UserError(
            "no graph or model here: it has no manifest.json",
            where=place.path,
            hint="if a build or a training was interrupted, run it again",
        )
    try:
        manifest = json.loads(place.read(MANIFEST))
        if manifest["format"] != FORMAT or not isinstance(manifest["files"], dict):
            raise ValueError("another format")
    except (ValueError, KeyError, TypeError) as error:
        raise ArtefactError(f"the manifest cannot be read: {error}", where=place.path) from None
    return manifest


def _named(place: Place) -> set[str]:
    return {entry["file"].partition("/")[0] for entry in read_manifest_at(place)["files"].values()}


def _is_ours(name: str) -> bool:
    unfinished = name.startswith(f"_{MANIFEST}-")
    return bool(OWN_NAME.fullmatch(name) or _WORK_NAME.fullmatch(name) or unfinished)
