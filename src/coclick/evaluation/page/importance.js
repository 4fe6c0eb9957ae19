// Feature importance of learning to rank (Jiang et al. 2016, Figure 3).

import { bar, bestModels, named, node, section } from "./nodes.js";

const FEATURES = 15;

export function importance(data) {
  const models = data.models.filter((model) => Object.keys(model.importance).length);
  if (!models.length) return [];
  return section(
    "importance",
    "Feature importance",
    node("p", {}, `How much each feature changes the output of the trees; the most important is 100. The first ${FEATURES} are shown.`),
    bestModels(models, (shown) => node("div", { class: "figures" }, shown.map(features))),
  );
}

function features(model) {
  const sorted = Object.entries(model.importance).sort((a, b) => b[1] - a[1]);
  const largest = sorted[0][1] || 1;
  const rows = sorted.slice(0, FEATURES).map(([name, value]) => {
    const share = ((100 * value) / largest).toFixed(0);
    const [label, figure] = [named(name), share].map((text) => node("span", {}, text));
    return node("div", { class: "feature" }, label, bar(value, largest, share), figure);
  });
  return node("figure", {}, node("figcaption", {}, named(model.name)), rows);
}
