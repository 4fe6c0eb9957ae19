// How the models were judged comes first, then everything that was found.

function protocol(data) {
  const { judged_by, retrieval, depth, gain, main_measure, queries, docs, judged_docs, judged_docs_in_graph } = data.protocol;
  const known = judged_docs === judged_docs_in_graph ? "all" : `${whole(judged_docs_in_graph)} of them`;
  const facts = {
    "judged by": judged_by,
    queries: whole(queries),
    documents: whole(docs),
    "judged documents": `${whole(judged_docs)}, ${known} in the graph`,
    retrieval: retrieval === "full" ? `all documents, the best ${depth}` : "judged documents are re-ranked",
    measure: `${main_measure}, ${gain} gain`,
    significance: data.protocol.p_holm,
  };
  const list = Object.entries(facts).map(([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, value)));
  return [
    node("dl", { class: "facts" }, list),
    ...data.protocol.warnings.map((text) => node("div", { class: "box warning", role: "note" }, node("p", {}, `Note: ${text}.`))),
  ];
}

function recommendation(data) {
  const made = [];
  if (data.recommendation) {
    const { model, reason } = data.recommendation;
    made.push(
      node(
        "div",
        { class: "box", id: "recommendation" },
        node("p", {}, "Recommended: ", node("b", {}, model), `: ${reason}.`),
        node("p", {}, node("code", {}, `coclick train "${model}" GRAPH -o model`)),
      ),
    );
  }
  const left = Object.entries(data.left_out || {});
  if (left.length) {
    const rows = left.map(([name, why]) => node("li", {}, node("b", {}, name), `: ${why}`));
    made.push(node("details", { id: "left-out" }, node("summary", {}, `${left.length} models were left out`), node("ul", {}, rows)));
  }
  return made;
}

function draw() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const sections = [leaderboard, significance, breakdown, separability, importance, queries].flatMap((make) => make(data));
  document.getElementById("top").append(...protocol(data), ...recommendation(data));
  document.getElementById("main").replaceChildren(...sections);
  const links = sections.map((made) => node("li", {}, node("a", { href: `#${made.id}` }, made.firstChild.textContent)));
  document.getElementById("sections").append(node("ul", {}, links));
  document.getElementById("footer").append(node("p", { class: "quiet" }, `Made by coclick ${data.version}.`));
}

draw();
