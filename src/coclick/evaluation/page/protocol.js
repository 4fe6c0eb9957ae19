// The top of the report: how the models were evaluated, and the recommendation.

import { node, whole } from "./nodes.js";

export function protocol(data) {
  const used = data.protocol;
  const allKnown = used.judged_docs === used.judged_docs_in_graph;
  const known = allKnown ? "all" : `${whole(used.judged_docs_in_graph)} of them`;
  const similar = used.task === "similar";
  const what = similar ? "queries" : "documents";
  const full = `all ${what}; the top ${used.depth} are measured`;
  const facts = {
    "evaluated by": used.judged_by,
    queries: whole(used.queries),
    [similar ? "ranked queries" : "documents"]: whole(used.ranked),
    [similar ? "judged similar queries" : "judged documents"]: `${whole(used.judged_docs)}, ${known} in the graph`,
    retrieval: used.retrieval === "full" ? full : `only judged ${what} are ranked`,
    measure: `${used.main_measure}, ${used.gain} gain`,
    significance: used.p_holm,
  };
  const fact = ([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, value));
  const note = { class: "box warning", role: "note" };
  const warning = (text) => node("div", note, node("p", {}, `Note: ${text}.`));
  return [node("dl", { class: "facts" }, Object.entries(facts).map(fact)), ...used.warnings.map(warning)];
}

export function recommendation(data) {
  const made = [];
  if (data.recommendation) {
    const { model, reason, prices, target } = data.recommendation;
    made.push(
      node(
        "div",
        { class: "box", id: "recommendation" },
        node("p", {}, `Recommended${target ? ` for ${target}` : ""}: `, node("b", {}, model), `: ${reason}.`),
        prices ? node("p", {}, `What quality costs, ${prices}.`) : [],
        node("p", {}, node("code", {}, `coclick train "${model}" GRAPH -o model`)),
      ),
    );
  }
  const left = Object.entries(data.left_out || {});
  if (left.length) {
    const rows = left.map(([name, why]) => node("li", {}, node("b", {}, name), `: ${why}`));
    const summary = node("summary", {}, `models left out: ${whole(left.length)}`);
    made.push(node("details", { id: "left-out" }, summary, node("ul", {}, rows)));
  }
  return made;
}
