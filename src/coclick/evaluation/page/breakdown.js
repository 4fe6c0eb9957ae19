// The main measure by groups of queries and documents.

import { bar, bestModels, frame, node, section, shortName, table, three, whole } from "./nodes.js";

const GROUPINGS = {
  query: "Seen and unseen queries",
  document: "Documents with and without clicks (each group ranked alone)",
  clicks: "Clicks of the query",
  words: "Words of the query",
};

const HALF = 3; // groups of a table that takes half of the page

export function breakdown(data) {
  const main = data.protocol.main_measure;
  return section(
    "breakdown",
    "Breakdown by queries and documents",
    node("p", {}, `${main} for each group; the best model of a group is bold.`),
    bestModels(data.models, (models) => {
      const made = Object.entries(GROUPINGS).flatMap(([by, title]) => grouping(models, main, by, title));
      return node("div", { class: "sides" }, made);
    }),
  );
}

function grouping(models, main, by, title) {
  const groups = Object.entries(models[0].breakdown[by] || {});
  if (!groups.length) return [];
  const value = (model, name) => model.breakdown[by][name][main];
  const best = groups.map(([name]) => Math.max(...models.map((model) => value(model, name))));
  const heads = groups.map(([name, group]) => {
    const size = node("div", { class: "quiet" }, `${whole(group.queries)} queries`);
    return node("th", { scope: "col" }, name, size);
  });
  const rows = models.map((model) => {
    const cells = groups.map(([name], i) => {
      const found = value(model, name);
      const kind = found === best[i] ? "group best" : "group";
      return node("td", { class: kind }, three(found), bar(found, Math.max(...best), three(found)));
    });
    return node("tr", {}, shortName(model.name), cells);
  });
  const head = [node("th", { scope: "col" }, "model"), ...heads];
  const kind = groups.length > HALF ? "whole" : "";
  return [node("div", { class: kind }, node("h3", {}, title), frame(title, table("", head, rows)))];
}
