// The log that a model was trained on: distribution of clicks, coverage, and rejected rows.

import { node, quiet, whole } from "./report/nodes.js";
import { curve, decades } from "./charts.js";
import { mostClicked } from "./document.js";
import { bars, counted, modelChoice, nothing, panel, percent, queryLink, sentence } from "./ui.js";

const FILES = 3; // of the log that are named
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
const DISTRIBUTIONS = {
  docs_per_query: "Clicked documents per query",
  queries_per_doc: "Queries per document",
  clicks_per_query: "Clicks per query",
  clicks_per_edge: "Clicks per pair",
};

export const title = () => "The log";

export function draw(page) {
  const { data } = page;
  const { queries, docs: documents, edges, clicks } = data;
  const facts = { queries, documents, "clicked pairs": edges, clicks };
  const fact = ([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, whole(value)));
  return [
    node("h1", {}, "The log"),
    node("p", { class: "quiet" }, period(data.build)),
    modelChoice(page, "log of"),
    node("dl", { class: "facts big" }, Object.entries(facts).map(fact)),
    node("div", { class: "panels two" }, coverage(data), rejected(data.build), topQueries(data), mostClicked(page)),
    headAndTail(data.head),
    degrees(data),
  ];
}

function period({ first, last, files }) {
  const day = (time) => time.slice(0, 10);
  const named = files && files.length ? `From ${files.slice(0, FILES).join(", ")}` : "";
  const more = named && files.length > FILES ? ` and ${files.length - FILES} more` : "";
  const when = first && last ? `${day(first)} to ${day(last)}` : "";
  return [named + more, when].filter(Boolean).join(": ");
}

function coverage(data) {
  const share = (count, all) => (all ? count / all : 0);
  const rows = [
    ["queries with clicks", data.queries_with_clicks, data.queries],
    ["documents with clicks", data.docs_with_clicks, data.docs],
    ["documents with text", data.docs_with_text, data.docs],
  ];
  const line = ([name, count, all]) => {
    const covered = share(count, all);
    return [name, covered, `${whole(count)} · ${percent(covered)}`];
  };
  return panel("Coverage", bars(rows.map(line), "Coverage", 1));
}

// Every reason why rows of the log are not in the graph.
function rejected(build) {
  const heading = "Rejected and dropped";
  if (!Object.keys(build).length) {
    const why = "Unknown: the graph was made in Python, or the model by an older version of coclick.";
    return panel(heading, nothing(why));
  }
  const named = (before, counts) => Object.entries(counts || {}).map(([why, n]) => [before + why, n]);
  const below = build.pairs_below_thresholds;
  const reasons = [
    ...named("", build.rejected),
    ...named("documents: ", build.docs_rejected),
    ...named("not a click: ", build.other_actions),
    [`pairs below --min-clicks ${build.min_clicks} or --min-users ${build.min_users}`, below],
    ["clicked documents without text", build.docs_missing],
  ].filter(([, count]) => count);
  const rows = reasons.map(([why, count]) => [sentence(why), count, whole(count)]);
  const list = rows.length ? bars(rows, heading) : node("p", {}, "Nothing was rejected.");
  return panel(heading, nothing(counts(build)), list);
}

function counts({ rows, right, merged_spellings: merged, busiest_users_share: busiest }) {
  const sentences = [];
  if (rows !== undefined) sentences.push(`${whole(rows)} rows read, ${whole(right)} of them valid.`);
  if (merged) sentences.push(`Query spellings merged with others: ${whole(merged)}.`);
  if (busiest) sentences.push(`The ten most active users made ${percent(busiest)} of the clicks.`);
  return sentences.join(" ");
}

function topQueries({ top, model }) {
  const heading = "Queries with the most clicks";
  const rows = top.queries.map(({ name, clicks }) => [queryLink(name, model), clicks, whole(clicks)]);
  return panel(heading, bars(rows, heading));
}

function headAndTail({ ranks, shares }) {
  if (!ranks.length) return node("div");
  const byRank = { ...decades(ranks[ranks.length - 1].rank), title: "rank of the query by clicks" };
  const clicks = curve(
    ranks.map(({ rank, clicks: count }) => [rank, count]),
    byRank,
    decades(ranks[0].clicks),
    "Clicks per query by rank",
  );
  const cumulative = curve(
    ranks.map(({ rank, share }) => [rank, share]),
    byRank,
    { from: 0, to: 1, ticks: QUARTERS.map((share) => [share, `${100 * share} %`]) },
    "Share of all clicks by rank",
  );
  const text = shares.map(({ share, queries }) => {
    return `${percent(share)} of all clicks come from ${counted(queries, "query", "queries")}`;
  });
  return node(
    "section",
    {},
    node("h2", {}, "Head and tail"),
    node("p", {}, `${text.join("; ")}.`),
    node(
      "div",
      { class: "figures wide" },
      node("figure", {}, node("figcaption", {}, "Clicks per query"), clicks),
      node("figure", {}, node("figcaption", {}, "Cumulative share of clicks"), cumulative),
    ),
  );
}

function degrees(data) {
  const made = Object.entries(DISTRIBUTIONS).map(([key, heading]) => {
    const { histogram, mean, median, p99, max } = data[key];
    const rows = histogram.map(([label, count]) => [label, count, whole(count)]);
    const figures = `mean ${whole(mean)}, median ${whole(median)}, p99 ${whole(p99)}, max ${whole(max)}`;
    const caption = node("figcaption", {}, heading, node("br"), quiet(figures));
    return node("figure", {}, caption, bars(rows, heading));
  });
  return node("section", {}, node("h2", {}, "Degrees"), node("div", { class: "figures" }, made));
}
