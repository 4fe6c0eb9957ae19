// Training statistics of bilinear models; the bound is that of Wu, Lu & Li 2013, §5.

import { bestModels, frame, node, section, shortName, table, three } from "./nodes.js";

const STATISTICS = ["model", "effective rank", "view weights", "density of the maps", "objective", "notes"];

export function training(data) {
  const models = data.models.filter((model) => Object.keys(model.training).length);
  if (!models.length) return [];
  const head = STATISTICS.map((title) => node("th", { scope: "col", class: aligned(title) }, title));
  return section(
    "training",
    "Training statistics",
    node("p", {}, `The objective is the mean that training maximises. ${explained(models)}`),
    bestModels(models, (shown) => frame("Training statistics", table("", head, shown.map(trained)))),
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
  return node("tr", {}, shortName(model.name), cells.map((cell, i) => node("td", { class: aligned(STATISTICS[i + 1]) }, cell)));
}

// Sentences begin at the left, numbers end at the right.
const aligned = (title) => (title === "notes" ? "left" : "");

// The interval of the objective, unless it is wider than all that the objective can be.
function within(bound) {
  const value = bound.objective.toPrecision(3);
  return bound.vacuous ? value : `${value} ± ${bound.bound.toPrecision(3)}`;
}

function explained(models) {
  const bound = models.map((model) => model.training.bound).find((one) => one && !one.vacuous);
  if (!bound) return "This log is too small to tell how far it is from its value on all future searches.";
  const sure = `${(100 * bound.probability).toFixed(0)}\u00a0%`;
  return `Where it has a ±, its value on all future searches lies within that range, with a probability of ${sure}.`;
}
