// How well scores separate documents of different grades (Jiang et al. 2016, Figure 4).

import { bestModels, chip, drawn, level, named, node, quiet, section } from "./nodes.js";

const WIDTH = 240;
const HEIGHT = 130;
const MARGIN = { left: 22, right: 6, top: 6, bottom: 24 };

export function separability(data) {
  const models = data.models.filter((model) => model.separability);
  if (!models.length) return [];
  const grades = models[0].separability.curves.map((curve) => curve.grade);
  const legend = grades.map((grade) => node("span", {}, chip(grade, data.highest_grade), ` grade ${grade}`));
  return section(
    "separability",
    "Separation of grades by scores",
    node(
      "p",
      {},
      "Each curve shows the scores of all documents with one grade, highest first, divided by the model's ",
      "highest score. The further the curves are apart, the better the scores separate the grades. “In order” ",
      "is the share of all document pairs with different grades in which the document with the higher grade ",
      "has the higher score; a random order has 50 %.",
    ),
    node("div", { class: "legend" }, legend),
    bestModels(models, (shown) =>
      node("div", { class: "figures" }, shown.map((model) => curves(model, data.highest_grade))),
    ),
  );
}

function curves(model, highest) {
  const x = (share) => MARGIN.left + share * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (score) => HEIGHT - MARGIN.bottom - score * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const write = (text, x, y, anchor) => drawn("text", { x, y, "text-anchor": anchor }, text);
  const inOrder = `${(100 * model.separability.in_order).toFixed(0)}\u00a0% in order`;
  const label = `${model.name}: ${inOrder}`;
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const [tick, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
    picture.append(
      drawn("line", { class: "axis", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      write(`${tick}`, x(0) - 4, y(tick) + 3, "end"),
      write(`${100 * tick} %`, x(tick), HEIGHT - 12, anchor),
    );
  }
  picture.append(write("share of the grade's documents", x(0.5), HEIGHT - 2, "middle"));
  for (const { grade, scores } of model.separability.curves) {
    const last = scores.length - 1;
    const points = scores.map((score, i) => `${x(i / last).toFixed(1)},${y(score).toFixed(1)}`);
    picture.append(drawn("polyline", { class: `curve ${level(grade, highest)}`, points: points.join(" ") }));
  }
  const caption = node("figcaption", {}, named(model.name), quiet(` · ${inOrder}`));
  return node("figure", {}, caption, picture);
}
