// A document: its vector as words, similar documents, and the queries it was clicked for.

import { node, whole } from "./report/nodes.js";
import { address } from "./address.js";
import { fieldList, picture } from "./fields.js";
import { clicksPanel, wordBars } from "./query.js";
import { bars, docLink, docName, link, modelChoice, nothing } from "./ui.js";
import { panel, queryLink, scored, unsupported } from "./ui.js";

export const title = ({ data }) => (data.doc ? `${docName(data.doc, data.title)} · document` : "Document");

export function draw(page) {
  const { data } = page;
  if (!data.doc) return [node("h1", {}, "Choose a document"), modelChoice(page), mostClicked(page)];
  const walk = link(address("walk", { doc: data.doc, model: data.model }), "Walk the click graph");
  return [
    node("h1", {}, docName(data.doc, data.title)),
    node("p", { class: "quiet" }, `${data.doc} · `, walk),
    modelChoice(page),
    about(page),
    node("div", { class: "panels" }, words(page), similar(page), clicks(page)),
  ];
}

function about({ data }) {
  const made = [picture(data, docName(data.doc, data.title)), fieldList(data.fields)].filter(Boolean);
  return made.length ? node("div", { class: "about" }, made) : "";
}

function words(page) {
  const { answer } = page.data.words;
  const heading = "Vector";
  if (!answer) return panel(heading, unsupported(page, page.data.words, "show the words of a document", "expand"));
  return panel(heading, answer.length ? wordBars(answer) : nothing("The vector is empty."));
}

function similar(page) {
  const { answer } = page.data.similar;
  const heading = "Similar documents";
  if (!answer) return panel(heading, unsupported(page, page.data.similar, "find similar documents", "similar"));
  if (!answer.length) return panel(heading, nothing("None."));
  const row = (hit) => [docLink(hit.doc, hit.title, page.data.model), hit.score, scored(hit)];
  const rows = answer.map(row);
  return panel(heading, bars(rows, "Similar documents"));
}

function clicks(page) {
  const { clicks: found, model } = page.data;
  if (!found.results.length) return panel("Clicked for", nothing("It has no clicks."));
  return clicksPanel("Clicked for", found, ["query", "queries"], (hit) => queryLink(hit.name, model));
}

export function mostClicked({ data }) {
  const heading = "Documents with the most clicks";
  const row = ({ name, title: text, clicks: count }) => [docLink(name, text, data.model), count, whole(count)];
  return panel(heading, bars(data.top.docs.map(row), heading));
}
