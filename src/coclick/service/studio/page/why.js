// Explains a score: its parts, which add up at every level, and the clicks they were learned from.

import { drawn, node, quiet } from "./report/nodes.js";
import { address, changed } from "./address.js";
import { clicksPicture } from "./graph.js";
import { counted, docLink, figure, link, meter, modelChoice, nothing } from "./ui.js";
import { percent, queryLink, unsupported } from "./ui.js";

const COLOURS = 6;
const PREFIXES = {
  "query clicks": "clicked document",
  "document clicks": "clicked for",
  mean: "mean",
  document: "the document's own",
  translation: "translated from",
};

export const title = ({ data }) => `Why ${data.title || data.doc}?`;

export function draw(page) {
  return [node("h1", {}, "Why this result?"), modelChoice(page, "explained by"), ...body(page)];
}

// The drawer shows this, too.
export function body(page) {
  const { data } = page;
  const { query, doc, model, rank, max_rank: maxRank } = data;
  const where = rank ? `rank ${rank}` : `not in the top ${maxRank}`;
  const head = [
    node("p", { class: "pair" }, queryLink(query, model), quiet(" → "), docLink(doc, data.title, model)),
    node(
      "p",
      { class: "quiet" },
      `${doc} · ${where} in ${model} · score ${figure(data.score)} · `,
      data.known ? "the query is in the log" : "the query is not in the log",
    ),
  ];
  const { answer } = data.explanation;
  if (!answer) return [...head, unsupported(page, data.explanation, "explain scores", "explain")];
  if (!answer.parts.length) return [...head, nothing("The query and the document have nothing in common.")];
  return [...head, ...stack(answer), parts(page, answer, answer.words || [], true), total(answer.score)];
}

// The score as one bar, divided into its parts; omitted if a part is negative.
function stack(answer) {
  const shown = [...answer.parts.map((part) => part.value), answer.rest.value];
  if (shown.some((value) => value < 0)) return [];
  const all = shown.reduce((sum, value) => sum + value, 0) || 1;
  const picture = drawn("svg", { class: "stack", "aria-hidden": "true" });
  let x = 0;
  shown.forEach((value, i) => {
    const kind = i < answer.parts.length ? `colour-${i % COLOURS}` : "colour-rest";
    const box = { x: `${(100 * x) / all}%`, width: `${(100 * value) / all}%`, height: "100%" };
    picture.append(drawn("rect", { class: kind, ...box }));
    x += value;
  });
  return [picture];
}

// The parts of the score or of a part. Those of the score have the colours of the bar; the first is open.
function parts(page, parent, words, coloured = false) {
  const whole = coloured ? parent.score : parent.value;
  const largest = Math.max(...parent.parts.map((part) => Math.abs(part.value)));
  const made = parent.parts.map((part, i) => {
    const line = onePart(page, part, whole, largest, coloured ? `colour-${i % COLOURS}` : "");
    return unfolding(line, inside(page, part, words[i]), coloured && i === 0);
  });
  if (parent.rest.parts) {
    const value = node("span", { class: "figure" }, figure(parent.rest.value));
    const what = quiet(`and ${counted(parent.rest.parts, "more part")}`);
    made.push(node("p", { class: "part rest" }, what, value));
  }
  return node("div", { class: "parts" }, made);
}

function onePart(page, { kind, label, value }, whole, largest, colour) {
  const swatch = colour ? [node("span", { class: `swatch ${colour}` })] : [];
  const before = PREFIXES[kind] || (kind === "word" ? "" : kind);
  const titled = kind === "query clicks" && page.data.titles[label];
  const name = titled ? [node("b", {}, titled), quiet(` ${label}`)] : [node("b", {}, label)];
  return [
    node("span", { class: "what" }, ...swatch, before ? quiet(`${before} `) : "", ...name),
    meter(value, largest, colour),
    node("span", { class: "figure" }, figure(value)),
    node("span", { class: "figure share quiet" }, whole ? percent(value / whole) : ""),
  ];
}

// The inner parts are drawn when opened: there may be many.
function unfolding(line, drawers, open) {
  if (!drawers.length) return node("div", { class: "part" }, line);
  const made = node("details", { class: "part" }, node("summary", { "data-item": "" }, line));
  const fill = () => made.append(node("div", { class: "inside" }, drawers.map((draw) => draw())));
  made.addEventListener("toggle", fill, { once: true });
  made.open = open;
  return made;
}

function inside(page, part, word) {
  const found = [];
  if (word) found.push(() => weights(word));
  if (part.clicks.length || (word && word.query_clicks.length)) found.push(() => picture(page, part, word));
  if (part.parts.length) found.push(() => inner(page, part));
  return found;
}

function weights(word) {
  const product = `${figure(word.query_weight)} in the query × ${figure(word.doc_weight)} in the document`;
  return node("p", { class: "quiet" }, `${product} = ${figure(word.contribution)}`);
}

function picture(page, part, word) {
  const left = word ? word.query_clicks : [];
  const shown = left.length + part.clicks.length;
  const all = part.edges + (word ? word.query_edges : 0);
  const how = left.length ? "Left: clicks for its weight in the query; right: in the document. " : "";
  const few = shown < all ? `The top ${shown} of ${counted(all, "clicked pair")}.` : "";
  const options = { model: page.data.model, label: `Clicks for ${part.label}` };
  return node(
    "figure",
    { class: "clicks" },
    node("figcaption", {}, "Learned from these clicks ", quiet(how + few)),
    clicksPicture(left, part.clicks, page.data.titles, options),
  );
}

function inner(page, part) {
  return node("div", {}, node("h4", {}, "Parts"), parts(page, part, []), total(part.value));
}

function total(value) {
  const what = node("span", { class: "what" }, "total");
  return node("p", { class: "part total" }, what, node("b", { class: "figure" }, figure(value)));
}

// The content of the drawer, with links to the full page and to other models.
export function drawer(page) {
  const { query, doc, model } = page.data;
  const own = link(address("why", { q: query, doc, model }), "open as page");
  const others = page.models
    .filter((one) => one.name !== model && one.can.includes("explain"))
    .map((one) => link(changed("compare", page.params, { why: doc, of: one.name }), one.name));
  const also = others.length ? [" · explained by ", ...others.flatMap((one, i) => [i ? ", " : "", one])] : [];
  return [...body(page), node("p", { class: "quiet" }, own, ...also)];
}
