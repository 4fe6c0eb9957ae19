// A walk on the click graph: a query, its clicked documents, their queries, and so on.

import { node, quiet } from "./report/nodes.js";
import { address } from "./address.js";
import { clickGraph } from "./graph.js";
import { bars, clicksText, counted, docName, examples, link, modelChoice } from "./ui.js";
import { nothing, percent, scored, unsupported } from "./ui.js";

const LONGEST_TRAIL = 8;
const HEADS = { query: ["query", "documents", "queries"], doc: ["document", "queries", "documents"] };

export const title = ({ data }) => (data.kind ? `Walk from ${named(data)}` : "Walk the click graph");

const named = ({ kind, name, title: text }) => (kind === "query" ? name : docName(name, text));

export function draw(page) {
  return [...(page.data.kind ? from(page) : start(page)), modelChoice(page, "graph of")];
}

function start({ data }) {
  const what = "Go from a query to its clicked documents, to other queries of these documents, and so on.";
  return [
    node("h1", {}, "Walk the click graph"),
    node("p", { class: "lead" }, what),
    ...examples(data.examples, (query) => address("walk", { query, model: data.model })),
  ];
}

function from(page) {
  const { data } = page;
  const heading = node("h1", {}, node("span", { class: "asked" }, named(data)));
  const about = data.kind === "query" ? aboutQuery(data) : aboutDocument(data);
  return [...trail(page), heading, node("p", { class: "quiet" }, about), ...neighbours(page)];
}

function aboutQuery({ name, model, known, clicks, edges }) {
  const own = link(address("query", { q: name, model }), "Details");
  const search = link(address("compare", { q: name, a: model }), "Search");
  return [known ? `${clicksText(clicks)} on ${counted(edges, "document")}. ` : "", own, " · ", search];
}

function aboutDocument({ name, model, clicks, edges }) {
  const own = link(address("document", { doc: name, model }), "Details");
  return [`${name} · ${clicksText(clicks)} for ${counted(edges, "query", "queries")}. `, own];
}

function neighbours(page) {
  const { data } = page;
  if (!data.known) return unseen(page);
  if (data.near.length) return [picture(page)];
  return [nothing(data.kind === "query" ? "This query has no clicks." : "This document has no clicks.")];
}

function picture(page) {
  const { data } = page;
  const middle = { kind: data.kind, name: data.name, title: data.title, note: clicksText(data.clicks) };
  const near = data.near.map((one) => ({ ...one, note: `${clicksText(one.clicks)} · ${percent(one.share)}` }));
  const far = data.far.map((one) => ({ ...one, note: `reached ${percent(one.reach)}` }));
  const edges = [
    ...near.map((one) => ({ from: middle, to: one, clicks: one.clicks, share: one.share })),
    ...data.links.map((each) => ({ from: near[each.near], to: far[each.far], clicks: each.clicks })),
  ].map((edge) => ({ ...edge, weight: edge.clicks }));
  const left = data.edges - near.length;
  const legend = [
    "Thicker lines have more clicks, compared with the other lines between the same columns.",
    "“Reached” is the probability that two steps of a random walk end there.",
    left ? `${counted(left, "neighbour")} with fewer clicks not shown.` : "",
  ];
  const options = { model: data.model, label: "Click graph", heads: HEADS[data.kind], via: steps(page) };
  const graph = clickGraph([[middle], near, far], edges, { ...options, byKeys: true });
  return node("figure", { class: "clicks" }, graph, node("figcaption", {}, quiet(legend.join(" "))));
}

// The steps of the walk so far, in the URL: "q…" for a query, "d…" for a document.
function steps(page) {
  const before = page.params.getAll("via");
  return [...before, page.data.kind[0] + page.data.name].slice(-LONGEST_TRAIL);
}

function trail(page) {
  const before = page.params.getAll("via").filter((step) => /^[qd]./.test(step));
  if (!before.length) return [];
  const items = before.map((step, i) => {
    const kind = step[0] === "q" ? "query" : "doc";
    const to = address("walk", { [kind]: step.slice(1), model: page.data.model, via: before.slice(0, i) });
    return node("li", {}, link(to, step.slice(1)));
  });
  return [node("nav", { "aria-label": "Previous steps", class: "trail" }, node("ol", {}, items))];
}

function unseen(page) {
  const { data } = page;
  const text = node("p", {}, "This query is not in the log, so it has no clicks.");
  if (!data.similar.answer) return [text, unsupported(page, data.similar, "find similar queries", "similar")];
  const rows = data.similar.answer.map(({ query, score, clicks }) => {
    return [link(address("walk", { query, model: data.model }), query), score, scored({ score, clicks })];
  });
  if (!rows.length) return [text];
  return [text, node("h2", {}, "Start from a similar query"), bars(rows, "Similar queries")];
}
