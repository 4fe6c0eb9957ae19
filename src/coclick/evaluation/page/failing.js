// Queries that fail, in clusters, each with the fix that would help. Only logs with sessions have them.

import { frame, node, quiet, section, table, whole } from "./nodes.js";

export function failing({ failing: found, searchAt }) {
  if (!found || !found.clusters.length) return [];
  const { clusters, all_clusters: all } = found;
  const shown = clusters.length < all ? ` The ${whole(clusters.length)} clusters with the most failed searches of ${whole(all)}:` : "";
  const about = `${whole(found.queries)} queries with ${whole(found.searches)} ${found.counted} fail.${shown}`;
  const titles = ["queries like", "queries", found.counted, "failed", "kinds", "fix that would help"];
  const heads = titles.map((text, i) => node("th", { scope: "col", class: i > 3 ? "left" : "" }, text));
  const rows = clusters.map((cluster) => row(cluster, searchAt));
  const commands = [...new Set(clusters.map(({ fix }) => fix.command).filter(Boolean))];
  return section(
    "failing",
    "What is failing",
    node("p", {}, about),
    frame("Clusters of failing queries", table("failing", heads, rows)),
    ...commands.map((command) => node("p", {}, quiet("Ship with "), node("code", {}, command))),
    node("p", { class: "quiet" }, "coclick failing GRAPH --html FILE has all clusters with their queries."),
  );
}

function row({ name, queries, searches, failed, kinds, fix, examples }, searchAt) {
  const first = searchAt ? node("a", { href: searchAt(name) }, name) : name;
  const others = examples.length ? [node("br"), quiet(examples.join(", "))] : [];
  const evidence = [node("br"), quiet(fix.reason)];
  return node(
    "tr",
    {},
    node("th", { scope: "row" }, first, ...others),
    ...[queries, searches, failed].map((value) => node("td", {}, whole(value))),
    node("td", { class: "words" }, kinds.map((kind) => kind.replaceAll("_", " ")).join(", ")),
    node("td", { class: "words" }, fix.sentence, ...evidence),
  );
}
