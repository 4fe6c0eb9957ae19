"""The gate: the only way from the files of an artefact to values that code works with.

A stored value passes in two steps, both driven by its declaration (`coclick.storage.layout`):

1. `Gate.fit` runs when the artefact is opened and reads no content. The value has the declared type; its
   arrays have the declared element type and number of dimensions; sizes of the same name agree.
2. The first use of the value reads its arrays once: pointers ascend, indices are within bounds, numbers are
   finite, and the class finds no further defect (`find_defect`). Until then no code can reach the value:
   `Gated` objects return an attribute only after its check. That it passed is remembered.

So SciPy, compiled code and NumPy see no array of a file that was not checked, and need no checks themselves.
A defect raises an `ArtefactError` that names the file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from coclick.arrays.content_checks import ascends, is_finite, is_not_negative, is_within
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError
from coclick.storage.artefact import Artefact
from coclick.storage.layout import Index, MayBeMissing, NotNegative, Pointers, Shape

MAX_SIZE = 2**31 - 1  # of a dimension whose indices are stored in 32 bits
_DECLARATIONS: dict[Any, dict[str, Any]] = {}  # by class: reading annotations takes longer than opening
_CHECKING = threading.RLock()  # threads that need the same value wait instead of checking it again
_JSON = (bool, int, str)
_LARGEST = float(np.finfo(np.float64).max)
_ABSTRACT = (np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating)


def _renew_lock() -> None:
    global _CHECKING
    _CHECKING = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)  # the thread that holds it is not inherited


class Scope:
    """The sizes of dimensions. A scope inside another one shares some of its dimensions under other names."""

    def __init__(self, shared: Mapping[str, tuple[Scope, str | int]] | None = None) -> None:
        self._shared = dict(shared or {})
        self._sizes: dict[str, int] = {}

    def size(self, dimension: str | int) -> int | None:
        """Return the size of a dimension, None if it is not known yet."""
        if isinstance(dimension, int):
            return dimension
        if dimension in self._shared:
            scope, name = self._shared[dimension]
            return scope.size(name)
        return self._sizes.get(dimension)

    def set(self, dimension: str | int, size: int) -> str | None:
        """Set the size of a dimension; return what is wrong if it has another one."""
        known = self.size(dimension)
        if known is None:
            if isinstance(dimension, str) and dimension in self._shared:
                scope, name = self._shared[dimension]
                return scope.set(name, size)
            self._sizes[str(dimension)] = size
            return None
        return None if known == size else f"it has {size:,} {dimension}, and other parts have {known:,}"

    def share(self, other_names: Mapping[str, str]) -> None:
        """Give dimensions of this scope further names."""
        self._shared |= {other: (self, name) for other, name in other_names.items()}

    def inside(self, own: tuple[str, ...], names: tuple[str | int, ...]) -> Scope:
        """Return the scope of a class whose dimensions `own` have these names here."""
        return Scope({mine: (self, name) for mine, name in zip(own, names, strict=False)})


class Gate:
    """Checks the stored values of one artefact."""

    def __init__(self, source: Artefact) -> None:
        self.source = source

    def fit(self, declared: Any, value: Any, name: str, scope: Scope) -> None:
        """Check types and sizes of a value that is stored under `name`; raise if it is not as declared."""
        kind, marks = _declaration(declared, value)
        if kind is Any:
            kind = type(value)
        if value is None and kind is NoneType:
            return
        if not _is_a(kind, value):
            raise self.error(name, f"it is not {_describe(kind)}")
        if isinstance(value, np.ndarray):
            self._fit_array(kind, marks, value, name, scope)
        elif isinstance(value, Csr):
            self._fit_csr(marks, value, name, scope)
        elif isinstance(value, Strings):
            self._fit_strings(marks, value, name, scope)
        elif isinstance(value, list):
            [item] = get_args(kind) or [Any]
            for i, one in enumerate(value):
                self.fit(item, one, f"{name}.{i}", scope)
        elif isinstance(value, Mapping):
            [*_, item] = get_args(kind) or [Any]
            for key, one in value.items():
                self.fit(item, one, f"{name}.{key}", scope)
        elif is_dataclass(value):
            self._fit_class(marks, value, name, scope)

    def check(self, declared: Any, value: Any, name: str, scope: Scope) -> None:
        """Read the content of a value that fits; raise if it is damaged."""
        kind, marks = _declaration(declared, value)
        if isinstance(value, np.ndarray):
            if defect := _find_array_defect(value, marks, scope):
                raise self.error(name, defect)
        elif isinstance(value, list | Mapping):
            item = (get_args(kind) or [Any])[-1]
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            for key, one in pairs:
                self.check(item, one, f"{name}.{key}", scope)
        elif isinstance(value, Csr | Strings):
            if defect := value.find_defect():
                raise self.error(name, defect)
            if marks.not_negative and isinstance(value, Csr) and not is_not_negative(value.data):
                raise self.error(f"{name}.data", "a value is negative")
        elif is_dataclass(value):
            inner = self._fit_class(marks, value, name, scope)
            declarations = declarations_of(type(value))
            for part in fields(value):
                one = getattr(value, part.name)
                self.check(declarations.get(part.name, Any), one, f"{name}.{part.name}", inner)
            if hasattr(value, "find_defect") and (defect := value.find_defect()):
                raise self.error(name, defect)

    def checked(self, declared: Any, value: Any, name: str, scope: Scope) -> Any:
        """Return a value that is used at once, checked in both steps."""
        self.fit(declared, value, name, scope)
        self.check(declared, value, name, scope)
        return value

    def error(self, name: str, defect: str) -> ArtefactError:
        """Return the error for a damaged value, with the file of its first array."""
        files = self.source.files
        held = name if name in files else next((one for one in files if one.startswith(f"{name}.")), None)
        where = self.source.path / files[held]["file"] if held else self.source.path / "manifest.json"
        return ArtefactError(
            f"the {self.source.kind} is damaged: {name}: {defect}",
            where=str(where),
            hint="make it again, or copy it again; `coclick verify` checks all files",
        )

    def _fit_array(self, kind: Any, marks: Marks, value: Any, name: str, scope: Scope) -> None:
        dtype = _dtype(kind)
        if dtype is not None and value.dtype != dtype:
            raise self.error(name, f"its entries are {value.dtype}, not {dtype}")
        if marks.pointers:
            if value.ndim != 1 or not len(value):
                raise self.error(name, "it is not a list of row pointers")
            self._set(name, scope, marks.pointers.rows, len(value) - 1)
        elif marks.shape:
            if value.ndim != len(marks.shape.dimensions):
                expected = len(marks.shape.dimensions)
                raise self.error(name, f"it has {value.ndim} dimensions, not {expected}")
            for dimension, size in zip(marks.shape.dimensions, value.shape, strict=True):
                self._set(name, scope, dimension, size)

    def _fit_csr(self, marks: Marks, value: Csr, name: str, scope: Scope) -> None:
        parts = (("indptr", np.int64), ("indices", np.int32), ("data", np.float32))
        self._fit_parts(value, parts, name)  # those of a file are, but not those of a class in a package
        if not len(value.indptr) or len(value.indices) != len(value.data):
            raise self.error(name, "its arrays have different lengths")
        if type(value.columns) is not int or not 0 <= value.columns <= MAX_SIZE:
            raise self.error(name, "it has no valid number of columns")
        if marks.shape:
            for dimension, size in zip(marks.shape.dimensions, (value.rows, value.columns), strict=True):
                self._set(name, scope, dimension, size)

    def _fit_strings(self, marks: Marks, value: Strings, name: str, scope: Scope) -> None:
        parts: tuple[tuple[str, Any], ...] = (("offsets", np.int64), ("data", np.uint8))
        self._fit_parts(value, (*parts, ("order", np.int32)) if isinstance(value, Vocab) else parts, name)
        if not len(value.offsets):
            raise self.error(f"{name}.offsets", "it is empty")
        if isinstance(value, Vocab) and len(value.order) not in (0, len(value)):
            raise self.error(f"{name}.order", "it does not have an entry for each text")
        if marks.shape:
            self._set(name, scope, marks.shape.dimensions[0], len(value))

    def _fit_parts(self, value: Any, parts: tuple[tuple[str, Any], ...], name: str) -> None:
        for part, dtype in parts:
            array = getattr(value, part)
            if array.ndim != 1 or array.dtype != dtype:
                found = f"{array.dtype} with {array.ndim} dimensions"
                raise self.error(f"{name}.{part}", f"it is not a list of {np.dtype(dtype)}, but {found}")

    def _fit_class(self, marks: Marks, value: Any, name: str, scope: Scope) -> Scope:
        """Fit the fields of a stored class, and return the scope of its dimensions."""
        own = getattr(type(value), "dimensions", ())
        inner = scope.inside(own, marks.shape.dimensions if marks.shape else ())
        declarations = declarations_of(type(value))
        for part in fields(value):
            one = getattr(value, part.name)
            self.fit(declarations.get(part.name, Any), one, f"{name}.{part.name}", inner)
        if hasattr(value, "sizes"):  # that the class computes from its fields
            for dimension, size in value.sizes().items():
                self._set(name, inner, dimension, size)
        return inner

    def _set(self, name: str, scope: Scope, dimension: str | int, size: int) -> None:
        if defect := scope.set(dimension, size):
            raise self.error(name, defect)


@dataclass
class Guarded:
    """A stored value that has been fitted, and is checked when it is first used."""

    gate: Gate
    declared: Any
    value: Any
    name: str
    scope: Scope
    passed: bool = False

    def get(self) -> Any:
        """Return the value; the first call checks its content."""
        if not self.passed:
            with _CHECKING:
                if not self.passed:
                    self.gate.check(self.declared, self.value, self.name, self.scope)
                    self.passed = True
        return self.value


class Gated:
    """Base of classes with attributes that come from files: each is checked before its first use."""

    _gated: dict[str, Guarded]

    if not TYPE_CHECKING:  # type checkers see the declared attributes

        def __getattr__(self, name: str) -> Any:
            """Return an attribute from a file, once its content has been checked."""
            gated = self.__dict__.get("_gated")
            if gated is None or name not in gated:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = self.__dict__[name] = gated[name].get()
            return value

    def _admit(self, gate: Gate, attribute: str, declared: Any, value: Any, name: str, scope: Scope) -> None:
        """Take a stored value: its sizes are checked now, its content when it is first used."""
        gate.fit(declared, value, name, scope)
        self.__dict__.setdefault("_gated", {})[attribute] = Guarded(gate, declared, value, name, scope)
        self.__dict__.pop(attribute, None)
        if not _has_arrays(value):  # nothing to read
            self.__dict__[attribute] = self.__dict__["_gated"].pop(attribute).get()

    def _check_content(self, report: Callable[[ArtefactError], None]) -> None:
        """Read every stored attribute that was not read yet, and report each defect: for `coclick verify`."""
        for guarded in self.__dict__.get("_gated", {}).values():
            try:
                guarded.get()
            except ArtefactError as error:
                report(error)


@dataclass(frozen=True)
class Marks:
    """What a declaration says about an array beyond its type."""

    shape: Shape | None = None
    index: Index | None = None
    pointers: Pointers | None = None
    not_negative: bool = False
    may_be_missing: bool = False


def declarations_of(cls: Any) -> dict[str, Any]:
    """Return the declared type of each field of a class; empty if an annotation cannot be read."""
    if cls not in _DECLARATIONS:
        try:
            _DECLARATIONS[cls] = get_type_hints(cls, include_extras=True)
        except (NameError, TypeError, AttributeError):  # of a class in another package
            _DECLARATIONS[cls] = {}
    return _DECLARATIONS[cls]


def _declaration(declared: Any, value: Any) -> tuple[Any, Marks]:
    """The type that applies to a value, one of a union, and the marks around it."""
    marks: dict[str, Any] = {}
    while True:
        declared = _resolved(declared)
        origin = get_origin(declared)
        if origin is Annotated:
            for mark in declared.__metadata__:
                kinds = {Shape: "shape", Index: "index", Pointers: "pointers"}
                if type(mark) in kinds:
                    marks.setdefault(kinds[type(mark)], mark)
                elif mark in (NotNegative, MayBeMissing):
                    marks["not_negative" if mark is NotNegative else "may_be_missing"] = True
            declared = get_args(declared)[0]
        elif origin in (Union, UnionType):
            arms = get_args(declared)
            fitting = [arm for arm in arms if _is_a(_without_marks(arm), value)]
            if not fitting:
                return _without_marks(arms[0]), Marks(**marks)
            declared = fitting[0]
        else:
            return declared, Marks(**marks)


def _without_marks(declared: Any) -> Any:
    declared = _resolved(declared)
    return _resolved(get_args(declared)[0]) if get_origin(declared) is Annotated else declared


def _resolved(declared: Any) -> Any:
    """Resolve a type alias, such as `NDArray` of recent versions of NumPy on Python 3.12 and later."""
    origin = get_origin(declared)
    if hasattr(origin, "__value__"):
        return origin.__value__[get_args(declared)]
    return declared


def _is_a(kind: Any, value: Any) -> bool:
    """Whether a value is of a declared type; types that say nothing about stored values accept anything."""
    origin = get_origin(kind) or kind
    if origin is Literal:
        return value in get_args(kind)
    if origin in (None, NoneType):
        return value is None
    if origin is float:
        return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST  # no NaN
    if origin in _JSON:
        return type(value) is origin
    if not isinstance(origin, type):
        return True
    if getattr(origin, "_is_protocol", False):
        return True
    return isinstance(value, origin)


def _describe(kind: Any) -> str:
    origin = get_origin(kind) or kind
    return getattr(origin, "__name__", str(origin))


def _dtype(kind: Any) -> np.dtype[Any] | None:
    """The element type of `NDArray[…]`, None if that is not declared."""
    arguments = get_args(kind)
    element = get_args(arguments[1]) if len(arguments) == 2 else ()
    if not element or not isinstance(element[0], type) or element[0] in _ABSTRACT:
        return None
    return np.dtype(element[0])


def _find_array_defect(value: Any, marks: Marks, scope: Scope) -> str | None:
    if marks.pointers:
        entries = scope.size(marks.pointers.entries)
        return None if ascends(value, -1 if entries is None else entries) else "row pointers do not ascend"
    if marks.index and not is_within(value, marks.index.lowest, scope.size(marks.index.into) or 0):
        return f"a number of {marks.index.into} is out of bounds"
    if value.dtype.kind == "f" and marks.shape and not marks.may_be_missing and not is_finite(value):
        return "a value is not a finite number"
    if marks.not_negative and not is_not_negative(value):
        return "a value is negative"
    return None


def _has_arrays(value: Any) -> bool:
    if isinstance(value, np.ndarray | Csr | Strings):
        return True
    if isinstance(value, list):
        return any(map(_has_arrays, value))
    if isinstance(value, Mapping):
        return any(map(_has_arrays, value.values()))
    return is_dataclass(value) and any(_has_arrays(getattr(value, part.name)) for part in fields(value))
