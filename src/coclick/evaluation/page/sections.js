// Everything that was found, in the order in which one asks.

import { breakdown } from "./breakdown.js";
import { importance } from "./importance.js";
import { leaderboard } from "./leaderboard.js";
import { node } from "./nodes.js";
import { queries } from "./queries.js";
import { separability } from "./separability.js";
import { significance } from "./significance.js";
import { training } from "./training.js";

// One that has nothing to show makes nothing.
export function sections(data) {
  const makers = [leaderboard, significance, breakdown, separability, importance, training, queries];
  return makers.flatMap((make) => make(data));
}

// A list of links to the sections' headings.
export function contents(made) {
  const link = (one) => node("li", {}, node("a", { href: `#${one.id}` }, one.firstChild.textContent));
  return node("ul", {}, made.map(link));
}
