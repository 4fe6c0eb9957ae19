// Lines between elements side by side, redrawn when the page is resized.
//
// A pair is { from, to, kind, width }: `from` is left of `to`, and one of them may be missing, for documents
// in only one list. Lines are hidden from screen readers; the elements have the same information as text.

import { drawn } from "./report/nodes.js";

const STUB = 0.3; // of the gap, for a line with only one end

export function threads(box, pairs) {
  const picture = drawn("svg", { class: "threads", "aria-hidden": "true" });
  box.classList.add("threaded");
  box.prepend(picture);
  const lines = pairs.map((pair) => {
    const line = drawn("path", { class: `thread ${pair.kind || ""}`, "stroke-width": pair.width || 1.5 });
    const ends = [pair.from, pair.to].filter(Boolean);
    const light = (on) => [line, ...ends].forEach((made) => made.classList.toggle("lit", on));
    for (const end of ends) {
      for (const event of ["mouseenter", "focusin"]) end.addEventListener(event, () => light(true));
      for (const event of ["mouseleave", "focusout"]) end.addEventListener(event, () => light(false));
    }
    picture.append(line);
    return line;
  });
  const draw = () => pairs.forEach((pair, i) => lines[i].setAttribute("d", way(box, pair)));
  new ResizeObserver(draw).observe(box);
  return box;
}

function way(box, { from, to, gap }) {
  const origin = box.getBoundingClientRect();
  const place = (made, side) => {
    const rect = made.getBoundingClientRect();
    return [rect[side] - origin.left, rect.top + rect.height / 2 - origin.top].map(Math.round);
  };
  const width = gap ? gap() : 0;
  if (!to) {
    const [x, y] = place(from, "right");
    return `M${x},${y} h${STUB * width} m0,-4 v8`;
  }
  if (!from) {
    const [x, y] = place(to, "left");
    return `M${x},${y} h${-STUB * width} m0,-4 v8`;
  }
  const [[x1, y1], [x2, y2]] = [place(from, "right"), place(to, "left")];
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}
