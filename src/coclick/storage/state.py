"""Write and read the learned state of a model, without any code in the model.

Every attribute whose name ends in `_` is state: arrays, sparse rows, strings, plain JSON values, dataclasses
marked `@stored`, field by field, and lists of those. Reading constructs only the types registered here,
whatever an untrusted manifest says. Spark stores state in tables (`table`) and does not store indexes: those
are built from their vectors when the model is opened (`built_from`).
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError, UserError
from coclick.storage import parquet_tables
from coclick.storage.array_files import read_csr, read_strings, read_vocab, write_csr, write_strings
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.manifest import DTYPES, MANIFEST

T = TypeVar("T")
_STORED: dict[str, type] = {}


def stored(cls: type[T]) -> type[T]:
    """Mark a dataclass whose fields are all storable as storable itself."""
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass")
    other = _STORED.setdefault(cls.__name__, cls)
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise TypeError(f"{cls.__name__} is stored already, by {other.__module__}")
    _STORED[cls.__name__] = cls
    return cls


def write_value(out: ArtefactWriter, name: str, value: Any) -> dict[str, Any]:
    """Store `value` under `name`; return the manifest entry that `read_value` needs."""
    if isinstance(value, np.ndarray):
        out.array(name, value)
        return {"type": "array"}
    if isinstance(value, Csr):
        write_csr(out, name, value)
        return {"type": "csr", "rows": value.rows, "columns": value.columns}
    if isinstance(value, Strings):
        write_strings(out, name, value)
        return {"type": "vocab" if isinstance(value, Vocab) else "strings"}
    if type(value).__name__ in _STORED:
        names = [part.name for part in fields(value)]
        parts = {part: write_value(out, f"{name}.{part}", getattr(value, part)) for part in names}
        return {"type": type(value).__name__, "fields": parts}
    if isinstance(value, list) and any(type(item).__name__ in _STORED for item in value):
        return {"type": "list", "items": [write_value(out, f"{name}.{i}", v) for i, v in enumerate(value)]}
    return {"type": "json", "value": value}


def read_value(source: Artefact, name: str, entry: dict[str, Any]) -> Any:
    """Read a value that `write_value` stored. Only the gate (`coclick.storage.gate`) may pass it on."""
    try:
        kind = entry["type"]
        if kind == "json":
            return entry["value"]
        if "table" in entry:
            return _read_table(source, entry)
        if "built_from" in entry:
            build = getattr(_STORED[kind], "build")  # noqa: B009
            return build(read_value(source, name, entry["built_from"]))
        if kind == "array":
            return source.array(name)
        if kind == "csr":
            return read_csr(source, name, entry["columns"])
        if kind == "vocab":
            return read_vocab(source, name)
        if kind == "strings":
            return read_strings(source, name)
        if kind == "list":
            return [read_value(source, f"{name}.{i}", item) for i, item in enumerate(entry["items"])]
        parts = {
            part.name: read_value(source, f"{name}.{part.name}", entry["fields"][part.name])
            for part in fields(_STORED[kind])
            if part.name in entry["fields"] or part.default is MISSING  # written before the field existed
        }
        return _STORED[kind](**parts)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        what = f"the manifest does not describe {name!r}"
        raise ArtefactError(what, where=str(source.path / MANIFEST)) from None


def _read_table(source: Artefact, entry: dict[str, Any]) -> Any:
    """A value that Spark wrote as a table, or as a column of one."""
    kind, table = entry["type"], str(entry["table"])
    if kind == "csr":
        return parquet_tables.read_csr(source, table, entry["rows"], entry["columns"])
    if kind == "array":
        return parquet_tables.read_array(source, table, entry["column"], entry["dtype"])
    if kind == "dense":
        return parquet_tables.read_csr(source, table, entry["rows"], entry["columns"]).to_scipy().toarray()
    if kind == "pointers":
        return parquet_tables.read_pointers(source, table, entry["column"], entry["rows"])
    if kind == "grams":
        return parquet_tables.read_grams(source, table)
    read = {"vocab": parquet_tables.read_vocab, "strings": parquet_tables.read_strings}[kind]
    return read(source, table, entry["column"])


def check_storable(name: str, value: Any) -> None:
    """Raise if a value cannot be stored, so that training fails early instead of saving."""
    if isinstance(value, np.ndarray):
        if value.dtype.str not in DTYPES:
            raise UserError(f"{name} cannot be stored: arrays of {value.dtype} are not supported")
    elif isinstance(value, Csr | Strings):
        return
    elif type(value).__name__ in _STORED:
        for part in fields(value):
            check_storable(f"{name}.{part.name}", getattr(value, part.name))
    elif isinstance(value, list) and any(type(item).__name__ in _STORED for item in value):
        for i, item in enumerate(value):
            check_storable(f"{name}.{i}", item)
    else:
        try:
            same = json.loads(json.dumps(value, allow_nan=False)) == value
        except (TypeError, ValueError):
            same = False
        if not same:
            raise UserError(
                f"{name} cannot be stored: it is of the type {type(value).__name__}",
                hint="state is made of numpy arrays, Csr, Strings, Vocab, plain JSON values, "
                "and of dataclasses of those that are marked @stored",
            )
