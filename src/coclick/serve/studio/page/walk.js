// A walk on the click graph: a query, the documents clicked for it, the queries that lead there, and on.

import { node, quiet } from "./report/nodes.js";
import { address } from "./address.js";
import { clickGraph } from "./graph.js";
import { bars, clicksText, counted, docName, examples, figure, link, modelChoice, percent, unable } from "./ui.js";

const LONGEST_TRAIL = 8;
const HEADS = { query: ["query", "documents", "queries"], doc: ["document", "queries", "documents"] };

export const title = ({ data }) => (data.kind ? `Walk from ${data.title || data.name}` : "Walk the click graph");

export function draw(page) {
  const { data } = page;
  if (!data.kind) {
    return [
      node("h1", {}, "Walk the click graph"),
      node("p", { class: "lead" }, "From a query to the documents clicked for it, to the other queries that lead there, and on."),
      modelChoice(page, "graph of"),
      ...examples(data.examples, (query) => address("walk", { query, model: data.model })),
    ];
  }
  const name = data.kind === "query" ? data.name : docName(data.name, data.title);
  const head = [...trail(page), node("h1", {}, node("span", { class: "asked" }, name)), about(page)];
  if (!data.known) return [...head, ...unseen(page), modelChoice(page, "graph of")];
  if (!data.near.length) {
    const text = data.kind === "query" ? "Nobody clicked anything for it." : "Nobody clicked it.";
    return [...head, node("p", {}, text), modelChoice(page, "graph of")];
  }
  return [...head, picture(page), modelChoice(page, "graph of")];
}

function about(page) {
  const { data } = page;
  const own = data.kind === "query" ? address("query", { q: data.name, model: data.model }) : address("document", { doc: data.name, model: data.model });
  const search = data.kind === "query" ? [" · ", link(address("compare", { q: data.name, a: data.model }), "Search for it")] : [];
  const size = data.known ? `${clicksText(data.clicks)} on ${counted(data.edges, data.kind === "query" ? "document" : "query", data.kind === "query" ? "documents" : "queries")}. ` : "";
  return node("p", { class: "quiet" }, data.kind === "doc" ? `${data.name} · ` : "", size, link(own, "Its own page"), ...search);
}

function picture(page) {
  const { data } = page;
  const middle = { kind: data.kind, name: data.name, title: data.title, note: clicksText(data.clicks) };
  const near = data.near.map((one) => ({ ...one, note: `${clicksText(one.clicks)} · ${percent(one.share)}` }));
  const far = data.far.map((one) => ({ ...one, note: one.reach < 0.001 ? "" : `reached ${percent(one.reach)}` }));
  const edges = [
    ...near.map((one) => ({ from: middle, to: one, clicks: one.clicks, share: one.share })),
    ...data.links.map(({ near: i, far: j, clicks }) => ({ from: near[i], to: far[j], clicks, share: clicks / data.clicks })),
  ];
  const left = data.edges - near.length;
  const more = left ? ` ${counted(left, "neighbour")} of the node with fewer clicks are left out.` : "";
  const text = `Thicker lines have more clicks. “Reached” is the chance that two steps of a random walk end there.${more}`;
  const options = { model: data.model, label: "Click graph", heads: HEADS[data.kind], walkFrom: { via: steps(page) } };
  return node("figure", { class: "clicks" }, clickGraph([[middle], near, far], edges, options), node("figcaption", {}, quiet(text)));
}

// Where the walk has come from, in the address: "q…" for a query, "d…" for a document.
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
  return [node("nav", { "aria-label": "The walk so far", class: "trail" }, node("ol", {}, items))];
}

function unseen(page) {
  const { data } = page;
  const said = node("p", {}, "This query is not in the log, so nobody has clicked anything for it yet.");
  if (!data.similar.answer) return [said, unable(page, data.similar, "find similar queries", "similar")];
  const rows = data.similar.answer.map((hit) => [link(address("walk", { query: hit.query, model: data.model }), hit.query), hit.score, figure(hit.score)]);
  if (!rows.length) return [said];
  return [said, node("h2", {}, "Walk from a query like it"), bars(rows, "Similar queries")];
}
