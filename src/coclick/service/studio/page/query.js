// A query: its vector as words, similar queries, and its clicks.

import { node } from "./report/nodes.js";
import { address } from "./address.js";
import { bars, cent, clicksText, counted, docLink, examples, figure, link, modelChoice } from "./ui.js";
import { nothing, panel, percent, queryLink, scored, unsupported } from "./ui.js";

export const title = ({ data }) => (data.query ? `${data.query} · query` : "Query");

export function draw(page) {
  const { data } = page;
  if (!data.query) {
    const to = (q) => address("query", { q, model: data.model });
    return [node("h1", {}, "Choose a query"), modelChoice(page), ...examples(data.examples, to)];
  }
  const unseen = "Not in the log: its vector is computed from its text.";
  const known = data.known ? "In the log." : unseen;
  const normal = data.normalised !== data.query ? ` Normalised to “${data.normalised}”.` : "";
  const links = [
    link(address("compare", { q: data.query, a: data.model }), "Search"),
    " · ",
    link(address("walk", { query: data.query, model: data.model }), "Walk the click graph"),
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
  const heading = "Vector";
  if (!answer) return panel(heading, unsupported(page, page.data.words, "expand queries", "expand"));
  return panel(heading, answer.length ? wordBars(answer) : nothing("The model knows none of its words."));
}

export function wordBars(found) {
  return bars(found.map(({ word, weight }) => [word, weight, figure(weight)]), "Words of the vector");
}

function similar(page) {
  const { answer } = page.data.similar;
  const heading = "Similar queries";
  if (!answer) return panel(heading, unsupported(page, page.data.similar, "find similar queries", "similar"));
  if (!answer.length) return panel(heading, nothing("None."));
  const rows = answer.map((hit) => [queryLink(hit.query, page.data.model), hit.score, scored(hit)]);
  return panel(heading, bars(rows, "Similar queries"));
}

function clicks(page) {
  const { clicks: found, model } = page.data;
  if (!found) return panel("Clicks", nothing("None: it is not in the log."));
  if (!found.results.length) return panel("Clicks", nothing("It was shown, but has no clicks."));
  const documents = ["document", "documents"];
  return clicksPanel("Clicks", found, documents, (hit) => docLink(hit.name, hit.title, model));
}

// Clicks with their shares; `others` is the noun for what was clicked, singular and plural.
export function clicksPanel(heading, found, others, to) {
  const rest = found.edges > found.results.length ? `; the top ${found.results.length} are shown` : "";
  const summary = `${clicksText(found.clicks)} · ${counted(found.edges, ...others)}${rest}.`;
  const rows = found.results.map((hit) => [to(hit), hit.clicks, `${cent(hit.clicks)} · ${percent(hit.share)}`]);
  return panel(heading, node("p", { class: "quiet" }, summary), bars(rows, heading));
}
