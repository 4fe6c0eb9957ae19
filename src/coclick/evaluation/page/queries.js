// Two models query by query, with their rankings side by side.

import { chip, drawn, named, node, quiet, section, signed, three, whole } from "./nodes.js";

const PAGE = 25; // queries that are added to a side at a time
const TIE = 1e-9;

export function queries(data) {
  if (data.models.length < 2) return [];
  const place = node("div");
  const options = () => data.models.map((model, i) => node("option", { value: i }, model.name));
  const draw = () => place.replaceChildren(...versusByQuery(data, Number(first.value), Number(second.value)));
  const first = node("select", { id: "first", onchange: draw }, options());
  const second = node("select", { id: "second", onchange: draw }, options());
  second.value = "1";
  draw();
  const labels = [node("label", {}, "compare ", first), node("label", {}, "with ", second)];
  const choice = node("div", { class: "choice" }, labels);
  return section("queries", "Wins and losses by query", choice, place);
}

function versusByQuery(data, a, b) {
  if (a === b) return [node("p", {}, "Choose two different models.")];
  const [first, second] = [data.models[a].name, data.models[b].name];
  const rows = data.queries.map((query) => ({ query, difference: query.values[a] - query.values[b] }));
  rows.sort((one, other) => other.difference - one.difference);
  const won = rows.filter((row) => row.difference > TIE);
  const lost = rows.filter((row) => row.difference < -TIE).reverse();
  const [wins, losses, ties] = [won.length, lost.length, rows.length - won.length - lost.length].map(whole);
  const summary = `Queries on which ${first} is better: ${wins}; ${second}: ${losses}; tied: ${ties}.`;
  const sides = [
    side(data, `${first} is better`, won, a, b),
    side(data, `${second} is better`, lost, a, b),
  ];
  const without = data.queries.filter((query) => !query.rankings).length;
  const note = without ? ` The rankings of ${whole(without)} queries on which models differ least were left out.` : "";
  return [node("p", {}, summary, quiet(note)), strip(rows, summary), node("div", { class: "sides" }, sides)];
}

// The differences of all queries, largest first: above the line the first model is better, below it the second.
function strip(rows, label) {
  const stretched = { viewBox: `0 -1 ${rows.length} 2`, preserveAspectRatio: "none" };
  const picture = drawn("svg", { class: "strip", role: "img", "aria-label": label, ...stretched });
  rows.forEach(({ difference }, i) => {
    const box = { x: i, width: 1, y: -Math.max(difference, 0), height: Math.abs(difference) };
    picture.append(drawn("rect", { class: difference > 0 ? "won" : "lost", ...box }));
  });
  picture.append(drawn("line", { x1: 0, x2: rows.length, y1: 0, y2: 0 }));
  return picture;
}

function side(data, title, rows, a, b) {
  const list = node("div");
  const more = node("button", { type: "button", class: "more" });
  const add = () => {
    const from = list.childElementCount;
    list.append(...rows.slice(from, from + PAGE).map((row) => oneQuery(data, row, a, b)));
    const left = rows.length - list.childElementCount;
    more.textContent = `Show ${Math.min(PAGE, left)} more of ${whole(left)}`;
    more.hidden = !left;
  };
  more.addEventListener("click", add);
  add();
  return node("div", {}, node("h3", {}, title, " ", quiet(whole(rows.length))), list, more);
}

function oneQuery(data, { query, difference }, a, b) {
  const gap = node("span", { class: difference > 0 ? "won" : "lost" }, signed(difference));
  const values = ` ${three(query.values[a])} vs. ${three(query.values[b])} `;
  const figures = node("span", { class: "values" }, values, gap);
  if (!query.rankings) return node("p", { class: "one-query" }, query.text, figures);
  const made = node("details", {}, node("summary", {}, query.text, figures));
  // Rankings are drawn on demand, because a page has thousands of them.
  made.addEventListener("toggle", () => made.append(rankings(data, query, a, b)), { once: true });
  return made;
}

function rankings(data, query, a, b) {
  const one = (i) => {
    const results = query.rankings[i].map((place) => {
      const [id, title] = data.docs[place];
      const name = title ? [title, quiet(` ${id}`)] : [id];
      return node("li", {}, chip(query.grades[place], data.highest_grade), " ", name);
    });
    const list = results.length ? node("ol", {}, results) : node("p", { class: "quiet" }, "no results");
    return node("div", {}, node("h4", {}, named(data.models[i].name)), list);
  };
  // The studio passes `searchAt`, which returns the address of a search.
  const live = data.searchAt ? [node("a", { href: data.searchAt(query.text) }, "Search for this query")] : [];
  return node("div", { class: "rankings" }, one(a), one(b), live);
}
