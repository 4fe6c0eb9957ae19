// Everything on the page is made here, as nodes: no text is ever read as HTML.

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.flat());
  return made;
}

export function node(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

export function quiet(...children) {
  return node("span", { class: "quiet" }, ...children);
}

// A part of the page with a heading that the list of sections links to.
export function section(id, title, ...children) {
  const heading = node("h2", { id: `${id}-title` }, title);
  return node("section", { id, "aria-labelledby": heading.id }, heading, ...children);
}

// Scrolls sideways where it is wider than the page, by keyboard too.
export function frame(label, table, kind = "") {
  return node("div", { class: `frame ${kind}`, tabindex: "0", role: "region", "aria-label": label }, table);
}

export function table(kind, head, rows) {
  return node("table", { class: kind }, node("thead", {}, node("tr", {}, head)), node("tbody", {}, rows));
}

// A bar from 0 to `value`, as wide as its place; `interval` adds a line from low to high.
export function bar(value, largest, label, interval = null) {
  const percent = (number) => `${(100 * Math.max(number, 0)) / (largest || 1)}%`;
  const picture = drawn("svg", { role: "img", "aria-label": label });
  const box = { x: 0, y: "20%", width: percent(value), height: "60%", rx: 2 };
  picture.append(drawn("rect", { class: "bar", ...box }));
  if (interval) {
    const [low, high] = interval.map(percent);
    const line = (x1, x2, y1, y2) => drawn("line", { class: "whisker", x1, x2, y1, y2 });
    picture.append(line(low, high, "50%", "50%"));
    picture.append(...[low, high].map((end) => line(end, end, "30%", "70%")));
  }
  return picture;
}

// A model's name, which may be broken where one would breathe.
export function named(name) {
  return name.split(/(?<=[,(+=])/).flatMap((part) => [part, node("wbr")]);
}

// The same in a heading of a row, in three lines at most; the leaderboard has all of it.
export function shortName(name, before = "") {
  return node("th", { scope: "row", title: name }, node("span", { class: "short" }, before, named(name)));
}

export const three = (value) => value.toFixed(3);
export const signed = (value) => (value < 0 ? "−" : "+") + three(Math.abs(value));
export const whole = (value) => value.toLocaleString("en");
export const chance = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toPrecision(3)}`);

// Five colours for however many grades there are; 0 is always the first.
export function level(grade, highest) {
  return `level-${grade <= 0 ? 0 : Math.max(1, Math.round((4 * grade) / highest))}`;
}

export function chip(grade, highest) {
  if (grade === undefined) return node("span", { class: "grade unjudged", title: "not judged" }, "–");
  return node("span", { class: `grade ${level(grade, highest)}`, title: `grade ${grade}` }, String(grade));
}
