"""Draw which room imports which, from the imports: `make docs` writes docs/images/rooms.svg.

A room is a folder of src/coclick or a module at its root. Imports inside functions and for type checking
count too. tests/test_rooms.py fails on an arrow that ORDER does not allow and on an outdated drawing.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "coclick"
DRAWING = Path(__file__).parent / "images" / "rooms.svg"

# A room imports only from rooms on its left, and may skip some. Rooms in one place do not import each other.
ORDER = (
    ("errors", "progress", "_version"),
    ("jit",),
    ("arrays",),
    ("storage", "kernels", "results"),
    ("text",),
    ("graph",),
    ("features", "index", "solvers", "logs"),
    ("suggestions",),
    ("models",),
    ("evaluation", "click_models"),
    ("ltr", "rules"),
    ("failing",),
    ("exporters",),
    ("answers", "recommendation"),
    ("service", "integrations"),
    ("spark", "simulate"),  # only the command line imports these
    ("cli",),
)
ONLY_FOR_CLI = ("spark", "simulate")
FAMILY_BASE = "lexical"  # the one family of models that other families may import

Arrows = Mapping[
    tuple[str, str], list[tuple[str, str]]
]  # (room, room it imports): (module, module) of each import


def read_imports(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Return for each module the modules of the package that it imports, anywhere in its code."""
    paths = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {module: _imports(module, path, paths.keys()) for module, path in paths.items()}


def _imports(module: str, path: Path, known: Iterable[str]) -> set[str]:
    root, found = module.split(".")[0], set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{module} has a relative import, which hides the room it imports from")
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in known else str(node.module))
    return {name for name in found if name.split(".")[0] == root and name != module}


def room_arrows(imports: Mapping[str, set[str]]) -> Arrows:
    """Return the imports between rooms. `__init__` and `__main__` of the package are no rooms."""
    arrows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for module, imported in imports.items():
        for other in sorted(imported):
            rooms = _room(module), _room(other)
            if "" not in rooms and rooms[0] != rooms[1]:
                arrows.setdefault(rooms, []).append((module, other))
    return arrows


def _room(module: str) -> str:
    first = module.split(".")[1:2]
    return first[0] if first and first != ["__main__"] else ""


def family_arrows(imports: Mapping[str, set[str]]) -> Arrows:
    """Return the imports between the sub-folders of models/; the modules beside them are called `models`."""
    arrows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    folders = {tuple(module.split(".")[:3]) for module in imports if module.count(".") > 2}
    for module, imported in imports.items():
        for other in sorted(imported):
            if _room(module) == _room(other) == "models":
                parts = [tuple(name.split(".")[:3]) for name in (module, other)]
                ours, theirs = (part[2] if part in folders else "models" for part in parts)
                if ours != theirs:
                    arrows.setdefault((ours, theirs), []).append((module, other))
    return arrows


def forbidden(arrows: Arrows) -> list[str]:
    """Return a sentence for each import that the order of the rooms does not allow."""
    place = {room: i for i, rooms in enumerate(ORDER) for room in rooms}
    wrong = []
    for (room, other), modules in arrows.items():
        unknown = [name for name in (room, other) if name not in place]
        if unknown:
            why = f"{unknown[0]} is no room of ORDER"
        elif place[other] >= place[room] or (other in ONLY_FOR_CLI and room != "cli"):
            why = f"{room} may not import {other}"
        else:
            continue
        wrong += [f"{module} imports {imported}: {why}" for module, imported in modules]
    return wrong


def forbidden_in_models(arrows: Arrows) -> list[str]:
    """Return a sentence for each import that a model's family, or what all families share, may not have."""
    return [
        f"{module} imports {imported}: "
        + (
            "what families share may not import one"
            if family == "models"
            else f"only {FAMILY_BASE} is shared"
        )
        for (family, other), modules in arrows.items()
        if family == "models" or other not in ("models", FAMILY_BASE)
        for module, imported in modules
    ]


def find_cycle(arrows: Iterable[tuple[str, str]]) -> list[str]:
    """Return rooms that import each other in a circle, or nothing."""
    after: dict[str, list[str]] = {}
    for room, other in sorted(arrows):
        after.setdefault(room, []).append(other)
    done: set[str] = set()

    def visit(room: str, path: list[str]) -> list[str]:
        if room in path:
            return [*path[path.index(room) :], room]
        if room not in done:
            for other in after.get(room, ()):
                if cycle := visit(other, [*path, room]):
                    return cycle
            done.add(room)
        return []

    return next((cycle for room in sorted(after) if (cycle := visit(room, []))), [])


# The drawing: a row for each place of ORDER, cli at the top. Arrows that follow from others are left out.
_WIDTH, _ROW, _BOX_WIDTH, _BOX_HEIGHT, _GAP = 860, 74, 128, 36, 26
_STYLE = (
    "text{font:600 13px ui-sans-serif,system-ui,sans-serif;fill:#1f2937;text-anchor:middle}"
    ".count{font-weight:400;font-size:10px;fill:#6b7280}"
    "rect{rx:6px;fill:#eef2ff;stroke:#6366f1;stroke-width:1.2}path{fill:none;stroke:#94a3b8;stroke-width:1.3}"
    "marker path{fill:#64748b;stroke:none}"
)


def draw(arrows: Arrows) -> str:
    """Return the drawing of the rooms as SVG."""
    rooms = {room for arrow in arrows for room in arrow}
    rows = [[room for room in place if room in rooms] for place in reversed(ORDER)]
    rows = [row for row in rows if row]
    chains = _routes(rows, _needed(set(arrows)))
    order = _arrange(rows, chains)
    middle = _spread(order, chains, rooms)
    place = {name: (middle[name], y) for y, row in enumerate(order) for name in row}
    height = _ROW * len(rows) + 12
    left = min(middle.values()) - _BOX_WIDTH / 2 - 12
    width = max(middle.values()) + _BOX_WIDTH / 2 + 12 - left
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} 0 {width:.0f} {height}" role="img">',
        "<title>The rooms of coclick: an arrow leads from a room to one that it imports</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        f'<rect x="{left:.0f}" width="{width:.0f}" height="{height}" style="fill:#fff;stroke:none;rx:0"/>',
    ]
    parts += [_path([place[name] for name in chain]) for chain in chains]
    for room in sorted(rooms):
        x, y = place[room]
        top = _top(y)
        n_out, n_in = (sum(room == arrow[side] for arrow in arrows) for side in (0, 1))
        parts += [
            f'<rect x="{x - _BOX_WIDTH / 2:.1f}" y="{top}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}"/>',
            f'<text x="{x:.1f}" y="{top + 16}">{room}</text>',
            f'<text class="count" x="{x:.1f}" y="{top + 29}">imports {n_out} · used by {n_in}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _needed(arrows: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from others."""
    reach: dict[str, set[str]] = {}

    def below(room: str) -> set[str]:
        if room not in reach:
            direct = {other for first, other in arrows if first == room}
            reach[room] = direct.union(*map(below, direct))
        return reach[room]

    return sorted(
        (room, other)
        for room, other in arrows
        if not any(other in below(between) for first, between in arrows if first == room)
    )


def _routes(rows: list[list[str]], arrows: list[tuple[str, str]]) -> list[list[str]]:
    """For each arrow its points, one in each row that it crosses, which are added to the rows."""
    height = {room: y for y, row in enumerate(rows) for room in row}
    chains = []
    for room, other in arrows:
        points = [f"{room}>{other}@{y}" for y in range(height[room] + 1, height[other])]
        for y, point in enumerate(points, height[room] + 1):
            rows[y] = [*rows[y], point]
        chains.append([room, *points, other])
    return chains


def _arrange(rows: list[list[str]], chains: list[list[str]]) -> list[list[str]]:
    """The rows in an order in which few arrows cross: each name near the mean place of its neighbours."""
    near = _neighbours(chains)
    share = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for _ in range(24):
        for row in [*rows, *reversed(rows)]:
            mean = {name: _mean([share[other] for other in near.get(name, [name])]) for name in row}
            row.sort(key=lambda name: (mean[name], name))
            share |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return rows


def _neighbours(chains: list[list[str]]) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {}
    for chain in chains:
        for one, two in itertools.pairwise(chain):
            near.setdefault(one, []).append(two)
            near.setdefault(two, []).append(one)
    return near


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _spread(order: list[list[str]], chains: list[list[str]], rooms: set[str]) -> dict[str, float]:
    """The middle of each name, in pixels from the left: near its neighbours above and below."""
    near = _neighbours(chains)
    half = {name: _BOX_WIDTH / 2 if name in rooms else 4 for row in order for name in row}
    x = {name: _WIDTH * (i + 0.5) / len(row) for row in order for i, name in enumerate(row)}
    for _ in range(40):
        for row in [*order, *reversed(order)]:
            wanted = [_mean([x[other] for other in near.get(name, [name])]) for name in row]
            space = [half[one] + half[two] + _GAP for one, two in itertools.pairwise(row)]
            ends = half[row[0]] + _GAP, _WIDTH - half[row[-1]] - _GAP
            right = _push(wanted, space, ends[0])
            left = [-value for value in _push([-value for value in reversed(wanted)], space[::-1], -ends[1])]
            x |= {name: (one + two) / 2 for name, one, two in zip(row, right, reversed(left), strict=True)}
    return x


def _push(wanted: list[float], space: list[float], start: float) -> list[float]:
    """The places wanted, each moved up as far as the one before it needs."""
    places = [max(wanted[0], start)]
    for value, apart in zip(wanted[1:], space, strict=True):
        places.append(max(value, places[-1] + apart))
    return places


def _top(y: int) -> int:
    return 12 + y * _ROW


def _path(points: list[tuple[float, int]]) -> str:
    """A smooth line down through the points: past rows that it crosses, to the top of the last box."""
    (x, y), *rest = points
    line = f"M{x:.1f} {_top(y) + _BOX_HEIGHT}"
    start = _top(y) + _BOX_HEIGHT
    for i, (to_x, to_y) in enumerate(rest):
        end = _top(to_y)
        middle = (start + end) / 2
        line += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {end}"
        if i < len(rest) - 1:
            line += f"V{end + _BOX_HEIGHT}"
        x, start = to_x, end + _BOX_HEIGHT
    return f'<path d="{line}" marker-end="url(#head)"/>'


if __name__ == "__main__":
    DRAWING.write_text(draw(room_arrows(read_imports())), encoding="utf-8")
