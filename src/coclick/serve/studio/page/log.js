// The log behind a model: how clicks are spread, what is covered, and what was left out.

import { node, quiet, whole } from "./report/nodes.js";
import { curve, decades } from "./charts.js";
import { bars, counted, modelChoice, panel, percent, queryLink, sentence } from "./ui.js";

const DISTRIBUTIONS = {
  docs_per_query: "Clicked documents of a query",
  queries_per_doc: "Queries of a document",
  clicks_per_query: "Clicks of a query",
  clicks_per_edge: "Clicks of a pair",
};

export const title = () => "The log";

export function draw(page) {
  const { data } = page;
  const facts = { queries: data.queries, documents: data.docs, "clicked pairs": data.edges, clicks: data.clicks };
  const fact = ([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, whole(value)));
  return [
    node("h1", {}, "The log"),
    node("p", { class: "quiet" }, period(data.build)),
    modelChoice(page, "log of"),
    node("dl", { class: "facts big" }, Object.entries(facts).map(fact)),
    node("div", { class: "panels" }, coverage(data), rejected(data.build), top(page)),
    headAndTail(data.head),
    degrees(data),
  ];
}

function period({ first, last, files }) {
  const day = (time) => time.slice(0, 10);
  const from = files && files.length ? `From ${files.slice(0, 3).join(", ")}${files.length > 3 ? " …" : ""}. ` : "";
  return `${from}${first && last ? `${day(first)} to ${day(last)}.` : ""}`;
}

function coverage(data) {
  const share = (count, all) => (all ? count / all : 0);
  const rows = [
    ["queries with clicks", data.queries_with_clicks, data.queries],
    ["documents with clicks", data.docs_with_clicks, data.docs],
    ["documents with a text", data.docs_with_text, data.docs],
  ];
  const line = ([name, count, all]) => [name, share(count, all), `${whole(count)} · ${percent(share(count, all))}`];
  return panel("Coverage", bars(rows.map(line), "Coverage", 1));
}

// Every reason for which something of the log is not in the graph.
function rejected(build) {
  const heading = "What was left out, and why";
  if (!Object.keys(build).length) {
    return panel(heading, node("p", { class: "quiet" }, "Not known: the graph was made in Python, or the model by an older coclick."));
  }
  const reasons = [
    ...Object.entries(build.rejected || {}),
    ...Object.entries(build.docs_rejected || {}).map(([why, count]) => [`documents: ${why}`, count]),
    ...Object.entries(build.other_actions || {}).map(([action, count]) => [`not a click: ${action}`, count]),
    [`pairs below --min-clicks ${build.min_clicks} or --min-users ${build.min_users}`, build.pairs_below_thresholds],
    ["clicked documents without a text", build.docs_missing],
  ].filter(([, count]) => count);
  const read = build.rows === undefined ? "" : `${whole(build.rows)} rows read, ${whole(build.right)} of them right. `;
  const merged = build.merged_spellings ? `${counted(build.merged_spellings, "spelling")} became one with another. ` : "";
  const busy = build.busiest_users_share ? `The ten busiest users made ${percent(build.busiest_users_share)} of the clicks.` : "";
  const summary = node("p", { class: "quiet" }, read, merged, busy);
  if (!reasons.length) return panel(heading, summary, node("p", {}, "Nothing was left out."));
  return panel(heading, summary, bars(reasons.map(([why, count]) => [sentence(why), count, whole(count)]), heading));
}

function top(page) {
  const rows = page.data.top.map(({ query, clicks }) => [queryLink(query, page.data.model), clicks, whole(clicks)]);
  return panel("Queries with the most clicks", bars(rows, "Queries with the most clicks"));
}

function headAndTail({ ranks, shares }) {
  if (!ranks.length) return node("div");
  const byRank = { ...decades(ranks[ranks.length - 1].rank), title: "queries by rank, the most clicked first" };
  const clicks = curve(
    ranks.map(({ rank, clicks: count }) => [rank, count]),
    byRank,
    decades(ranks[0].clicks),
    "Clicks of queries by rank",
  );
  const together = curve(
    ranks.map(({ rank, share }) => [rank, share]),
    byRank,
    { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => [share, `${100 * share} %`]) },
    "Share of all clicks by rank",
  );
  const text = shares.map(({ share, queries }) => `${percent(share)} of all clicks belong to ${counted(queries, "query", "queries")}`);
  return node(
    "section",
    {},
    node("h2", {}, "Head and tail"),
    node("p", {}, `${text.join("; ")}.`),
    node(
      "div",
      { class: "figures wide" },
      node("figure", {}, node("figcaption", {}, "Clicks of a query"), clicks),
      node("figure", {}, node("figcaption", {}, "Share of all clicks up to there"), together),
    ),
  );
}

function degrees(data) {
  const made = Object.entries(DISTRIBUTIONS).map(([key, heading]) => {
    const { histogram, mean, median, p99, max } = data[key];
    const rows = histogram.map(([label, count]) => [label, count, whole(count)]);
    const figures = `mean ${mean}, median ${median}, 99 % up to ${p99}, at most ${max}`;
    return node("figure", {}, node("figcaption", {}, heading, node("br"), quiet(figures)), bars(rows, heading));
  });
  return node("section", {}, node("h2", {}, "Degrees"), node("div", { class: "figures" }, made));
}
