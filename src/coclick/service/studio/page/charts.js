// Line charts.

import { drawn } from "./report/nodes.js";

const [WIDTH, HEIGHT] = [340, 200];
const MARGIN = { left: 46, right: 10, top: 10, bottom: 34 };

// `points` are [x, y]; an axis is { from, to, log, ticks: [[value, text]], title }.
export function curve(points, across, up, label) {
  const spread = ({ from, to, log }, size) => (value) => {
    const at = log ? Math.log(value / from) / Math.log(to / from || 1) : (value - from) / (to - from || 1);
    return Math.min(Math.max(at, 0), 1) * size;
  };
  const toX = spread(across, WIDTH - MARGIN.left - MARGIN.right);
  const toY = spread(up, HEIGHT - MARGIN.top - MARGIN.bottom);
  const [x, y] = [(value) => MARGIN.left + toX(value), (value) => HEIGHT - MARGIN.bottom - toY(value)];
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  const write = (text, at, below, anchor) => drawn("text", { x: at, y: below, "text-anchor": anchor }, text);
  const line = (x1, x2, y1, y2) => drawn("line", { class: "axis", x1, x2, y1, y2 });
  for (const [value, text] of up.ticks) {
    picture.append(line(MARGIN.left, WIDTH - MARGIN.right, y(value), y(value)));
    picture.append(write(text, MARGIN.left - 5, y(value) + 3, "end"));
  }
  for (const [value, text] of across.ticks) {
    picture.append(line(x(value), x(value), MARGIN.top, HEIGHT - MARGIN.bottom));
    picture.append(write(text, x(value), HEIGHT - MARGIN.bottom + 13, "middle"));
  }
  picture.append(write(across.title, (MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 4, "middle"));
  const way = points.map(([one, other]) => `${x(one).toFixed(1)},${y(other).toFixed(1)}`).join(" ");
  picture.append(drawn("polyline", { class: "curve line", points: way }));
  return picture;
}

// Powers of ten from 1 to beyond `largest`, short: 1, 10, 100, 1k …
export function decades(largest) {
  const last = Math.max(1, Math.ceil(Math.log10(Math.max(largest, 1))));
  const short = (power) => 10 ** (power % 3) + ["", "k", "M", "G"][Math.floor(power / 3)];
  const ticks = Array.from({ length: last + 1 }, (_, power) => [10 ** power, short(power)]);
  return { from: 1, to: 10 ** last, log: true, ticks };
}
