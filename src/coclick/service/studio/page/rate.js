// Rate results by hand: the documents of a query, or a queue of the pairs on which models disagree most.

import { node, quiet, whole } from "./report/nodes.js";
import { address } from "./address.js";
import { fieldList, picture } from "./fields.js";
import { gradeButtons } from "./grades.js";
import { counted, docLink, docName, link, nothing, queryLink } from "./ui.js";

export const title = ({ data }) => (data.query ? `Rate ${data.query}` : "Rate results");

export function draw(page) {
  const { data } = page;
  const heading = data.query ? node("span", { class: "asked" }, data.query) : "Rate results";
  return [
    node("h1", {}, heading),
    node("p", { class: "quiet", id: "kept" }, ...kept(data)),
    ...(data.query ? [] : [node("p", {}, how(page))]),
    legend(data.grades),
    list(page),
    ...next(page),
  ];
}

function kept({ file, rated, query }) {
  const count = `${counted(rated.pairs, "document")} of ${counted(rated.queries, "query", "queries")}`;
  const all = query ? [" ", link(address("rate"), "Queue")] : [];
  return [rated.pairs ? `Rated so far: ${count}, kept in ${file}.` : `Grades will be kept in ${file}.`, ...all];
}

function how({ models }) {
  return models.length > 1
    ? "First come the pairs whose ranks differ most between the served models: their grades say most about which is better."
    : "First come documents high in the list whose score is close to the next one's.";
}

function legend(grades) {
  const keys = grades.flatMap(([grade, name]) => [node("kbd", {}, String(grade)), ` ${name} `]);
  return node("p", { class: "quiet" }, "Keys: ", ...keys, node("kbd", {}, "j"), " ", node("kbd", {}, "k"), " move");
}

function list(page) {
  const { pairs, query } = page.data;
  if (!pairs.length) return nothing(query ? "No model has results." : "Everything in the queue is rated.");
  return node("ol", { class: "to-rate", "data-list": "" }, pairs.map((pair) => onePair(page, pair)));
}

function onePair(page, pair) {
  const name = docName(pair.doc, pair.title);
  const asked = page.data.query ? [] : [node("p", { class: "of" }, queryLink(pair.query), " ", quiet("→"))];
  const to = docLink(pair.doc, pair.title);
  to.dataset.item = "";
  const ranks = pair.ranks.map(({ model, rank }) => `${model} ${rank || "–"}`).join(" · ");
  const where = node("p", { class: "meta" }, node("span", {}, pair.doc), " · ranks: ", ranks);
  const words = node("div", { class: "said" }, ...asked, node("p", { class: "title" }, to), where, fieldList(pair.fields));
  const grade = pair.grade === null ? undefined : pair.grade;
  return node("li", { "data-rate": "" }, picture(pair, name), words, gradeButtons(pair.query, pair.doc, grade, name));
}

// The rest of the queue; what is rated by then leaves it.
function next(page) {
  const { query, left, pairs } = page.data;
  if (query || left <= pairs.length) return [];
  const button = node("button", { type: "button", id: "next" }, "Next");
  button.addEventListener("click", () => page.go(address("rate"), { again: true }));
  return [node("p", {}, button, quiet(` ${whole(left)} pairs without a grade in the queue`))];
}
