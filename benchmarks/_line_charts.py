"""Line charts as SVG: panels side by side, one line per series in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#4338ca", "#d97706", "#059669", "#dc2626", "#0891b2", "#7c3aed")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4")  # also told apart without colours
PANEL, HEIGHT, LEFT, TOP, BOTTOM, GAP = 250, 190, 50, 40, 44, 28
STYLE = """
text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1f2937}
.title{font-weight:600;font-size:13px}
.tick{font-size:11px;fill:#6b7280}
.grid{stroke:#e5e7eb}
.line{fill:none;stroke-width:2}
"""
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One chart: a title and the points (x, y) of each series."""

    title: str
    series: Mapping[str, Points]
    log: bool = False  # whether y has a logarithmic scale, from 1


def draw(title: str, x_label: str, panels: Sequence[Panel]) -> str:
    """Return panels side by side, with one legend below them."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    width = len(panels) * (LEFT + PANEL + GAP)
    rows = math.ceil(len(names) / 3)
    height = TOP + HEIGHT + BOTTOM + 20 * rows + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, place * (LEFT + PANEL + GAP) + LEFT, names, x_label)
    for i, name in enumerate(names):
        x, y = LEFT + (i % 3) * (width - LEFT) / 3, TOP + HEIGHT + BOTTOM + 20 * (i // 3) + 8
        parts.append(f'<path class="line" d="M{x:.0f} {y}h30" {_stroke(i)}/>')
        parts.append(f'<text x="{x + 38:.0f}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, left: float, names: Sequence[str], x_label: str) -> list[str]:
    points = [point for series in panel.series.values() for point in series]
    most_x, most_y = max(x for x, _ in points), max(y for _, y in points)
    ticks = _ticks(most_y, panel.log)
    top = ticks[-1]

    def place(x: float, y: float) -> tuple[float, float]:
        share = math.log(max(y, 1)) / math.log(top) if panel.log else y / top
        return left + PANEL * x / most_x, TOP + HEIGHT * (1 - share)

    found = [f'<text class="title" x="{left}" y="{TOP - 16}">{escape(panel.title)}</text>']
    for tick in ticks:
        _, y = place(0, tick)
        found.append(f'<path class="grid" d="M{left} {y:.1f}h{PANEL}"/>')
        found.append(f'<text class="tick" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in range(int(most_x) + 1):
        at = place(tick, 1)[0]
        label = f'<text class="tick" x="{at:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{tick}</text>'
        found.append(label)
    middle = left + PANEL / 2
    found.append(f'<text x="{middle}" y="{TOP + HEIGHT + 33}" text-anchor="middle">{escape(x_label)}</text>')
    for name, series in panel.series.items():
        path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in series)
        found.append(f'<path class="line" d="M{path}" {_stroke(names.index(name))}/>')
        for x, y in series:
            at, up = place(x, y)
            colour = COLOURS[names.index(name) % len(COLOURS)]
            found.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="2.5" fill="{colour}"/>')
    return found


def _stroke(i: int) -> str:
    return f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-dasharray="{DASHES[i % len(DASHES)]}"'


def _ticks(largest: float, log: bool) -> list[float]:
    if log:
        return [10.0**power for power in range(math.ceil(math.log10(max(largest, 10))) + 1)]
    step = 10.0 ** math.floor(math.log10(largest))
    step = next(size for size in (step / 5, step / 4, step / 2, step, 2 * step) if largest / size <= 5)
    return [step * i for i in range(math.ceil(largest / step - 1e-9) + 1)]
