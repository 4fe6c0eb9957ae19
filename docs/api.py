"""Write docs/api.md from the docstrings of the public names: `make docs`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import coclick

HEAD = """# Python API

Generated from the docstrings by `make docs`; a test fails when it is out of date. These are the names of
`import coclick`. Everything else is internal and may change.
"""
LINE = 84  # characters that fit beside the menus of the site
ENTRY = re.compile(r" {4}(\w+(?:, \w+)*): (.*)")
CODE = re.compile(r"(`[^`]*`)")


def reference() -> str:
    """Return the page as it should be: functions, then classes, then exceptions, by name."""
    public = {name: getattr(coclick, name) for name in sorted(coclick.__all__) if not name.startswith("__")}
    errors = [name for name, value in public.items() if _is_error(value)]
    classes = [name for name, value in public.items() if inspect.isclass(value) and name not in errors]
    functions = [name for name in public if name not in errors and name not in classes]
    parts = [HEAD]
    for title, names in (("Functions", functions), ("Classes", classes), ("Exceptions", errors)):
        parts.append(f"## {title}\n")
        for name in names:
            value = public[name]
            parts.append(_entry(f"### coclick.{name}", name, value))
            if inspect.isclass(value) and not _is_error(value):
                parts += [_member(name, member, found) for member, found in _members(value)]
    return "\n".join(parts)


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _members(cls: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class and of its bases in this package, by name."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.split(".")[0] == "coclick":
            found |= vars(base)
    return [
        (name, value)
        for name, value in sorted(found.items())
        if not name.startswith("_") and _doc(value) and _is_method_or_property(value)
    ]


def _is_method_or_property(value: Any) -> bool:
    return (
        inspect.isfunction(value)
        or isinstance(value, classmethod | staticmethod | property)
        or _cached(value)
    )


def _cached(value: Any) -> bool:
    return type(value).__name__ == "cached_property"


def _member(cls: str, name: str, value: Any) -> str:
    if isinstance(value, property) or _cached(value):
        return f"#### {cls}.{name}\n\n{_text(_doc(value))}\n"
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    return _entry(f"#### {cls}.{name}", f"{cls}.{name}", function)


def _entry(heading: str, name: str, value: Any) -> str:
    call = "" if _is_error(value) else f"```python\n{_signature(name, value)}\n```\n\n"
    return f"{heading}\n\n{call}{_text(_doc(value))}\n"


def _doc(value: Any) -> str:
    return inspect.cleandoc(getattr(value, "__doc__", None) or "")


def _signature(name: str, value: Any) -> str:
    """The call as it stands in the source, without `self`; a parameter on each line if it is long."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return name
    parts, star = [], False
    for key, parameter in signature.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        if key not in ("self", "cls"):
            parts.append(_parameter(parameter))
    returns = "" if inspect.isclass(value) else f" -> {_annotation(signature.return_annotation)}"
    line = f"{name}({', '.join(parts)}){returns}"
    return (
        line
        if len(line) <= LINE
        else "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returns}"])
    )


def _parameter(parameter: inspect.Parameter) -> str:
    kinds: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    stars = kinds.get(parameter.kind, "")
    text = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    default = parameter.default
    shown = default.__name__ if inspect.isroutine(default) else repr(default)
    return f"{text} = {'…' if shown.startswith('<') else shown}"


def _annotation(annotation: Any) -> str:
    """The type alone: shapes of stored arrays are for the gate (`coclick.storage.layout`)."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(
        r"Annotated\[([^\[\]]+|[^\[\]]*\[[^\]]*\]), Shape\([^)]*\)(?:, NotNegative)?\]", r"\1", text
    )


def _text(doc: str) -> str:
    """A docstring as Markdown: what is indented below `Parameters:` becomes a list."""
    lines: list[str] = []
    inside = False
    for line in doc.replace("Parameters:\n\n", "Parameters:\n").splitlines():
        if inside and line.startswith(" "):
            entry = ENTRY.fullmatch(line)
            names = ", ".join(f"`{name}`" for name in entry[1].split(", ")) if entry else ""
            lines.append(f"- {names}: {entry[2]}" if entry else f"  {line.strip()}")
            continue
        inside = line == "Parameters:"
        lines += [line, ""] if inside else [line]
    return "\n".join(map(_escape, lines)) or "*Not documented.*"


def _escape(line: str) -> str:
    """The line with `<` as text, but not in code, where it is text already."""
    if line.startswith("    "):
        return line
    return "".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(CODE.split(line)))


if __name__ == "__main__":
    (Path(__file__).parent / "api.md").write_text(reference(), encoding="utf-8")
