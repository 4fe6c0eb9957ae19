"""Charts as SVG: lines, bars, stacked bars, and panels of curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4b5563")
SHARES = ("#059669", "#d1d5db", "#dc2626")  # won, equal, lost
GRADES = {"4": "perfect", "3": "excellent", "2": "good", "1": "fair", "0": "bad"}
_FONT = "font:12px ui-sans-serif,system-ui,sans-serif"
_WIDTH, _BAR = 640, 22
_MAX_STEPS = 8  # between ticks of an axis
_ROUNDING = 1e-9


def lines(
    x_label: str, points: Sequence[float], series: Mapping[str, Sequence[float]], *, from_zero: bool = False
) -> str:
    """Draw one line for each series; the points of the horizontal axis have equal distances."""
    height, left, right, top, bottom = 300, 50, 110, 12, 40
    low = min(min(values) for values in series.values())
    high = max(max(values) for values in series.values())
    ticks = round_ticks(0.0 if from_zero else low, high)
    low, high = ticks[0], ticks[-1]
    step = (_WIDTH - left - right) / max(len(points) - 1, 1)

    def place(i: int, value: float) -> tuple[float, float]:
        return left + i * step, top + (high - value) / (high - low) * (height - top - bottom)

    digits = max(len(f"{v:g}".partition(".")[2]) for v in ticks)
    body = [_text(left - 6, place(0, v)[1] + 4, f"{v:.{digits}f}", "end") for v in ticks]
    body += [_line(left, place(0, v)[1], _WIDTH - right, place(0, v)[1]) for v in ticks]
    body += [_text(place(i, low)[0], height - bottom + 16, f"{p:g}", "middle") for i, p in enumerate(points)]
    body.append(_text((left + _WIDTH - right) / 2, height - 6, x_label, "middle"))
    ends = _apart([place(len(points) - 1, values[-1])[1] + 4 for values in series.values()])
    for (name, values), colour, end in zip(series.items(), COLOURS, ends, strict=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(i, v) for i, v in enumerate(values)))
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body.append(_text(_WIDTH - right + 8, end, name, "start", colour))
    return _svg(height, body)


def bars(values: Mapping[str, float]) -> str:
    """Draw horizontal bars, the longest first."""
    left, right = 170, 50
    highest = max(values.values()) or 1
    body = []
    for i, name in enumerate(sorted(values, key=lambda name: -values[name])):
        y, width = 6 + i * _BAR, values[name] / highest * (_WIDTH - left - right)
        body.append(_text(left - 8, y + 14, name, "end"))
        body.append(_box(left, y, width, COLOURS[0]))
        body.append(_text(left + width + 6, y + 14, f"{values[name]:.0f}", "start"))
    return _svg(12 + len(values) * _BAR, body)


def stacked(shares: Mapping[str, Sequence[float]], names: Sequence[str]) -> str:
    """Draw one bar for each row, divided into three shares."""
    left, right, top = 170, 20, 30
    body = [_legend(left + 160 * i, name, SHARES[i]) for i, name in enumerate(names)]
    for i, (row, parts) in enumerate(shares.items()):
        x, y = float(left), top + i * _BAR
        body.append(_text(left - 8, y + 14, row, "end"))
        for share, colour in zip(parts, SHARES, strict=True):
            width = share * (_WIDTH - left - right)
            body.append(_box(x, y, width, colour))
            if width > 34:
                fill = "#1f2937" if colour == SHARES[1] else "#ffffff"
                body.append(_text(x + width / 2, y + 14, f"{share:.0%}", "middle", fill))
            x += width
    return _svg(top + 6 + len(shares) * _BAR, body)


def panels(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Draw one small panel for each system, with one curve for each grade, highest scores first."""
    columns, width, height, top = 3, 200, 130, 26
    body = [_legend(10 + 110 * i, label, COLOURS[i]) for i, label in enumerate(GRADES.values())]
    for place, (system, by_grade) in enumerate(curves.items()):
        x0 = 10 + place % columns * (width + 10)
        y0 = top + place // columns * (height + 34) + 20
        body.append(_text(x0, y0 - 6, system, "start"))
        body.append(
            f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#d1d5db"/>'
        )
        for grade, curve in by_grade.items():
            colour = COLOURS[list(GRADES).index(grade)]
            step = width / max(len(curve) - 1, 1)
            spots = (
                f"{x0 + i * step:.1f},{y0 + (1 - min(max(v, 0), 1)) * height:.1f}"
                for i, v in enumerate(curve)
            )
            body.append(
                f'<polyline points="{" ".join(spots)}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            )
    rows = -(-len(curves) // columns)
    return _svg(top + rows * (height + 34) + 10, body)


def round_ticks(low: float, high: float) -> list[float]:
    """Return at most nine multiples of 1, 2 or 5 times a power of ten that include `low` and `high`."""
    span = high - low or abs(high) or 1.0
    power = math.floor(math.log10(span)) - 1
    for step, digits in ((10.0 ** (power + i // 3) * (1, 2, 5)[i % 3], power + i // 3) for i in range(9)):
        first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
        if last - first <= _MAX_STEPS:
            return [round(i * step, max(0, -digits)) for i in range(first, max(last, first + 1) + 1)]
    raise AssertionError("a step of the size of the span always suffices")


def _apart(places: Sequence[float], least: float = 14) -> list[float]:
    """Move labels down until they do not overlap."""
    out = list(places)
    order = sorted(range(len(out)), key=lambda i: out[i])
    for before, after in zip(order, order[1:], strict=False):
        out[after] = max(out[after], out[before] + least)
    return out


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#1f2937") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" style="{_FONT}">{escape(text)}</text>'


def _legend(x: float, label: str, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="7" width="10" height="10" fill="{colour}"/>' + _text(
        x + 15, 16, label, "start"
    )


def _line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="#e5e7eb"/>'


def _box(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0):.1f}" height="{_BAR - 4}" fill="{colour}"/>'


def _svg(height: int, body: Sequence[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    background = f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join((head, background, *body, "</svg>")) + "\n"
