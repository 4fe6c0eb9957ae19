// A query: its vector as words, the queries like it, and its clicks.

import { node } from "./report/nodes.js";
import { address } from "./address.js";
import { bars, clicksText, counted, docLink, figure, link, modelChoice, panel, percent, queryLink, unable } from "./ui.js";

export const title = ({ data }) => `${data.query} · query`;

export function draw(page) {
  const { data } = page;
  const known = data.known ? "In the log." : "Not in the log: what follows comes from what is known of its parts.";
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
  if (!answer) return panel("Its vector", unable(page, page.data.words, "say a query in words", "expand"));
  if (!answer.length) return panel("Its vector", node("p", { class: "quiet" }, "No word of it is known."));
  return panel("Its vector", wordBars(answer));
}

export function wordBars(found) {
  return bars(found.map(({ word, weight }) => [word, weight, figure(weight)]), "Words of the vector");
}

function similar(page) {
  const { answer } = page.data.similar;
  if (!answer) return panel("Queries like it", unable(page, page.data.similar, "find similar queries", "similar"));
  if (!answer.length) return panel("Queries like it", node("p", { class: "quiet" }, "None."));
  const rows = answer.map((hit) => [queryLink(hit.query, page.data.model), hit.score, figure(hit.score)]);
  return panel("Queries like it", bars(rows, "Similar queries"));
}

function clicks(page) {
  const { clicks: found, model } = page.data;
  if (!found || !found.results.length) {
    return panel("Its clicks", node("p", { class: "quiet" }, found ? "Shown, but never clicked." : "None: it is not in the log."));
  }
  const rows = found.results.map((hit) => [docLink(hit.name, hit.title, model), hit.clicks, `${hit.clicks} · ${percent(hit.share)}`]);
  return panel("Its clicks", clicksSummary(found, "document"), bars(rows, "Clicked documents"));
}

export function clicksSummary(found, one, many) {
  const rest = found.edges > found.results.length ? `; the first ${found.results.length} of them` : "";
  return node("p", { class: "quiet" }, `${clicksText(found.clicks)} on ${counted(found.edges, one, many)}${rest}.`);
}
