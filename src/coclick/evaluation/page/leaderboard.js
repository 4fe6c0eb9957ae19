// All models with all measures; a click on a heading sorts by that column.

import { bar, frame, named, node, quiet, section, three, whole } from "./nodes.js";

export const LEVEL = 0.05; // of significance
const MAX_COLUMNS = 12; // that fit beside a model's name on a page of 1,280 pixels
const DETAILED = ["nDCG@1", "nDCG@3", "nDCG@5", "P@10", "Judged@10"]; // hidden first if there are more columns

export function leaderboard(data) {
  const main = data.protocol.main_measure;
  const best = data.models[0];
  const largest = Math.max(...data.models.map((model) => model.interval[1]));
  const others = Object.keys(best.measures).filter((name) => name !== main);
  const splits = (data.splits || []).slice(1).map((split) => split.name);
  const recommended = data.recommendation && data.recommendation.model;
  const columns = [
    { title: "model", key: (model) => model.name },
    { title: main, key: (model) => model.measures[main] },
    { title: "difference", key: (model) => best.measures[main] - model.measures[main] },
    ...splits.map((name) => ({ title: `by ${name}`, key: (model) => bySplit(model, name, main) })),
    ...others.map((name) => ({ title: name, key: (model) => model.measures[name], detailed: DETAILED.includes(name) })),
    { title: "training time", key: (model) => model.seconds },
    ...offers(data),
  ];
  const body = node("tbody");
  const buttons = columns.map((column) => node("button", { type: "button" }, column.title));
  const heads = buttons.map((button, i) => node("th", { scope: "col", class: kind(columns[i].detailed) }, button));
  heads[1].setAttribute("colspan", 2); // the number, and its bar
  heads[1].classList.add("left");

  function row(model) {
    const name = named(model.name);
    if (model.name === recommended) name.push(" ", node("span", { class: "badge" }, "recommended"));
    const value = model.measures[main];
    const interval = model.interval.map(three).join("–");
    const picture = bar(value, largest, `${three(value)}, 95 % interval ${interval}`, model.interval);
    return node(
      "tr",
      {},
      node("th", { scope: "row" }, name),
      node("td", { class: "nowrap" }, node("b", {}, three(value)), quiet(` ${interval}`)),
      node("td", { class: "chart" }, picture),
      node("td", { class: "nowrap" }, difference(data, model)),
      splits.map((name) => node("td", {}, model.splits[name] ? three(bySplit(model, name, main)) : "")),
      others.map((measure) => {
        return node("td", { class: kind(DETAILED.includes(measure)) }, three(model.measures[measure]));
      }),
      node("td", { class: "nowrap" }, model.seconds ? `${model.seconds.toFixed(1)} s` : ""),
      offers(data).map((column) => node("td", { class: "nowrap" }, column.text(model))),
    );
  }

  function sort(place, direction) {
    const { key } = columns[place];
    const sign = direction === "ascending" ? 1 : -1;
    const order = (a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0);
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[place].setAttribute("aria-sort", direction);
    body.replaceChildren(...[...data.models].sort(order).map(row));
  }

  // The first click sorts names ascending and numbers descending.
  heads.forEach((head, place) => {
    const [first, second] = place === 0 ? ["ascending", "descending"] : ["descending", "ascending"];
    const turn = () => sort(place, head.getAttribute("aria-sort") === first ? second : first);
    buttons[place].addEventListener("click", turn);
  });
  sort(1, "descending");
  const table = node("table", {}, node("thead", {}, node("tr", {}, heads)), body);
  return section(
    "leaderboard",
    "Leaderboard",
    node(
      "p",
      {},
      `Bars show ${main}, with the 95 % bootstrap confidence interval of its mean. “difference” is how far a model is `,
      "behind the best; a star marks a significant difference.",
    ),
    columns.length > MAX_COLUMNS ? detailButton(table) : [],
    frame("Leaderboard", table, "wide"),
  );
}

const kind = (detailed) => (detailed ? "detailed" : "");

function detailButton(table) {
  const button = node("button", { type: "button", class: "more" });
  const show = (all) => {
    table.classList.toggle("brief", !all);
    button.textContent = all ? "Show fewer measures" : "Show all measures";
    button.onclick = () => show(!all);
  };
  show(false);
  return button;
}

// A model that was not judged by a split comes last.
function bySplit(model, name, main) {
  return model.splits[name] ? model.splits[name][main] : -1;
}

// What `compare` knows of a model besides its quality; runs of other systems have none of it.
function offers(data) {
  if (!data.splits) return [];
  const engines = (model) => (model.targets || []).filter((name) => !["serve", "rerank"].includes(name));
  const known = (model, text) => (model.milliseconds === undefined ? "" : text);
  const yes = (name) => (model) => known(model, model[name] ? "yes" : "–");
  return [
    {
      title: "search",
      key: (model) => model.milliseconds || 0,
      text: (model) => known(model, `${(model.milliseconds || 0).toFixed(2)} ms`),
    },
    {
      title: "exports to",
      key: (model) => engines(model).length,
      text: (model) => node("span", { title: engines(model).join(", ") }, known(model, whole(engines(model).length))),
    },
    { title: "new documents", key: (model) => Number(model.takes_new_documents), text: yes("takes_new_documents") },
    { title: "explains", key: (model) => Number(model.explains), text: yes("explains") },
  ];
}

function difference(data, model) {
  const best = data.models[0].name;
  const tests = data.significance.filter((row) => row.measure === data.protocol.main_measure);
  const test = tests.find((row) => row.a === best && row.b === model.name);
  return test ? three(test.difference) + (test.p_holm < LEVEL ? " *" : "") : "";
}
