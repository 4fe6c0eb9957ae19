"""Mutants of a Python file: each is the file with one small change, such as `<` for `<=`.

What a test cannot notice is left alone: annotations, docstrings, imports, the texts of errors, and
assertions: `assert`, `raise AssertionError`, and the `strict=True` of a `zip` of lists of the same length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "**": "*", "&": "|", "|": "&"}
NAMES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "any": "all",
    "ceil": "floor",
    "zeros": "ones",
}
NAMES |= {new: old for old, new in NAMES.items()}
# Calls that can be dropped without a change of type: their argument, or what they are called on, stays.
TRANSFORMS = {
    "log1p",
    "log",
    "log2",
    "sqrt",
    "exp",
    "abs",
    "square",
    "sorted",
    "reversed",
    "set",
    "unique",
    "round",
}
TRANSFORMS |= {"unit_rows", "normalise", "positive", "copy", "transpose", "lower", "strip", "cumsum", "sort"}
SYMMETRIC = {
    "min",
    "max",
    "minimum",
    "maximum",
    "logical_and",
    "logical_or",
}  # swapped arguments change nothing
_SKIPPED = (ast.Import, ast.ImportFrom, ast.Assert, ast.JoinedStr, ast.Global)


@dataclass(frozen=True)
class Mutant:
    """One change: bytes `start` to `end` of the file become `new`."""

    file: str  # below src/coclick
    source: bytes
    start: int
    end: int
    new: str
    compiled: bool = False  # the change is in code that numba compiles

    @property
    def line(self) -> int:
        """The line of the change, from 1."""
        return self.source.count(b"\n", 0, self.start) + 1

    @property
    def changed(self) -> str:
        """The source with the change. It keeps its lines, because compiled functions are cached by line."""
        missing = self.source[self.start : self.end].count(b"\n") - self.new.count("\n")
        padding = "\n" * max(missing, 0)
        rest = self.source[self.end :].decode()
        if padding:  # blank lines go after the statement's last line
            first, newline, others = rest.partition("\n")
            rest = first + newline + padding + others
        return self.source[: self.start].decode() + self.new + rest

    def diff(self) -> tuple[str, str]:
        """The first changed line, before and after."""
        before, after = self.source.decode().splitlines(), self.changed.splitlines()
        for old, new in zip(before, after, strict=False):
            if old != new:
                return old.strip(), new.strip()
        return "", ""


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in the order of their lines."""
    tree = ast.parse(source)
    has_kernels = b"coclick.jit.compiler" in source
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    found = {}
    for node, compiled in _walk(tree, has_kernels):
        for start, end, new in _changes(node, source, starts):
            if source[start:end].decode() != new:
                found[start, end, new] = Mutant(file, source, start, end, new, compiled)
    return [found[key] for key in sorted(found) if _parses(found[key])]


def _parses(mutant: Mutant) -> bool:
    try:
        ast.parse(mutant.changed)
    except SyntaxError:
        return False
    return True


def _walk(node: ast.AST, compiled: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes that may change. Constants of a file with kernels count as compiled code."""
    for child in ast.iter_child_nodes(node):
        inside = compiled
        if (
            isinstance(child, _SKIPPED)
            or _is_text(child)
            or _is_annotation(node, child)
            or _is_assertion(child)
        ):
            continue
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and isinstance(node, ast.Module | ast.ClassDef):
            decorators = [ast.unparse(one) for one in child.decorator_list]
            inside = compiled and any(one.startswith("jit") for one in decorators)
        yield child, inside
        if isinstance(child, ast.Raise):
            continue  # the texts of errors
        yield from _walk(child, inside)


def _is_text(node: ast.AST) -> bool:
    """A docstring, or another string that stands alone."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_assertion(node: ast.AST) -> bool:
    """`raise AssertionError(…)`, or `strict=True`."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return (
        isinstance(node, ast.Raise)
        and node.exc is not None
        and ast.unparse(node.exc).startswith("AssertionError")
    )


def _is_annotation(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.FunctionDef | ast.ClassDef) and child in parent.decorator_list:
        return True
    return child in (getattr(parent, "annotation", None), getattr(parent, "returns", None))


def _changes(node: ast.AST, source: bytes, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    """(start, end, new text) of each change of one node."""

    def begin(of: ast.AST) -> int:
        return starts[of.lineno - 1] + of.col_offset  # type: ignore[attr-defined]

    def finish(of: ast.AST) -> int:
        return starts[of.end_lineno - 1] + of.end_col_offset  # type: ignore[attr-defined]

    def text(of: ast.AST) -> str:
        return source[begin(of) : finish(of)].decode()

    def operator(left: ast.AST, right: ast.AST, table: dict[str, str]) -> Iterator[tuple[int, int, str]]:
        between = source[finish(left) : begin(right)].decode()
        match = re.search(r"is not|not in|is\b|in\b|[<>=!]=|//|\*\*|[-<>+*/%&|]", between)
        if match and match[0] in table:
            at = finish(left) + len(between[: match.start()].encode())
            yield at, at + len(match[0]), table[match[0]]

    def negate(test: ast.AST) -> Iterator[tuple[int, int, str]]:
        if not isinstance(test, ast.Compare | ast.UnaryOp | ast.NamedExpr):  # those have changes of their own
            yield begin(test), finish(test), f"(not ({text(test)}))"

    match node:
        case ast.Compare(left=left, comparators=[right]):
            yield from operator(left, right, COMPARISONS)
        case ast.Compare(left=left, comparators=several):
            for first, second in zip([left, *several], several, strict=False):
                yield from operator(first, second, COMPARISONS)
        case ast.BinOp(left=left, right=right):
            if not any(isinstance(side, ast.JoinedStr) or _is_string(side) for side in (left, right)):
                yield from operator(left, right, ARITHMETIC)
        case ast.BoolOp(op=op, values=[first, second, *_]):
            between = source[finish(first) : begin(second)].decode()
            old, new = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            at = finish(first) + between.index(old)
            yield at, at + len(old), new
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            yield begin(node), finish(node), f"({text(operand)})"
        case ast.AugAssign(target=target, value=value):
            yield from operator(target, value, {"+": "-", "-": "+", "*": "/", "/": "*"})
            yield begin(node), finish(node), "pass"
        case ast.Constant(value=bool(value)):
            yield begin(node), finish(node), str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield begin(node), finish(node), repr(value + 1)
        case ast.Attribute(attr=attr) if attr in NAMES:
            yield finish(node) - len(attr), finish(node), NAMES[attr]
        case ast.Name(id=name) if name in NAMES:
            yield begin(node), finish(node), NAMES[name]
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from negate(test)
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield from negate(test)
        case ast.AnnAssign(
            annotation=ast.Subscript(value=ast.Name(id="Literal"), slice=choices),
            value=ast.Constant() as value,
        ):
            others = [text(one) for one in getattr(choices, "elts", []) if text(one) != text(value)]
            if others:
                yield begin(value), finish(value), others[0]
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Break() | ast.Continue():
            yield begin(node), finish(node), "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield begin(node), finish(node), "pass"
        case ast.Call(func=ast.Attribute(value=receiver, attr=attr), args=[], keywords=[]) if (
            attr in TRANSFORMS
        ):
            yield begin(node), finish(node), text(receiver)
        case ast.Call(func=function, args=[only]) if text(function).split(".")[-1] in TRANSFORMS:
            yield begin(node), finish(node), f"({text(only)})"
        case ast.Call(func=function, args=[first, second, *_]) if not any(
            isinstance(one, ast.Starred) for one in (first, second)
        ):
            middle = source[finish(first) : begin(second)].decode()
            same = text(function).split(".")[-1] in SYMMETRIC or text(second).startswith("np.")  # a dtype
            if text(first) != text(second) and not same:
                yield begin(first), finish(second), f"{text(second)}{middle}{text(first)}"


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
