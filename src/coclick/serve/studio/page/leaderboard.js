// The evaluation report, drawn by the report's own scripts.

import { node } from "./report/nodes.js";
import { protocol, recommendation } from "./report/protocol.js";
import { contents, sections } from "./report/sections.js";
import { sentence } from "./ui.js";

export const title = () => "Leaderboard";

export function draw({ data }) {
  const heading = node("h1", {}, "Which model ranks best?");
  if (!data.report) {
    return [
      heading,
      node("p", { class: "lead" }, `${sentence(data.said)}. A report shows measures, significance, breakdowns, and wins and losses query by query.`),
      node("p", {}, "Make one, and give it to the server:"),
      node("pre", {}, node("code", {}, data.commands.join("\n"))),
    ];
  }
  const found = sections(data.report);
  const nav = node("nav", { "aria-label": "Sections" }, contents(found));
  return [heading, ...protocol(data.report), ...recommendation(data.report), nav, node("div", { class: "report" }, found)];
}
