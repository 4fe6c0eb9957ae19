// Why a document has its score: what it is made of, adding up at every level, and the clicks behind it.

import { drawn, node, quiet } from "./report/nodes.js";
import { address, changed } from "./address.js";
import { clicksPicture } from "./graph.js";
import { counted, docLink, figure, link, meter, modelChoice, nothing } from "./ui.js";
import { percent, queryLink, unable } from "./ui.js";

const COLOURS = 6;
const SAID_BEFORE = {
  "query clicks": "its click on",
  "document clicks": "its click for",
  mean: "the mean",
  document: "the document's own",
  translation: "translated from",
  "query unit": "from the query's",
  "document unit": "from the document's",
};

export const title = ({ data }) => `Why ${data.title || data.doc}?`;

export function draw(page) {
  return [node("h1", {}, "Why this result?"), modelChoice(page, "explained by"), ...body(page)];
}

// Also what the drawer shows.
export function body(page) {
  const { data } = page;
  const { query, doc, model, place, deep } = data;
  const where = place ? `place ${place}` : `not among the first ${deep}`;
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
  if (!answer) return [...head, unable(page, data.explanation, "explain its scores", "explain")];
  if (!answer.parts.length) return [...head, nothing("Query and document share nothing the model knows.")];
  return [...head, ...stack(answer), parts(page, answer, answer.words || [], true), total(answer.score)];
}

// The score as one bar, cut into its parts; not where some of them take away from it.
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

// The parts of the score, or of a part. Those of the score have the colours of the bar, and the first is open.
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
  const before = SAID_BEFORE[kind] || (kind === "word" ? "" : kind);
  const titled = kind === "query clicks" && page.data.titles[label];
  const name = titled ? [node("b", {}, titled), quiet(` ${label}`)] : [node("b", {}, label)];
  return [
    node("span", { class: "what" }, ...swatch, before ? quiet(`${before} `) : "", ...name),
    meter(value, largest, colour),
    node("span", { class: "figure" }, figure(value)),
    node("span", { class: "figure share quiet" }, whole ? percent(value / whole) : ""),
  ];
}

// What is inside is drawn when it is asked for: there may be much of it.
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
  const how = left.length ? "Left, behind its weight in the query; right, in the document. " : "";
  const few = shown < all ? `The heaviest ${shown} of ${counted(all, "clicked pair")}.` : "";
  const options = { model: page.data.model, label: `Clicks behind ${part.label}` };
  return node(
    "figure",
    { class: "clicks" },
    node("figcaption", {}, "The clicks behind it ", quiet(how + few)),
    clicksPicture(left, part.clicks, page.data.titles, options),
  );
}

function inner(page, part) {
  return node("div", {}, node("h4", {}, "It is made of"), parts(page, part, []), total(part.value));
}

function total(value) {
  const what = node("span", { class: "what" }, "together");
  return node("p", { class: "part total" }, what, node("b", { class: "figure" }, figure(value)));
}

// The drawer's own head: the page of its own is one step away.
export function drawer(page) {
  const { query, doc, model } = page.data;
  const own = link(address("why", { q: query, doc, model }), "open as a page");
  const others = page.models
    .filter((one) => one.name !== model && one.can.includes("explain"))
    .map((one) => link(changed("compare", page.params, { why: doc, of: one.name }), one.name));
  const also = others.length ? [" · the same in ", ...others.flatMap((one, i) => [i ? ", " : "", one])] : [];
  return [...body(page), node("p", { class: "quiet" }, own, ...also)];
}
