// The evaluation report, drawn by the scripts of the report.

import { node } from "./report/nodes.js";
import { protocol, recommendation } from "./report/protocol.js";
import { contents, sections } from "./report/sections.js";
import { address } from "./address.js";
import { sentence } from "./ui.js";

export const title = () => "Leaderboard";

export function draw({ data }) {
  const heading = node("h1", {}, "Which model ranks best?");
  if (!data.report) {
    const what = "A report shows measures, significance, breakdowns, and wins and losses by query.";
    return [
      heading,
      node("p", { class: "lead" }, `${sentence(data.reason)}. ${what}`),
      node("p", {}, "Write a report and start the server with it:"),
      node("pre", {}, node("code", {}, data.commands.join("\n"))),
    ];
  }
  const found = sections({ ...data.report, searchAt: (q) => address("compare", { q }) });
  const nav = node("nav", { "aria-label": "Sections" }, contents(found));
  const before = [...protocol(data.report), ...recommendation(data.report)];
  return [heading, ...before, nav, node("div", { class: "report" }, found)];
}
