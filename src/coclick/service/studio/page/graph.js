// A part of the click graph: queries and documents in columns, clicks as lines between them. Every node links
// to the walk from there.

import { node } from "./report/nodes.js";
import { address } from "./address.js";
import { threads } from "./threads.js";
import { clicksText, docName, percent } from "./ui.js";

const WIDEST = 9; // of a line
const NARROWEST = 1;

// `columns` are lists of { kind, name, title, note }; an edge is { from, to, clicks, weight, share } between
// nodes of neighbouring columns; of those between two columns the heaviest is widest. `via` are the previous steps of the walk.
export function clickGraph(columns, edges, { model, label, heads, via = [], byKeys = false }) {
  const made = new Map(); // nodes to elements
  const placed = new Map(columns.flatMap((nodes, i) => nodes.map((one) => [one, i])));
  const largest = columns.map((_, i) => {
    return Math.max(...edges.filter(({ from }) => placed.get(from) === i).map((edge) => edge.weight), 0);
  });
  // The square root keeps a few clicks visible beside thousands, and 17 clicks apart from one.
  const width = ({ from, weight }) => {
    return Math.max(NARROWEST, WIDEST * Math.sqrt(weight / (largest[placed.get(from)] || 1)));
  };
  const column = (nodes, i) => {
    const items = nodes.map((one) => {
      const element = graphNode(one, { model, via });
      if (byKeys) element.dataset.item = "";
      made.set(one, element);
      return node("li", {}, element);
    });
    return node("div", {}, node("h4", {}, heads[i]), node("ul", byKeys ? { "data-list": "" } : {}, items));
  };
  const box = node("div", { class: `graph columns-${columns.length}` }, columns.map(column));
  const pairs = edges.map((edge) => ({
    from: made.get(edge.from),
    to: made.get(edge.to),
    width: width(edge).toFixed(1),
  }));
  const texts = edges.map(({ from, to, clicks, share }) => {
    const pair = `${called(from)} and ${called(to)}`;
    return node("li", {}, `${pair}: ${clicksText(clicks)}${share ? `, ${percent(share)}` : ""}`);
  });
  const spoken = node("ul", { class: "hidden" }, texts);
  return node("div", { role: "group", "aria-label": label }, threads(box, pairs), spoken);
}

const called = (one) => (one.kind === "query" ? `“${one.name}”` : docName(one.name, one.title));

function graphNode(one, { model, via }) {
  const to = address("walk", { [one.kind]: one.name, model, via });
  const name = one.kind === "query" ? one.name : docName(one.name, one.title);
  const title = one.kind === "query" ? one.name : `${one.title || ""} ${one.name}`.trim();
  const note = one.note ? [node("small", {}, one.note)] : [];
  return node("a", { class: `node ${one.kind}`, href: to, title }, node("span", {}, name), ...note);
}

// Clicks as queries, documents, queries: on the left the clicks for the weight in the query, on the right those
// for the weight in the document. A side without clicks has no column.
export function clicksPicture(left, right, titles, options) {
  const docs = new Map();
  const doc = (name) => {
    if (!docs.has(name)) docs.set(name, { kind: "doc", name, title: titles[name] });
    return docs.get(name);
  };
  const side = (clicks) => {
    const queries = new Map();
    const query = (name) => {
      if (!queries.has(name)) queries.set(name, { kind: "query", name });
      return queries.get(name);
    };
    const edges = clicks.map((click) => {
      return { ...click, weight: click.share, query: query(click.query), doc: doc(click.doc) };
    });
    return { queries: [...queries.values()], edges };
  };
  const [asked, found] = [side(left), side(right)];
  const edges = [
    ...asked.edges.map((edge) => ({ ...edge, from: edge.query, to: edge.doc })),
    ...found.edges.map((edge) => ({ ...edge, from: edge.doc, to: edge.query })),
  ];
  note(edges);
  const all = [
    ["queries", asked.queries],
    ["documents", [...docs.values()]],
    ["queries", found.queries],
  ].filter(([, nodes]) => nodes.length);
  const heads = all.map(([head]) => head);
  return clickGraph(all.map(([, nodes]) => nodes), edges, { ...options, heads });
}

// The number of clicks of an edge is shown at an end with no other edge, if there is one.
function note(edges) {
  const degrees = new Map();
  for (const end of edges.flatMap(({ from, to }) => [from, to])) degrees.set(end, (degrees.get(end) || 0) + 1);
  for (const { from, to, clicks, share } of edges) {
    const end = [from, to].find((one) => degrees.get(one) === 1);
    if (end) end.note = `${clicksText(clicks)} · ${percent(share)}`;
  }
}
