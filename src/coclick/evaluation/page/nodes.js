// Functions that create the nodes of the page. Text is never parsed as HTML.

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

// A section with a heading, which the table of contents links to.
export function section(id, title, ...children) {
  const heading = node("h2", { id: `${id}-title` }, title);
  return node("section", { id, "aria-labelledby": heading.id }, heading, ...children);
}

// A frame that scrolls horizontally, also by keyboard, if its table is wider than the page.
export function frame(label, table, kind = "") {
  return node("div", { class: `frame ${kind}`, tabindex: "0", role: "region", "aria-label": label }, table);
}

export function table(kind, head, rows) {
  return node("table", { class: kind }, node("thead", {}, node("tr", {}, head)), node("tbody", {}, rows));
}

const FEW = 8; // models of a section that has a row, column or figure for each

// What `draw` makes of the first models, and a button for all of them: a report may have dozens. `models` are
// ordered, best first.
export function bestModels(models, draw) {
  if (models.length <= FEW) return node("div", {}, draw(models));
  const place = node("div");
  const button = node("button", { type: "button", class: "more" });
  const show = (all) => {
    button.textContent = all ? `Show the best ${FEW} models` : `Show all ${models.length} models`;
    button.onclick = () => show(!all);
    place.replaceChildren(...[draw(all ? models : models.slice(0, FEW))].flat());
  };
  show(false);
  return node("div", {}, place, button);
}

// A bar from 0 to `value`; `interval` adds a line from low to high.
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

// A model's name, with line breaks allowed after , ( + and =.
export function named(name) {
  return name.split(/(?<=[,(+=])/).flatMap((part) => [part, node("wbr")]);
}

// The name as a row heading, cut to three lines; the tooltip has all of it.
export function shortName(name, before = "") {
  return node("th", { scope: "row", title: name }, node("span", { class: "short" }, before, named(name)));
}

export const three = (value) => value.toFixed(3);
export const signed = (value) => (value < 0 ? "−" : "+") + three(Math.abs(value));
export const whole = (value) => value.toLocaleString("en");
export const pValue = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toPrecision(3)}`);

// Maps any number of grades to five colours; grade 0 is always the first.
export function level(grade, highest) {
  return `level-${grade <= 0 ? 0 : Math.max(1, Math.round((4 * grade) / highest))}`;
}

export function chip(grade, highest) {
  if (grade === undefined) return node("span", { class: "grade unjudged", title: "not judged" }, "–");
  return node("span", { class: `grade ${level(grade, highest)}`, title: `grade ${grade}` }, String(grade));
}
