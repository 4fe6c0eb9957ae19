// A document: its vector as words, the documents like it, and the queries it was clicked for.

import { node } from "./report/nodes.js";
import { address } from "./address.js";
import { bars, docLink, docName, figure, link, modelChoice, panel, percent, queryLink, unable } from "./ui.js";
import { clicksSummary, wordBars } from "./query.js";

export const title = ({ data }) => `${docName(data.doc, data.title)} · document`;

export function draw(page) {
  const { data } = page;
  const walk = link(address("walk", { doc: data.doc, model: data.model }), "Walk from here");
  return [
    node("h1", {}, docName(data.doc, data.title)),
    node("p", { class: "quiet" }, `${data.doc} · `, walk),
    modelChoice(page),
    node("div", { class: "panels" }, words(page), similar(page), clicks(page)),
  ];
}

function words(page) {
  const { answer } = page.data.words;
  if (!answer) return panel("Its vector", unable(page, page.data.words, "say a document in words", "expand"));
  if (!answer.length) return panel("Its vector", node("p", { class: "quiet" }, "Empty: nothing is known of it."));
  return panel("Its vector", wordBars(answer));
}

function similar(page) {
  const { answer } = page.data.similar;
  const heading = "Documents like it";
  if (!answer) return panel(heading, unable(page, page.data.similar, "find similar documents", "similar"));
  if (!answer.length) return panel(heading, node("p", { class: "quiet" }, "None."));
  const rows = answer.map((hit) => [docLink(hit.doc, hit.title, page.data.model), hit.score, figure(hit.score)]);
  return panel(heading, bars(rows, "Similar documents"));
}

function clicks(page) {
  const { clicks: found, model } = page.data;
  if (!found.results.length) return panel("Clicked for", node("p", { class: "quiet" }, "Nobody has clicked it yet."));
  const rows = found.results.map((hit) => [queryLink(hit.name, model), hit.clicks, `${hit.clicks} · ${percent(hit.share)}`]);
  return panel("Clicked for", clicksSummary(found, "query", "queries"), bars(rows, "Queries"));
}
