// All pairs of models: difference, p-value, and queries won, tied and lost.

import { LEVEL } from "./leaderboard.js";
import { bestModels, frame, node, pValue, quiet, section, shortName, signed, table } from "./nodes.js";

export function significance(data) {
  if (data.models.length < 2) return [];
  const measures = [...new Set(data.significance.map((row) => row.measure))];
  const place = node("div");
  const draw = (measure) => {
    const drawn = (models) => frame(`Differences in ${measure}`, matrix(data, models, measure));
    place.replaceChildren(bestModels(data.models, drawn));
  };
  const options = measures.map((name) => node("option", {}, name));
  const choice = node("select", { id: "measure", onchange: () => draw(choice.value) }, options);
  draw(measures[0]);
  return section(
    "significance",
    "Significance",
    node(
      "p",
      {},
      "Each cell compares the model of the row with that of the column: the mean difference, the p-value of a ",
      "paired t-test with Holm's correction over all pairs, and the queries won–tied–lost. ",
      `Green and red cells are significant (p < ${LEVEL}).`,
    ),
    node("div", { class: "choice" }, node("label", {}, "measure ", choice)),
    place,
  );
}

function matrix(data, models, measure) {
  const names = models.map((model) => model.name);
  const tests = new Map(data.models.map(({ name }) => [name, new Map()])); // by row, by column
  for (const row of data.significance.filter((test) => test.measure === measure)) {
    tests.get(row.a).set(row.b, row);
    tests.get(row.b).set(row.a, { ...row, difference: -row.difference, won: row.lost, lost: row.won });
  }
  const head = [
    node("th", { scope: "col" }, "row − column"),
    ...names.map((name, i) => node("th", { scope: "col", title: name, "aria-label": name }, `${i + 1}`)),
  ];
  const rows = names.map((a, i) =>
    node("tr", {}, shortName(a, `${i + 1} `), names.map((b) => versus(tests.get(a).get(b)))),
  );
  return table("matrix", head, rows);
}

function versus(test) {
  if (!test) return node("td", { class: "same" });
  const kind = test.p_holm >= LEVEL ? "" : test.difference > 0 ? "better" : "worse";
  return node(
    "td",
    { class: kind },
    node("b", {}, signed(test.difference)),
    node("br"),
    pValue(test.p_holm),
    node("br"),
    quiet(`${test.won}–${test.tied}–${test.lost}`),
  );
}
