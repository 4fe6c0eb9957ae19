// A query: its vector as words, the queries like it, and its clicks.

import { node } from "./report/nodes.js";
import { address } from "./address.js";
import { bars, clicksText, counted, docLink, examples, figure, link, modelChoice } from "./ui.js";
import { nothing, panel, percent, queryLink, unable } from "./ui.js";

export const title = ({ data }) => (data.query ? `${data.query} · query` : "A query");

export function draw(page) {
  const { data } = page;
  if (!data.query) {
    const to = (q) => address("query", { q, model: data.model });
    return [node("h1", {}, "Which query?"), modelChoice(page), ...examples(data.examples, to)];
  }
  const unseen = "Not in the log: what follows comes from what is known of its parts.";
  const known = data.known ? "In the log." : unseen;
  const normal = data.normal !== data.query ? ` Read as “${data.normal}”.` : "";
  const links = [
    link(address("compare", { q: data.query, a: data.model }), "Search for it"),
    " · ",
    link(address("walk", { query: data.query, model: data.model }), "Walk from here"),
  ];
  return [
    node("h1", {}, node("span", { class: "asked" }, data.query)),
    node("p", { class: "quiet", id: "known" }, `${known}${normal} `, ...links),
    modelChoice(page),
    node("div", { class: "panels" }, words(page), similar(page), clicks(page)),
  ];
}

function words(page) {
  const { answer } = page.data.words;
  const heading = "Its vector";
  if (!answer) return panel(heading, unable(page, page.data.words, "say a query in words", "expand"));
  return panel(heading, answer.length ? wordBars(answer) : nothing("No word of it is known."));
}

export function wordBars(found) {
  return bars(found.map(({ word, weight }) => [word, weight, figure(weight)]), "Words of the vector");
}

function similar(page) {
  const { answer } = page.data.similar;
  const heading = "Queries like it";
  if (!answer) return panel(heading, unable(page, page.data.similar, "find similar queries", "similar"));
  if (!answer.length) return panel(heading, nothing("None."));
  const rows = answer.map((hit) => [queryLink(hit.query, page.data.model), hit.score, figure(hit.score)]);
  return panel(heading, bars(rows, "Similar queries"));
}

function clicks(page) {
  const { clicks: found, model } = page.data;
  if (!found) return panel("Its clicks", nothing("None: it is not in the log."));
  if (!found.results.length) return panel("Its clicks", nothing("Shown, but never clicked."));
  const documents = ["document", "documents"];
  return clicksPanel("Its clicks", found, documents, (hit) => docLink(hit.name, hit.title, model));
}

// Clicks with their shares; `others` is what they lead to, one and many.
export function clicksPanel(heading, found, others, to) {
  const rest = found.edges > found.results.length ? `; the first ${found.results.length} of them` : "";
  const summary = `${clicksText(found.clicks)} on ${counted(found.edges, ...others)}${rest}.`;
  const rows = found.results.map((hit) => [to(hit), hit.clicks, `${hit.clicks} · ${percent(hit.share)}`]);
  return panel(heading, node("p", { class: "quiet" }, summary), bars(rows, heading));
}
