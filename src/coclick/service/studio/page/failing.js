// Queries that fail, in clusters, each with the fix that would help.

import { frame, node, quiet, table, whole } from "./report/nodes.js";
import { address, changed } from "./address.js";
import { choice, counted, link, nothing, sentence } from "./ui.js";

const AGAIN = 2000; // milliseconds until the page asks again

export const title = () => "Failing queries";

const spoken = (kind) => kind.replaceAll("_", " ");

export function draw(page) {
  const { data } = page;
  const heading = node("h1", {}, "Failing queries");
  if (!data.ready) {
    setTimeout(() => location.pathname === "/studio/failing" && page.go(location.href, { again: true }), AGAIN);
    return [heading, node("p", { role: "status" }, "Counting the searches of the log and grouping similar queries …")];
  }
  return [heading, ...summary(data), kinds(data), settings(page), list(page)];
}

function summary(data) {
  const { queries, searches } = data.failing;
  const failing = `${counted(queries, "query", "queries")} with ${whole(searches)} ${data.counted}`;
  const left = `Queries with fewer than ${data.min_searches} ${data.counted} are left out.`;
  const missing = data.missing.map((text) => node("div", { class: "box warning" }, node("p", {}, `${sentence(text)}.`)));
  return [node("p", {}, `Failing: ${failing}. `, quiet(left)), ...missing];
}

function kinds(data) {
  const heads = ["kind", "queries", data.counted, "meaning"].map((text) => node("th", { scope: "col" }, text));
  heads[3].classList.add("left");
  const rows = data.kinds.map(({ kind, queries, searches, meaning }) =>
    node(
      "tr",
      {},
      node("th", { scope: "row" }, spoken(kind)),
      node("td", {}, whole(queries)),
      node("td", {}, whole(searches)),
      node("td", { class: "words" }, meaning),
    ),
  );
  return frame("Kinds of failing queries", table("kinds", heads, rows));
}

function settings(page) {
  const chosen = page.params.get("kind") || "";
  const options = [["", "all kinds"], ...page.data.kinds.map(({ kind }) => [kind, spoken(kind)])];
  const go = (kind) => page.go(changed("failing", page.params, { kind }));
  return node("div", { class: "choice" }, choice("kind", "show", options, chosen, go));
}

function list(page) {
  const { clusters, all_clusters: all } = page.data;
  const chosen = page.params.get("kind");
  const shown = clusters.filter(({ kinds: found }) => !chosen || found[chosen]);
  if (!shown.length) return nothing("No failing queries were found.");
  const few = all > clusters.length ? `the ${whole(clusters.length)} with the most failed searches of ${whole(all)}` : "";
  const heading = node("h2", {}, `${counted(shown.length, "cluster")} of similar queries `, quiet(few));
  return node("section", { "data-list": "" }, heading, shown.map((one, i) => cluster(page, one, i === 0)));
}

function cluster(page, found, open) {
  const kindsOf = Object.entries(found.kinds).map(([kind, count]) => `${spoken(kind)} ${count}`).join(", ");
  const size = `${counted(found.queries, "query", "queries")}, ${counted(found.searches, "search", "searches")}, ${whole(found.failed)} failed: ${kindsOf}`;
  const head = node("summary", { "data-item": "" }, node("b", {}, found.name), " ", quiet(size));
  const made = node("details", { class: "cluster" }, head, fix(found.fix));
  made.addEventListener("toggle", () => made.append(examples(page, found)), { once: true });
  made.open = open;
  return made;
}

function fix(found) {
  const to = found.doc ? [" ", link(address("document", { doc: found.doc }), "the document")] : [];
  const what = node("p", {}, node("b", {}, sentence(found.sentence)), ". ", `${sentence(found.reason)}.`, ...to);
  const rule = found.rule ? [quiet(`, accept rule ${found.rule}`)] : [];
  const ship = found.command ? [node("p", {}, quiet("Ship with "), node("code", {}, found.command), ...rule)] : [];
  return node("div", { class: "box" }, what, ...ship);
}

function examples({ data }, { examples: found, queries }) {
  const titles = ["query", data.counted, "no click", "no results", "went on", "clicks", "next queries", "fix"];
  const heads = titles.map((text) => node("th", { scope: "col" }, text));
  heads.slice(-2).forEach((head) => head.classList.add("left"));
  const number = (value) => node("td", {}, value === null ? "–" : whole(value));
  const rows = found.map((one) => {
    const next = one.next.map((other) => `${other.query} (${other.searches})`).join(", ");
    const weeks = one.weeks.map((week) => `${week.clicked} of ${week.searches}`).join(", ");
    return node(
      "tr",
      {},
      node("th", { scope: "row" }, link(address("compare", { q: one.query }), one.query)),
      number(one.searches),
      number(one.without_clicks),
      number(one.without_results),
      number(one.followed),
      number(one.clicks),
      node("td", { class: "words" }, next),
      node("td", { class: "words" }, one.fix.sentence + (weeks ? `; clicked by week: ${weeks}` : "")),
    );
  });
  const rest = queries > found.length ? [nothing(`… and ${counted(queries - found.length, "more query", "more queries")}.`)] : [];
  return node("div", {}, frame("Queries", table("", heads, rows), "wide"), ...rest);
}
