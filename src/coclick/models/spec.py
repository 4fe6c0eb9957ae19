"""Model specifications: a name with parameters such as `"vpcg(start=doc,max_terms=50)"`.

Sums of models are written `"0.8*rw + 0.2*bm25"`, and in parentheses where a model is made of a sum:
`"backoff(neighbours + bm25)"`.

Parameters are the fields of the model's dataclass. Annotations declare their types and, for numbers, their
range: `dim: Annotated[int, Range(1)] = 100`. Formatting is the inverse of parsing; parameters that have their
default are left out.
"""

from __future__ import annotations

import difflib
import math
import re
import types
from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from coclick.errors import UserError


@dataclass(frozen=True)
class Range:
    """The allowed values of a number, both ends included; infinity never is."""

    low: float
    high: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high and abs(value) < math.inf  # also of integers above any float

    def __str__(self) -> str:
        return f"at least {self.low}" if self.high == math.inf else f"from {self.low:g} to {self.high:.10g}"


# The upper ends of ranges that declare none: no value may take days, or overflow float32 or int32.
_MAX_WHOLE, _MAX_NUMBER = 2**31 - 1, 1e6
_MAX_WORK = {
    "dim": 10_000,
    "iterations": 10_000,
    "max_n": 100,
    "min_n": 100,
    "n_folds": 1_000,
    "n_leaves": 100_000,
    "n_negatives": 1_000,
    "n_topics": 10_000,
    "n_trees": 10_000,
}
_WEIGHTS = Range(1e-6, 1e6)  # of the summands of a sum
SUM = "parts"  # the parameter that is written without its name
# Former names of parameters; the error message names the new one.
RENAMED = {
    "alpha": ("topic_prior",),
    "anchor": ("anchor_weight",),
    "b": ("relative_threshold",),
    "background": ("lambda_collection",),
    "beta": ("word_prior", "query_threshold", "doc_threshold"),
    "candidates": ("n_candidates",),
    "content": ("content_weight",),
    "decay": ("l2",),
    "dimensions": ("dim",),
    "folds": ("n_folds",),
    "k": ("max_terms",),
    "keep": ("max_nodes",),
    "least": ("min_probability",),
    "leaves": ("n_leaves",),
    "longest": ("max_n",),
    "nearest": ("n_neighbours",),
    "negatives": ("n_negatives",),
    "null_word": ("use_null_word",),
    "of": ("parts",),
    "ordered": ("ordered_weight",),
    "own": ("own_weight", "lambda_doc"),
    "queries": ("query_weight", "max_queries"),
    "rate": ("learning_rate",),
    "rounds": ("iterations",),
    "s": ("stay_probability",),
    "shortest": ("min_n",),
    "stop_words": ("remove_stop_words",),
    "t": ("iterations",),
    "theta": ("query_length", "doc_length"),
    "threshold": ("query_threshold", "doc_threshold"),
    "topics": ("n_topics",),
    "trees": ("n_trees",),
    "unordered": ("unordered_weight",),
    "validation": ("held_out",),
    "vocabulary": ("max_vocabulary",),
    "words": ("word_weight",),
}
NAME = re.compile(r"[a-z][a-z0-9_]*")
_SPEC = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse(spec: str) -> tuple[str, dict[str, str]]:
    """Split a specification into the name and the parameters, as texts."""
    match = _SPEC.fullmatch(spec)
    if not match:
        raise UserError(
            f"cannot read the model {spec!r}", hint='write it like "vpcg(start=query,max_terms=20)"'
        )
    name, inside = match.groups()
    parameters: dict[str, str] = {}
    for part in filter(str.strip, pieces(inside or "", ",")):
        head, *rest = pieces(part, "=")
        key, value = (head.strip(), "=".join(rest).strip()) if rest else (SUM, head.strip())
        if not key or not value:
            raise UserError(
                f"cannot read the parameter {part.strip()!r}",
                where=spec,
                hint="parameters are written name=value, separated by commas",
            )
        if key in parameters:
            raise UserError(f"the parameter {key!r} is given twice", where=spec)
        parameters[key] = value
    return name, parameters


def parse_sum(text: str) -> list[tuple[float, str]]:
    """Split a sum of models into weights and specifications."""
    terms = []
    for term in pieces(text, "+"):
        factor, *rest = pieces(term, "*")
        try:
            weight = float(factor) if rest else 1.0
        except ValueError:
            weight = math.nan
        spec = (rest[0] if rest else factor).strip()
        if weight not in _WEIGHTS or len(rest) > 1 or not spec:
            raise UserError(
                f"cannot read the summand {term.strip()!r}",
                where=text,
                hint="write 0.8*rw + 0.2*bm25, with weights from 1e-6 to 1e6",
            )
        terms.append((weight, spec))
    return terms


def is_sum(text: str) -> bool:
    """Return whether the text is a sum or a multiple of models."""
    return len(pieces(text, "+")) > 1 or len(pieces(text, "*")) > 1


def format_sum(terms: Sequence[tuple[float, str]]) -> str:
    """Format weights and specifications as a sum, the inverse of `parse_sum`."""
    return " + ".join(spec if weight == 1 else f"{weight:g}*{spec}" for weight, spec in terms)


def pieces(text: str, separator: str) -> list[str]:
    """Split a text at each separator that is outside parentheses."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == separator and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def format_spec(model: Any) -> str:
    """Format a model as its name and the parameters that differ from their defaults."""
    given = [
        f"{field.name}={as_text(getattr(model, field.name))}"
        for field in parameters_of(type(model))
        if getattr(model, field.name) != field.default
    ]
    return f"{model.name}({','.join(given)})" if given else str(model.name)


def parameters_of(cls: type) -> list[Field[Any]]:
    """Return the fields of a model's dataclass that are parameters; each has a default."""
    return [field for field in fields(cls) if field.init and field.default is not MISSING]


def convert(cls: type, given: dict[str, str], where: str) -> dict[str, Any]:
    """Convert parameters from texts to the types that the model declares."""
    hints = parameter_types(cls)
    known = [field.name for field in parameters_of(cls)]
    values = {}
    for key, text in given.items():
        if key == SUM and SUM not in known:
            raise UserError(f"cannot read the parameter {text!r}", where=where,
                            hint="parameters are written name=value, separated by commas")  # fmt: skip
        if key not in known:
            new = [name for name in RENAMED.get(key, ()) if name in known]
            names = " and ".join(map(repr, new))
            what = f"the parameter {key!r} is now called {names}" if new else f"no parameter {key!r}"
            raise UserError(what if new else what + did_you_mean(key, known), where=where,
                            hint=f"the parameters are {', '.join(known)}")  # fmt: skip
        value = _from_text(text, hints[key])
        if value is None:
            hint = f"use {_described(hints[key], ranges(cls).get(key))}"
            raise UserError(f"the parameter {key} cannot be {text!r}", where=where, hint=hint)
        values[key] = value
    return values


def check(model: Any) -> None:
    """Raise if a parameter does not have its declared type or is out of range."""
    hints, limits = parameter_types(model.__class__), ranges(model.__class__)
    for field in parameters_of(type(model)):
        value = getattr(model, field.name)
        again = _from_text(as_text(value), hints[field.name])
        right = again is not None and again == value and isinstance(again, bool) == isinstance(value, bool)
        if right and field.name in limits and not isinstance(value, str):
            right = value in limits[field.name]
        if not right:
            raise UserError(
                f"the parameter {field.name} cannot be {value!r}",
                where=str(model.name),
                hint=f"use {_described(hints[field.name], limits.get(field.name))}",
            )


def did_you_mean(word: str, known: list[str]) -> str:
    """Return `" (did you mean …?)"` if a known word is close, else an empty text."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


@cache
def parameter_types(cls: Any) -> dict[str, Any]:
    """Return the declared type of each parameter."""
    return get_type_hints(cls)


@cache
def ranges(cls: Any) -> dict[str, Range]:
    """Return the ranges of parameters, including inherited ones whose default a subclass changes."""
    return {
        name: _bounded(name, extra, parameter_types(cls).get(name))
        for base in reversed(cls.__mro__)
        for name, hint in get_type_hints(base, include_extras=True).items()
        if get_origin(hint) is Annotated
        for extra in hint.__metadata__
        if isinstance(extra, Range)
    }


def _bounded(name: str, limits: Range, hint: Any) -> Range:
    """A declared range, with an upper end if it has none."""
    if limits.high != math.inf:
        return limits
    return Range(limits.low, _MAX_WORK.get(name, _MAX_WHOLE if int in choices(hint) else _MAX_NUMBER))


def as_text(value: Any) -> str:
    """Format a parameter's value as in a specification."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value)


def choices(hint: Any) -> tuple[Any, ...]:
    """Return the types that a union allows."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _from_text(text: str, hint: Any) -> Any:
    """The text as a value of the type, or None if it does not parse."""
    for choice in choices(hint):
        if get_origin(choice) is Literal:
            if text in get_args(choice):
                return text
        elif choice is bool:
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
        elif choice is str:
            return text
        else:
            try:
                return choice(text)
            except ValueError:
                continue
    return None


def _described(hint: Any, limits: Range | None = None) -> str:
    """The allowed values in words: "a whole number of at least 1, converge or validate"."""
    limit = "" if limits is None else f" of {limits}" if limits.high == math.inf else f" {limits}"
    names = {int: f"a whole number{limit}", float: f"a number{limit}", bool: "true or false", str: "a text"}
    parts: list[str] = []
    for choice in choices(hint):
        parts.extend(get_args(choice) if get_origin(choice) is Literal else [names[choice]])
    return " or ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
