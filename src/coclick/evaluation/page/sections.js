// All sections of the report, in their order.

import { breakdown } from "./breakdown.js";
import { failing } from "./failing.js";
import { importance } from "./importance.js";
import { leaderboard } from "./leaderboard.js";
import { node } from "./nodes.js";
import { queries } from "./queries.js";
import { separability } from "./separability.js";
import { significance } from "./significance.js";
import { training } from "./training.js";

// A section without data is left out.
export function sections(data) {
  const makers = [leaderboard, significance, breakdown, separability, importance, training, failing, queries];
  return makers.flatMap((make) => make(data));
}

// The table of contents.
export function contents(made) {
  const link = (one) => node("li", {}, node("a", { href: `#${one.id}` }, one.firstChild.textContent));
  return node("ul", {}, made.map(link));
}
