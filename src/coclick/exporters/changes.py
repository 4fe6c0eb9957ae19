"""What changed since an earlier export, by digests that every export keeps in `contents.npz`.

The file has the ids of all documents and queries that the engine holds once the export is loaded, with a
64-bit digest of each: of its id, its title and the words and weights as the engine stores them. A version is
a digest of these digests, so a whole export and the increments that lead to the same content have the same
version. Digests find changes, they do not protect against forgery.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError, CoclickError, UserError
from coclick.exporters import text_kernels as kernels
from coclick.exporters.limits import DocBlock
from coclick.exporters.output_folder import KIND
from coclick.exporters.packed_rows import hash_texts
from coclick.exporters.tolerance import Movements, Tolerance
from coclick.storage.manifest import MANIFEST, read_manifest
from coclick.storage.plain_files import open_plain

CONTENTS = "contents.npz"
_TITLE_SEED = 1
_MAX_UNIT = float(np.finfo(np.float64).max)
_ENCRYPTED = 1  # flag of an entry in an archive
_MIN_BLOCK = 1024  # documents that are worth the calls that write a block
_COMPARED = ("engine", "index", "model", "into", "id_field", "dimensions")  # must be as in the base

Digests = NDArray[np.uint64]


@dataclass(frozen=True)
class Contents:
    """Documents or queries with their digests."""

    ids: Strings
    digests: Digests
    moved: Movements  # since the vector that the engine has, of documents that were not written

    @classmethod
    def joined(cls, parts: Sequence[Contents]) -> Contents:
        """Return the entries of all parts."""
        return cls(
            Strings.joined([part.ids for part in parts]),
            np.concatenate([np.empty(0, np.uint64), *(part.digests for part in parts)]),
            np.concatenate([np.empty(0, np.float32), *(part.moved for part in parts)]),
        )


class _Base:
    """The entries of the base, found by their ids."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._seen = np.zeros(len(contents.ids), bool)
        self._next = 0  # the place after the last entry that was found

    @cached_property
    def _hashes(self) -> Digests:
        return hash_texts(self.contents.ids)

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        table = np.full(1 << (2 * len(self._hashes) + 1).bit_length(), -1, np.int32)
        kernels.fill_table(self._hashes, table)
        return table

    def next_entries(self, ids: Strings) -> slice | None:
        """Return the places of entries that follow those that were found before, as most do, or None."""
        expected = slice(self._next, self._next + len(ids))
        if expected.stop > len(self._seen) or not _same_texts(self.contents.ids, expected, ids):
            return None
        self._next = expected.stop
        self._seen[expected] = True
        return expected

    def find(self, hashes: Digests) -> NDArray[np.int64]:
        """Return the places of entries; −1 for those that the base does not have."""
        found = np.empty(len(hashes), np.int64)
        kernels.look_up(self._hashes, self._table, hashes, found)
        self._next = int(found.max(initial=-1)) + 1
        self._seen[found[found >= 0]] = True
        return found

    def unseen(self) -> list[str]:
        """Return the ids that were not compared."""
        return self.contents.ids.take(np.flatnonzero(~self._seen)).to_list()


def _same_texts(texts: Strings, rows: slice, others: Strings) -> bool:
    """Return whether some texts are equal to others."""
    offsets = texts.offsets[rows.start : rows.stop + 1]
    return np.array_equal(texts.data[offsets[0] : offsets[-1]], others.data) and np.array_equal(
        offsets - offsets[0], others.offsets
    )


class ContentTracker:
    """Records documents or queries as they are exported, and tells which of them differ from the base."""

    def __init__(
        self, column_hashes: Digests, base: Contents | None = None, tolerance: Tolerance | None = None
    ) -> None:
        """Take the hash of each column's word or number, and the contents of the base, if there is one.

        With a tolerance, documents whose vectors moved less do not differ.
        """
        self.added = self.changed = self.unwritten = 0
        self.largest_movement = 0.0  # of those that were not written
        self._column_hashes, self._parts = column_hashes, list[Contents]()
        self._base = None if base is None else _Base(base)
        self._tolerance = tolerance

    def record(self, ids: Strings, titles: Strings | None, vectors: Csr) -> NDArray[np.int64]:
        """Record entries; return the places of those that differ from the base, all if there is none."""
        hashes = hash_texts(ids)
        digests = hashes.copy() if titles is None else hashes + hash_texts(titles, _TITLE_SEED)
        weights = np.ascontiguousarray(vectors.data, np.float32)
        columns = vectors.indices.view(np.uint32)
        kernels.add_entry_digests(
            vectors.indptr, columns, weights.view(np.uint32), self._column_hashes, digests
        )
        held = Contents(ids, digests, np.zeros(len(ids), np.float32))
        self._parts.append(held)
        if self._base is None:
            return np.arange(len(ids))
        before = self._base.contents
        if (entries := self._base.next_entries(ids)) is not None:
            new = np.empty(0, np.int64)
            changed = np.flatnonzero(before.digests[entries] != digests)
            old = changed + entries.start
        else:
            places = self._base.find(hashes)
            new, known = np.flatnonzero(places < 0), np.flatnonzero(places >= 0)
            changed = known[before.digests[places[known]] != digests[known]]
            old = places[changed]
        if self._tolerance is not None and len(changed):
            found = self._tolerance.movements(
                ids.take(changed), titles and titles.take(changed), vectors.take(changed)
            )
            changed = changed[~self._keep_near(held, before, changed, old, found)]
        self.added += len(new)
        self.changed += len(changed)
        return np.sort(np.concatenate([new, changed])) if len(new) else changed

    def _keep_near(
        self,
        held: Contents,
        base: Contents,
        rows: NDArray[np.int64],
        places: NDArray[np.int64],
        movements: Movements,
    ) -> NDArray[np.bool_]:
        """Let documents stay as they are in the base, in these places, if they moved little; mark them."""
        assert self._tolerance is not None
        moved = base.moved[places] + movements
        near = moved <= self._tolerance.limit
        held.digests[rows[near]] = base.digests[places[near]]
        held.moved[rows[near]] = moved[near]
        self.unwritten += int(near.sum())
        self.largest_movement = max(self.largest_movement, float(moved[near].max(initial=0)))
        return near

    def differing(self, blocks: Iterable[DocBlock], *, titles: bool) -> Iterator[DocBlock]:
        """Record all documents, and yield those that differ from the base, in blocks that are not small."""
        found: list[DocBlock] = []
        for block in blocks:
            rows = self.record(block.packed_ids, block.packed_titles if titles else None, block.vectors)
            if len(rows):
                found.append(block.take(rows))
            if sum(len(part.packed_ids) for part in found) >= _MIN_BLOCK:
                yield DocBlock.joined(found)
                found = []
        if found:
            yield DocBlock.joined(found)

    def contents(self) -> Contents:
        """Return all recorded entries."""
        return Contents.joined(self._parts)

    def deleted(self) -> list[str]:
        """Return the ids that only the base has."""
        return [] if self._base is None else self._base.unseen()


@dataclass(frozen=True)
class BaseExport:
    """An earlier export, which is loaded in the engine: its version and what it contains."""

    version: str
    score_unit: float
    graph: str  # the digest of the graph of the model
    docs: Contents
    queries: Contents

    @classmethod
    def open(cls, path: Path, stats: dict[str, Any]) -> BaseExport:
        """Read a folder; raise if it is no export, damaged, or of something else than `stats` says."""
        if not (path / MANIFEST).exists():
            raise UserError("this is not the folder of an export", where=str(path))
        manifest = read_manifest(path, allow_older=True)
        if manifest.get("kind") != KIND or not isinstance(manifest.get("version"), str):
            raise UserError("this is not the folder of an export", where=str(path))
        for name in _COMPARED:
            if manifest.get(name) != stats.get(name):
                raise UserError(
                    f"--changes-from: that export has the {name} {manifest.get(name, 'none')}, "
                    f"and this one {stats.get(name, 'none')}",
                    where=str(path),
                    hint="export the whole model, without --changes-from",
                )
        docs, queries = _read_contents(path)
        if content_version(docs, queries, manifest) != manifest["version"]:
            raise _damaged(path)
        unit = manifest.get("score_unit", 1)
        if not isinstance(unit, int | float) or not 0 < unit < _MAX_UNIT:
            raise _damaged(path)
        return cls(manifest["version"], float(unit), str(manifest.get("graph")), docs, queries)


def content_version(docs: Contents, queries: Contents, stats: dict[str, Any]) -> str:
    """Return a short digest of all content and of what else its scores depend on."""
    settings = {name: stats.get(name) for name in (*_COMPARED, "score_unit")}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for contents in (docs, queries):
        digest.update(len(contents.digests).to_bytes(8, "little"))
        digest.update(int(contents.digests.sum(dtype=np.uint64)).to_bytes(8, "little"))  # in any order
    return digest.hexdigest()[:12]


def write_contents(folder: Path, docs: Contents, queries: Contents) -> None:
    """Write the ids and digests to one file."""
    arrays: dict[str, Any] = {}
    for name, contents in (("docs", docs), ("queries", queries)):
        arrays[f"{name}_offsets"], arrays[f"{name}_ids"] = contents.ids.offsets, contents.ids.data
        arrays[f"{name}_digests"] = contents.digests
        if contents.moved.any():
            arrays[f"{name}_moved"] = contents.moved
    with (folder / CONTENTS).open("wb") as file:
        np.savez(file, **arrays)


def _read_contents(path: Path) -> tuple[Contents, Contents]:
    if not (path / CONTENTS).exists():
        raise UserError(
            f"the export has no {CONTENTS}, by which changes are found",
            where=str(path),
            hint="export the whole model, without --changes-from; earlier releases wrote no such file",
        )
    try:
        with open_plain(path, CONTENTS) as stream:
            _check_uncompressed(stream)
            with np.load(stream, allow_pickle=False) as arrays:
                docs, queries = (_checked(arrays, name) for name in ("docs", "queries"))
                return docs, queries
    except CoclickError:
        raise
    except (OSError, ValueError, KeyError, EOFError, OverflowError, MemoryError, zipfile.BadZipFile):
        raise _damaged(path) from None


def _check_uncompressed(stream: BinaryIO) -> None:
    """Raise unless an archive is as `write_contents` writes it: a small one could hold endless content."""
    with zipfile.ZipFile(stream) as archive:
        if any(entry.compress_type or entry.flag_bits & _ENCRYPTED for entry in archive.infolist()):
            raise ValueError("compressed or encrypted")
    stream.seek(0)


def _checked(arrays: Any, name: str) -> Contents:
    offsets, data, digests = (arrays[f"{name}_{part}"] for part in ("offsets", "ids", "digests"))
    kinds = offsets.dtype, data.dtype, digests.dtype
    if kinds != (np.int64, np.uint8, np.uint64) or {offsets.ndim, data.ndim, digests.ndim} != {1}:
        raise ValueError("wrong types")
    if len(offsets) != len(digests) + 1 or offsets[0] != 0 or offsets[-1] != len(data):
        raise ValueError("wrong lengths")
    if np.any(np.diff(offsets) < 0):
        raise ValueError("pointers do not ascend")
    moved = arrays[f"{name}_moved"] if f"{name}_moved" in arrays else np.zeros(len(digests), np.float32)
    if moved.dtype != np.float32 or moved.shape != digests.shape or not np.all(moved >= 0):
        raise ValueError("wrong movements")
    return Contents(Strings(offsets, data), digests, moved)


def _damaged(path: Path) -> ArtefactError:
    return ArtefactError(
        f"{CONTENTS} is damaged or belongs to another export",
        where=str(path),
        hint="export the whole model, without --changes-from",
    )
