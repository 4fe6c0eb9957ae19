"""`Csr`, `Strings` and `Vocab` as files of an artefact: one file for each of their arrays.

What is read here has not been checked. Only the gate (`coclick.storage.gate`) may pass it on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError
from coclick.storage.artefact import Artefact, ArtefactWriter


def write_csr(out: ArtefactWriter, name: str, matrix: Csr) -> None:
    """Store a matrix under `name`; the caller stores its shape."""
    out.array(f"{name}.indptr", matrix.indptr)
    out.array(f"{name}.indices", matrix.indices)
    out.array(f"{name}.data", matrix.data)


def read_csr(source: Artefact, name: str, columns: int) -> Csr:
    """Map the matrix stored under `name`. Its content is checked by the gate, before its first use."""
    indptr = _read_list(source, f"{name}.indptr", np.int64, 1)
    indices, data = (
        _read_list(source, f"{name}.{part}", dtype)
        for part, dtype in (("indices", np.int32), ("data", np.float32))
    )
    return Csr(indptr, indices, data, columns)


def write_strings(out: ArtefactWriter, name: str, strings: Strings) -> None:
    """Store texts or a vocabulary under `name`."""
    out.array(f"{name}.offsets", strings.offsets)
    out.array(f"{name}.data", strings.data)
    if isinstance(strings, Vocab) and len(strings.order):
        out.array(f"{name}.order", strings.order)


def read_strings(source: Artefact, name: str) -> Strings:
    """Map the texts stored under `name`. Their offsets are checked by the gate, before their first use."""
    offsets = _read_list(source, f"{name}.offsets", np.int64, 1)
    return Strings(offsets, _read_list(source, f"{name}.data", np.uint8))


def read_vocab(source: Artefact, name: str) -> Vocab:
    """Map the vocabulary stored under `name`; see `read_strings`."""
    strings = read_strings(source, name)
    order = _read_list(source, f"{name}.order", np.int32) if f"{name}.order" in source else None
    return Vocab(strings.offsets, strings.data, order)


def _read_list(source: Artefact, name: str, dtype: DTypeLike, shortest: int = 0) -> NDArray[Any]:
    """Map an array of one dimension with entries of this type."""
    values = source.array(name)
    if values.ndim != 1 or values.dtype != dtype or len(values) < shortest:
        found = f"{values.dtype} of the shape {values.shape}"
        what = f"the {source.kind} is damaged: {name}: it is not a list of {np.dtype(dtype)}, but {found}"
        raise ArtefactError(what, where=str(source.file(name)), hint="make it again, or copy it again")
    return values
