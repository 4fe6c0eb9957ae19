// One query, two models: both rankings, and how documents move between them.

import { named, node, quiet } from "./report/nodes.js";
import { address, changed } from "./address.js";
import { threads } from "./threads.js";
import { choice, clicksText, counted, docName, examples, figure, link, meter, sentence } from "./ui.js";

const RESULTS = [10, 20, 50];
const CAPABILITIES = {
  similar: "find similar queries and documents",
  expand: "expand queries",
  explain: "explain scores",
  topics: "show topics",
  translate: "translate words",
};

export const title = ({ data }) => (data.query ? `${data.query} · compare` : "Compare two models");

export function draw(page) {
  const { data } = page;
  if (!data.query) return welcome(page);
  const heading = node("h1", {}, node("span", { class: "asked" }, data.query));
  return [heading, ...remarks(page), settings(page), board(page)];
}

function welcome(page) {
  const two = page.data.sides.length > 1;
  const what = two
    ? "Compare how two models rank the same query, which documents move, and why."
    : "See how the model ranks a query, and why. Serve two models to compare them side by side.";
  return [
    node("h1", {}, two ? "Compare two models" : "Search"),
    node("p", { class: "lead" }, what, " Type a query above, or choose one from the log."),
    settings(page),
    ...examples(page.data.examples, (q) => changed("compare", page.params, { q })),
    served(page.models),
  ];
}

function served(models) {
  const items = models.map(({ name, spec, summary, can }) => {
    const exactly = spec === name ? [] : [" ", quiet(...named(spec))];
    const capabilities = quiet(`It can ${["rank", ...can.map((one) => CAPABILITIES[one])].join(", ")}.`);
    const what = node("div", {}, `${sentence(summary)}. `, capabilities);
    return node("li", {}, node("b", {}, name), ...exactly, what);
  });
  return node("section", {}, node("h2", {}, "Served models"), node("ul", { class: "models" }, items));
}

function settings(page) {
  const [a, b] = page.data.sides.map((side) => side.model);
  const go = (changes) => page.go(changed("compare", page.params, changes));
  const options = page.models.map((model) => [model.name, model.name]);
  const swap = node("button", { type: "button", title: "Swap the two models" }, "⇄");
  swap.setAttribute("aria-label", "Swap the two models");
  swap.addEventListener("click", () => go({ a: b, b: a }));
  const sizes = RESULTS.map((k) => [k, k]);
  const most = choice("k", "results", sizes, page.data.k, (k) => go({ k }));
  const first = choice("a", b ? "left" : "model", options, a, (name) => go({ a: name, b }));
  const second = b ? [swap, choice("b", "right", options, b, (name) => go({ a, b: name }))] : [];
  return node("div", { class: "choice settings" }, first, ...second, most);
}

// Whether the query is in the log; once if it is the same for both models.
function remarks(page) {
  const { query, sides } = page.data;
  const texts = sides.map(({ known, clicks }) =>
    known ? `in the log, with ${clicksText(clicks)}` : "not in the log",
  );
  const same = new Set(texts).size === 1;
  const each = sides.map((side, i) => `${side.model}: ${texts[i]}`);
  const text = same ? `This query is ${texts[0]}.` : `${each.join("; ")}.`;
  const model = sides[0].model;
  const more = [
    link(address("query", { q: query, model }), "Vector and clicks"),
    " · ",
    link(address("walk", { query, model }), "Walk the click graph"),
  ];
  return [node("p", { class: "quiet", id: "remarks" }, `${text} `, ...more)];
}

function board(page) {
  const { sides, moves } = page.data;
  if (!sides.some((side) => side.results.length)) return nothingFound(page);
  const both = sides.every((side) => side.results.length);
  const byDoc = new Map(both ? moves.map((move) => [move.doc, move]) : []); // else all are new, or gone
  const lists = sides.map((side, i) => ranking(page, side, i, byDoc));
  const made = lists.map((list) => list.made);
  if (made.length < 2) return node("div", { class: "board" }, made);
  if (!both) return node("div", { class: "board half" }, made);
  const box = node("div", { class: "board two" }, made);
  const [left, right] = lists;
  const gap = () => right.made.getBoundingClientRect().left - left.made.getBoundingClientRect().right;
  const pairs = moves.map((move) => ({
    from: left.hits.get(move.doc),
    to: right.hits.get(move.doc),
    kind: kindOf(move),
    gap,
  }));
  const shared = moves.filter((move) => move.a && move.b).length;
  const stayed = moves.filter((move) => move.a && move.a === move.b).length;
  const all = counted(Math.max(...sides.map((side) => side.results.length)), "document");
  const summary = `${shared} of ${all} are in both lists, ${stayed} of them at the same rank.`;
  return node("div", {}, node("p", { class: "quiet", id: "overlap" }, summary), threads(box, pairs));
}

function nothingFound(page) {
  const models = page.data.sides.map((side) => side.model).join(" nor ");
  const text = page.data.sides.length > 1 ? `Neither ${models} has results.` : `${models} has no results.`;
  const others = examples(page.data.examples, (q) => changed("compare", page.params, { q }));
  return node("div", {}, node("p", { class: "lead" }, text), ...others);
}

function kindOf({ a, b }) {
  if (!a) return "entered";
  if (!b) return "gone";
  return b < a ? "up" : b > a ? "down" : "same";
}

function ranking(page, side, i, byDoc) {
  const hits = new Map();
  const largest = side.results.length ? side.results[0].score : 1;
  const items = side.results.map((hit, place) => {
    const made = oneHit(page, side, hit, place + 1, largest, byDoc.get(hit.doc), i);
    hits.set(hit.doc, made);
    return made;
  });
  const model = page.models.find((one) => one.name === side.model);
  const exactly = model && model.spec !== side.model ? [node("small", {}, model.spec)] : [];
  const head = node("h2", {}, side.model, ...exactly);
  const empty = node("p", { class: "quiet" }, "No results: no document scores above zero.");
  const list = items.length ? node("ol", { class: "hits", "data-list": "" }, items) : empty;
  const name = `${i ? "Right" : "Left"}: ${side.model}`;
  const kind = items.length ? `side side-${i}` : `side side-${i} side-empty`;
  return { made: node("section", { class: kind, "aria-label": name }, head, list), hits };
}

function oneHit(page, side, hit, place, largest, move, i) {
  const why = changed("compare", page.params, { q: page.data.query, why: hit.doc, of: side.model });
  const item = { href: why, class: "title", "data-item": "", "data-doc": hit.doc };
  const name = node("a", item, docName(hit.doc, hit.title));
  const id = link(address("document", { doc: hit.doc, model: side.model }), hit.doc);
  const clicks = hit.clicks ? [" · ", node("span", {}, clicksText(hit.clicks))] : [];
  const score = node("span", {}, figure(hit.score));
  const meta = node("div", { class: "meta" }, id, " · ", score, ...clicks, ...(move ? moved(move, i) : []));
  const number = node("span", { class: "place", "aria-hidden": "true" }, String(place));
  return node("li", { class: "hit" }, number, node("div", {}, name, meta, meter(hit.score, largest)));
}

// On the right, the change of rank; on the left only documents that are missing on the right.
function moved(move, i) {
  const badge = (kind, text, spoken) => {
    const seen = node("span", { "aria-hidden": "true" }, text);
    return [" ", node("span", { class: `move ${kind}` }, seen, node("span", { class: "hidden" }, spoken))];
  };
  if (i === 0) return move.b ? [] : badge("gone", "gone", "not in the right list");
  if (!move.a) return badge("entered", "new", "not in the left list");
  const by = move.a - move.b;
  if (!by) return [];
  const [arrow, way] = by > 0 ? ["▲", "up"] : ["▼", "down"];
  return badge(way, `${arrow}${Math.abs(by)}`, `${way} from rank ${move.a}`);
}
