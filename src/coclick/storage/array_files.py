"""`Csr`, `Strings` and `Vocab` as files of an artefact: one file for each of their arrays."""

from __future__ import annotations

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError
from coclick.storage.artefact import Artefact, ArtefactWriter


def write_csr(out: ArtefactWriter, name: str, matrix: Csr) -> None:
    """Store a matrix under `name`; the caller stores its shape."""
    out.array(f"{name}.indptr", matrix.indptr)
    out.array(f"{name}.indices", matrix.indices)
    out.array(f"{name}.data", matrix.data)


def read_csr(source: Artefact, name: str, rows: int, columns: int) -> Csr:
    """Map the matrix stored under `name` and check that its arrays fit together."""
    indptr, indices, data = (source.array(f"{name}.{part}") for part in ("indptr", "indices", "data"))
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(data):
        raise ArtefactError(f"the matrix {name!r} is corrupt", where=str(source.path))
    return Csr(indptr, indices, data, columns)


def write_strings(out: ArtefactWriter, name: str, strings: Strings) -> None:
    """Store texts or a vocabulary under `name`."""
    out.array(f"{name}.offsets", strings.offsets)
    out.array(f"{name}.data", strings.data)
    if isinstance(strings, Vocab) and len(strings.order):
        out.array(f"{name}.order", strings.order)


def read_strings(source: Artefact, name: str) -> Strings:
    """Map the texts stored under `name`."""
    offsets, data = source.array(f"{name}.offsets"), source.array(f"{name}.data")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data):
        raise ArtefactError(f"the texts {name!r} are corrupt", where=str(source.path))
    return Strings(offsets, data)


def read_vocab(source: Artefact, name: str) -> Vocab:
    """Map the vocabulary stored under `name`."""
    strings = read_strings(source, name)
    order = source.array(f"{name}.order") if f"{name}.order" in source else None
    if order is not None and len(order) != len(strings):
        raise ArtefactError(f"the vocabulary {name!r} is corrupt", where=str(source.path))
    return Vocab(strings.offsets, strings.data, order)
