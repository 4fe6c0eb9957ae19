// Training statistics of bilinear models; the bound is that of Wu, Lu & Li 2013, §5.

import { frame, node, section, shortName, table, three } from "./nodes.js";

export function training(data) {
  const models = data.models.filter((model) => Object.keys(model.training).length);
  if (!models.length) return [];
  const titles = ["model", "effective rank", "view weights", "density of the maps", "objective", "notes"];
  const head = titles.map((title) => node("th", { scope: "col" }, title));
  return section(
    "training",
    "Training statistics",
    node(
      "p",
      {},
      "The objective on the log, plus or minus the bound on its difference from the expected objective, which holds ",
      "with the given probability. A vacuous bound exceeds the range of the objective: the log is too small for it.",
    ),
    frame("Training statistics", table("", head, models.map(trained))),
  );
}

function trained(model) {
  const { effective_rank: rank, views, density, bound, notes } = model.training;
  const weights = Object.entries(views || {}).map(([name, view]) => `${name} ${three(view.alpha)}`);
  const shares = Object.entries(density || {}).map(([side, share]) => `${side} ${(100 * share).toPrecision(3)}\u00a0%`);
  const cells = [
    rank === undefined ? "" : rank.toFixed(1),
    weights.join(", "),
    shares.join(", "),
    bound ? within(bound) : "",
    (notes || []).join("; "),
  ];
  return node("tr", {}, shortName(model.name), cells.map((cell) => node("td", {}, cell)));
}

function within(bound) {
  const limits = `${bound.objective.toPrecision(3)} ± ${bound.bound.toPrecision(3)}`;
  const sure = `${(100 * bound.probability).toFixed(0)}\u00a0%`;
  return `${limits} (${sure}${bound.vacuous ? ", vacuous" : ""})`;
}
