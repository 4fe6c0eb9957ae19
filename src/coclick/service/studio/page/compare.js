// One query, two models: both rankings, and how documents move between them.

import { named, node, quiet } from "./report/nodes.js";
import { address, changed } from "./address.js";
import { picture } from "./fields.js";
import { gradeButtons } from "./grades.js";
import { threads } from "./threads.js";
import { choice, clicksText, counted, docName, examples, figure, link, meter, sentence } from "./ui.js";

const RESULTS = [10, 20, 50];
const ENGINE = "/engine"; // the user's own engine, among names of models
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

const called = (page, name) => (name === ENGINE ? `your engine at ${page.options.engine}` : name);

function settings(page) {
  const [a, b] = page.data.sides.map((side) => side.model);
  const go = (changes) => page.go(changed("compare", page.params, changes));
  const engine = page.options.engine ? [[ENGINE, called(page, ENGINE)]] : [];
  const options = [...page.models.map((model) => [model.name, model.name]), ...engine];
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
  const each = sides.map((side, i) => `${called(page, side.model)}: ${texts[i]}`);
  const text = same ? `This query is ${texts[0]}.` : `${each.join("; ")}.`;
  const { model } = sides.find((side) => !side.live) || { model: page.models[0].name };
  const rate = page.options.rate ? [" · ", link(address("rate", { q: query }), "Rate its results")] : [];
  const more = [
    link(address("query", { q: query, model }), "Vector and clicks"),
    " · ",
    link(address("walk", { query, model }), "Walk the click graph"),
    ...rate,
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
  const models = page.data.sides.map((side) => called(page, side.model)).join(" nor ");
  const problems = page.data.sides.filter((side) => side.problem).map((side) => problem(side.problem));
  const text = page.data.sides.length > 1 ? `Neither ${models} has results.` : `${models} has no results.`;
  const others = examples(page.data.examples, (q) => changed("compare", page.params, { q }));
  return node("div", {}, node("p", { class: "lead" }, text), ...problems, ...others);
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
  const exactly = model && model.spec !== side.model ? [node("small", { class: "spec" }, model.spec)] : [];
  const guess = side.guess ? [node("small", {}, "a guess: nothing in the query is known to the model")] : [];
  const head = node("h2", {}, called(page, side.model), ...exactly, ...guess);
  const none = side.live ? "No results." : "No results: no document scores above zero.";
  const empty = side.problem ? problem(side.problem) : node("p", { class: "quiet" }, none);
  const list = items.length ? node("ol", { class: "hits", "data-list": "" }, items) : empty;
  const name = `${i ? "Right" : "Left"}: ${called(page, side.model)}`;
  const kind = items.length ? `side side-${i}` : `side side-${i} side-empty`;
  return { made: node("section", { class: kind, "aria-label": name }, head, list), hits };
}

// What an engine says when it has no answer.
function problem({ message, hint }) {
  return node("p", { class: "problem", role: "alert" }, `${sentence(message)}. ${hint ? `${sentence(hint)}.` : ""}`);
}

function oneHit(page, side, hit, place, largest, move, i) {
  const { query, grades } = page.data;
  const model = side.live ? explainer(page) : side.model;
  const shown = docName(hit.doc, hit.title);
  const item = { class: "title", "data-item": "", "data-doc": hit.doc };
  const known = !side.live || hit.known;
  const why = changed("compare", page.params, { q: query, why: hit.doc, of: model });
  const name = known ? node("a", { ...item, href: why }, shown) : node("span", { ...item, tabindex: 0 }, shown);
  const id = known ? link(address("document", { doc: hit.doc, model }), hit.doc) : node("span", {}, hit.doc);
  const clicks = hit.clicks ? [" · ", node("span", {}, clicksText(hit.clicks))] : [];
  const score = side.live ? [] : [" · ", node("span", {}, figure(hit.score))];
  const strange = known ? [] : [" · ", node("span", {}, "not in the log")];
  const meta = node("div", { class: "meta" }, id, ...score, ...clicks, ...strange, ...(move ? moved(move, i) : []));
  const number = node("span", { class: "place", "aria-hidden": "true" }, String(place));
  const bar = side.live ? [] : [meter(hit.score, largest)];
  const rates = grades ? [gradeButtons(query, hit.doc, grades[hit.doc], shown)] : [];
  const rated = grades ? { "data-rate": "" } : {};
  const words = node("div", {}, picture(hit, shown), name, meta, ...bar, ...rates);
  return node("li", { class: "hit", ...rated }, number, words);
}

// The model that explains a result of the engine: the one beside it.
function explainer(page) {
  const other = page.data.sides.find((side) => !side.live);
  return other ? other.model : page.models[0].name;
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
