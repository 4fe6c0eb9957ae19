// What lies behind a model's order: how its scores separate grades, and which features its trees use.

const WIDTH = 240;
const HEIGHT = 130;
const MARGIN = { left: 22, right: 6, top: 6, bottom: 24 };
const FEATURES = 15;

function separability(data) {
  const models = data.models.filter((model) => model.separability);
  if (!models.length) return [];
  const grades = models[0].separability.curves.map((curve) => curve.grade);
  const legend = grades.map((grade) => node("span", {}, chip(grade, data.highest_grade), ` grade ${grade}`));
  return section(
    "separability",
    "Do scores separate good from bad?",
    node(
      "p",
      {},
      "For each grade the scores of all documents judged so, highest first, divided by the model's highest score. ",
      "Curves that lie apart separate their grades. “In order” is the share of all pairs of documents with different ",
      "grades, over all queries, in which the better document has the higher score; chance is 50 %.",
    ),
    node("div", { class: "legend" }, legend),
    node("div", { class: "figures" }, models.map((model) => curves(model, data.highest_grade))),
  );
}

function curves(model, highest) {
  const x = (share) => MARGIN.left + share * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (score) => HEIGHT - MARGIN.bottom - score * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const inOrder = `${(100 * model.separability.in_order).toFixed(0)} % in order`;
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${model.name}: ${inOrder}` });
  for (const tick of [0, 0.5, 1]) {
    picture.append(
      drawn("line", { class: "axis", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      drawn("text", { x: x(0) - 4, y: y(tick) + 3, "text-anchor": "end" }, String(tick)),
      drawn("text", { x: x(tick), y: HEIGHT - 12, "text-anchor": ["start", "middle", "end"][2 * tick] }, `${100 * tick} %`),
    );
  }
  picture.append(drawn("text", { x: x(0.5), y: HEIGHT - 2, "text-anchor": "middle" }, "share of the grade's documents"));
  for (const { grade, scores } of model.separability.curves) {
    const points = scores.map((score, i) => `${x(i / (scores.length - 1)).toFixed(1)},${y(score).toFixed(1)}`);
    picture.append(drawn("polyline", { class: `curve ${level(grade, highest)}`, points: points.join(" ") }));
  }
  return node("figure", {}, node("figcaption", {}, model.name, node("span", { class: "quiet" }, ` · ${inOrder}`)), picture);
}

function importance(data) {
  const models = data.models.filter((model) => Object.keys(model.importance).length);
  if (!models.length) return [];
  return section(
    "importance",
    "Which features matter?",
    node("p", {}, `How much each feature improves the trees; the most important one is 100. The first ${FEATURES} are shown.`),
    node("div", { class: "figures" }, models.map(features)),
  );
}

function features(model) {
  const sorted = Object.entries(model.importance).sort((a, b) => b[1] - a[1]);
  const largest = sorted[0][1] || 1;
  const rows = sorted.slice(0, FEATURES).map(([name, value]) => {
    const relative = ((100 * value) / largest).toFixed(0);
    return node("div", { class: "feature" }, node("span", {}, name), bar(value, largest, relative), node("span", {}, relative));
  });
  return node("figure", {}, node("figcaption", {}, model.name), rows);
}
