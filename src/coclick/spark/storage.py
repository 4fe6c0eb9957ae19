"""Write artefacts from Spark: Parquet tables written by the executors, committed by one manifest.

The driver sees names, sizes and digests of files, never their content. All access goes through Hadoop's file
systems, so an artefact can be stored wherever Spark can write. The manifest lists only complete tables: the
leftovers of a failed job are never read, and the next job removes them.
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
from coclick.storage.directories import check_replaceable, check_same_kind
from coclick.storage.manifest import ENTRY_NAME, FORMAT, MANIFEST, check_format, with_digest

_WORK_NAME = re.compile(r"_work-[0-9a-f]{16}")


class HadoopDir:
    """A directory on any file system that Spark can reach."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        jvm = spark._jvm  # pyspark has no public way to Hadoop's file systems; its versions are pinned
        assert jvm is not None
        self._Path = jvm.org.apache.hadoop.fs.Path
        configuration = spark._jsc.hadoopConfiguration()
        fs = self._Path(path).getFileSystem(configuration)
        self._is_local = fs.getUri().getScheme() == "file"
        if self._is_local:  # do not write .crc files
            fs = fs.getRaw()
        self._fs = fs
        self.path = self._Path(path).makeQualified(fs.getUri(), fs.getWorkingDirectory()).toString()

    def names(self) -> list[str]:
        """List the names in the directory; empty if it does not exist."""
        here = self._Path(self.path)
        if not self._fs.exists(here):
            return []
        return [status.getPath().getName() for status in self._fs.listStatus(here)]

    def sizes(self, directory: str) -> dict[str, int]:
        """Return the Parquet files of a table with their sizes."""
        listed = self._fs.listStatus(self._Path(f"{self.path}/{directory}"))
        files = {status.getPath().getName(): int(status.getLen()) for status in listed}
        return {name: size for name, size in files.items() if name.endswith(".parquet")}

    def read(self, name: str) -> str:
        """Read a small text file."""
        stream = self._fs.open(self._Path(f"{self.path}/{name}"))
        try:
            jvm = self.spark._jvm
            assert jvm is not None
            return jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def replace(self, name: str, text: str) -> None:
        """Replace a small text file atomically."""
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
        """Rename atomically where the file system can; elsewhere the artefact is briefly missing."""
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
                raise ArtefactError("cannot write the manifest", where=self.path) from None

    def remove(self, name: str) -> None:
        """Remove a file or directory with its content."""
        self._fs.delete(self._Path(f"{self.path}/{name}"), True)


class WorkDir:
    """A temporary directory for intermediate tables; all workers must be able to reach it."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        self._count = 0

    def checkpoint(self, name: str, frame: DataFrame) -> DataFrame:
        """Write a frame and read it back, so that what follows does not depend on its lineage."""
        self._count += 1
        path = f"{self.path}/{self._count:03}-{name}"
        frame.write.option("compression", "none").parquet(path)
        return self.spark.read.schema(frame.schema).parquet(path)


class TableWriter:
    """Write the tables of one artefact, then commit them."""

    def __init__(self, directory: HadoopDir) -> None:
        self.directory = directory
        self.work = WorkDir(directory.spark, f"{directory.path}/_work-{uuid4().hex[:16]}")
        self._run = uuid4().hex[:16]
        self._tables: list[str] = []

    def write_table(self, name: str, frame: DataFrame) -> DataFrame:
        """Write a table and read it back."""
        path = f"{self.directory.path}/{name}-{self._run}"
        frame.write.parquet(path)
        self._tables.append(name)
        return self.directory.spark.read.schema(frame.schema).parquet(path)

    def commit(self, kind: str, **fields: Any) -> None:
        """Write the manifest, which replaces a previous artefact."""
        files: dict[str, dict[str, Any]] = {}
        digests = self._digests()
        for name in self._tables:
            table = f"{name}-{self._run}"
            for number, (file, size) in enumerate(sorted(self.directory.sizes(table).items())):
                path = f"{table}/{file}"
                entry = {"file": path, "bytes": size, "digest": digests[path]}
                files[f"{name}.{number:05}"] = entry
        head = {"format": FORMAT, "coclick": __version__, "kind": kind, "layout": "parquet"}
        manifest = with_digest(head | fields | {"files": files})
        self.directory.replace(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False))

    def _digests(self) -> dict[str, str]:
        """The digest of each file, computed by the executors."""
        files = [f"{self.directory.path}/{name}-{self._run}/*.parquet" for name in self._tables]
        content = self.directory.spark.read.format("binaryFile").load(files)
        path = F.slice(F.split("path", "/"), -2, 2)
        found = content.select(F.array_join(path, "/"), F.sha2("content", 256)).collect()
        return {row[0]: row[1] for row in found}

    def remove_unreferenced(self) -> None:
        """Remove coclick's files that no manifest references."""
        names = self.directory.names()
        kept = _referenced(self.directory) if MANIFEST in names else set()
        for name in names:
            if _is_coclick_file(name) and name not in kept:
                self.directory.remove(name)


@contextmanager
def cleanup(clean: Callable[[], object]) -> Iterator[None]:
    """Clean up at the end.

    An earlier error is raised even if cleaning fails too: without its JVM a driver cannot remove files.
    """
    try:
        yield
    except BaseException:
        with suppress(Exception):
            clean()
        raise
    clean()


@contextmanager
def scratch_table(spark: SparkSession, path: str, table: str) -> Iterator[tuple[str, WorkDir]]:
    """Yield the path of a plain table in a new directory, and a work directory.

    An unfinished table is removed, so that the job can be repeated.
    """
    directory = HadoopDir(spark, path)
    if directory.names():
        raise UserError("the output exists", where=directory.path, hint="choose a new directory")
    work = f"_work-{uuid4().hex[:16]}"
    unfinished = [table]

    def clear() -> None:
        for name in [work, *unfinished]:
            directory.remove(name)

    with cleanup(clear):
        yield f"{directory.path}/{table}", WorkDir(spark, f"{directory.path}/{work}")
        unfinished.clear()


@contextmanager
def open_output(spark: SparkSession, path: str, kind: str, force: bool) -> Iterator[TableWriter]:
    """Open a directory for an artefact; an existing one requires `force`. Cleans up in any case."""
    directory = HadoopDir(spark, path)
    check_directory(directory, kind, force)
    out = TableWriter(directory)
    out.remove_unreferenced()
    with cleanup(out.remove_unreferenced):
        yield out


def check_directory(directory: HadoopDir, kind: str, force: bool) -> None:
    """Raise if an artefact must not be written to this directory."""
    names = directory.names()
    check_replaceable(directory.path, names, _is_coclick_file, force)
    if MANIFEST in names:
        check_same_kind(directory.path, read_manifest_at(directory, allow_older=True)["kind"], kind)


def read_manifest_at(directory: HadoopDir, allow_older: bool = False) -> dict[str, Any]:
    """Read the manifest of an artefact."""
    if MANIFEST not in directory.names():
        raise UserError(
            "no graph or model here: it has no manifest.json",
            where=directory.path,
            hint="if a build or a training was interrupted, run it again",
        )
    try:
        manifest = json.loads(directory.read(MANIFEST))
        check_format(manifest, directory.path, allow_older=allow_older)
        if not isinstance(manifest["files"], dict):
            raise ValueError("it lists no files")
    except (ValueError, KeyError, TypeError) as error:
        raise ArtefactError(f"the manifest cannot be read: {error}", where=directory.path) from None
    return manifest


def _referenced(directory: HadoopDir) -> set[str]:
    files = read_manifest_at(directory, allow_older=True)["files"]
    return {entry["file"].partition("/")[0] for entry in files.values()}


def _is_coclick_file(name: str) -> bool:
    unfinished = name.startswith(f"_{MANIFEST}-")
    return bool(ENTRY_NAME.fullmatch(name) or _WORK_NAME.fullmatch(name) or unfinished)
