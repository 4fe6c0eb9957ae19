// The leaderboard, the significance of its order, and its parts by kind of query and document.

const LEVEL = 0.05; // p-values below count as beyond chance

function leaderboard(data) {
  const main = data.protocol.main_measure;
  const best = data.models[0];
  const largest = Math.max(...data.models.map((model) => model.interval[1]));
  const others = Object.keys(best.measures).filter((name) => name !== main);
  const recommended = data.recommendation && data.recommendation.model;
  const columns = [
    { title: "model", key: (model) => model.name },
    { title: main, key: (model) => model.measures[main] },
    { title: "behind", key: (model) => best.measures[main] - model.measures[main] },
    ...others.map((name) => ({ title: name, key: (model) => model.measures[name] })),
    { title: "trained in", key: (model) => model.seconds },
  ];
  const body = node("tbody");
  const heads = columns.map((column) => node("th", { scope: "col" }, node("button", { type: "button" }, column.title)));

  function row(model) {
    const name = [model.name];
    if (model.name === recommended) name.push(" ", node("span", { class: "badge" }, "recommended"));
    const value = model.measures[main];
    const span = model.interval.map(three).join("–");
    const label = `${three(value)}, 95 % interval ${span}`;
    return node(
      "tr",
      {},
      node("th", { scope: "row" }, ...name),
      node("td", { class: "nowrap" }, node("b", {}, three(value)), node("span", { class: "quiet" }, ` ${span}`)),
      node("td", { class: "chart" }, bar(value, largest, label, model.interval)),
      node("td", { class: "nowrap" }, behind(data, model)),
      others.map((measure) => node("td", {}, three(model.measures[measure]))),
      node("td", { class: "nowrap" }, model.seconds ? `${model.seconds.toFixed(1)} s` : ""),
    );
  }

  function sort(place, direction) {
    const { key } = columns[place];
    const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
    const sorted = [...data.models].sort((a, b) => (direction === "ascending" ? order(a, b) : order(b, a)));
    heads.forEach((head, i) => (i === place ? head.setAttribute("aria-sort", direction) : head.removeAttribute("aria-sort")));
    body.replaceChildren(...sorted.map(row));
  }

  heads.forEach((head, place) => {
    const first = place === 0 ? "ascending" : "descending";
    const second = place === 0 ? "descending" : "ascending";
    head.firstChild.addEventListener("click", () => sort(place, head.getAttribute("aria-sort") === first ? second : first));
  });
  sort(1, "descending");
  const [name, value, ...rest] = heads;
  const scale = node("th", { scope: "col" }, `0 to ${three(largest)}`);
  const made = node("table", {}, node("thead", {}, node("tr", {}, name, value, scale, ...rest)), body);
  return section(
    "leaderboard",
    "Leaderboard",
    node(
      "p",
      {},
      `Bars are ${main}; the line on a bar is where its mean lies in 95 % of resampled sets of queries. `,
      "A star marks models that are behind the best beyond chance.",
    ),
    frame("Leaderboard", made, "wide"),
  );
}

function behind(data, model) {
  const main = data.protocol.main_measure;
  const test = data.significance.find(
    (row) => row.measure === main && row.a === data.models[0].name && row.b === model.name,
  );
  if (!test) return "";
  return three(test.difference) + (test.p_holm < LEVEL ? " *" : "");
}

function significance(data) {
  if (data.models.length < 2) return [];
  const names = data.models.map((model) => model.name);
  const measures = [...new Set(data.significance.map((row) => row.measure))];
  const place = node("div");
  const head = () => [
    node("th", { scope: "col" }, "row − column"),
    ...names.map((name, i) => node("th", { scope: "col", title: name, "aria-label": name }, String(i + 1))),
  ];

  function draw(measure) {
    const tests = new Map();
    for (const row of data.significance.filter((test) => test.measure === measure)) {
      tests.set(JSON.stringify([row.a, row.b]), row);
      const turned = { ...row, difference: -row.difference, won: row.lost, lost: row.won };
      tests.set(JSON.stringify([row.b, row.a]), turned);
    }
    const rows = names.map((a, i) =>
      node("tr", {}, node("th", { scope: "row" }, `${i + 1}  ${a}`), names.map((b) => versus(tests.get(JSON.stringify([a, b]))))),
    );
    place.replaceChildren(frame(`Differences in ${measure}`, table("matrix", head(), rows)));
  }

  const choice = node("select", { id: "measure", onchange: () => draw(choice.value) }, measures.map((name) => node("option", {}, name)));
  draw(measures[0]);
  return section(
    "significance",
    "Can the order be chance?",
    node(
      "p",
      {},
      "Each cell is the row's model against the column's: the mean difference, the p-value of a paired t-test after ",
      "Holm's correction over all pairs, and the queries won–tied–lost. Green and red cells are beyond chance (p < 0.05).",
    ),
    node("div", { class: "choice" }, node("label", {}, "measure ", choice)),
    place,
  );
}

function versus(test) {
  if (!test) return node("td", { class: "same" });
  const certain = test.p_holm < LEVEL;
  const kind = !certain ? "" : test.difference > 0 ? "better" : "worse";
  return node(
    "td",
    { class: kind },
    node("b", {}, signed(test.difference)),
    node("br"),
    chance(test.p_holm),
    node("br"),
    node("span", { class: "quiet" }, `${test.won}–${test.tied}–${test.lost}`),
  );
}

const GROUPINGS = {
  query: "Has the log seen the query?",
  clicks: "Clicks of the query in the log",
  words: "Words of the query",
  document: "Has the document clicks? (each kind ranked by itself)",
};

function breakdown(data) {
  const main = data.protocol.main_measure;
  const parts = Object.entries(GROUPINGS).flatMap(([by, title]) => {
    const groups = Object.entries(data.models[0].breakdown[by]);
    if (!groups.length) return [];
    const best = groups.map(([name]) => Math.max(...data.models.map((model) => model.breakdown[by][name][main])));
    const head = [
      node("th", { scope: "col" }, "model"),
      ...groups.map(([name, group]) => node("th", { scope: "col" }, name, node("div", { class: "quiet" }, `${whole(group.queries)} queries`))),
    ];
    const rows = data.models.map((model) =>
      node(
        "tr",
        {},
        node("th", { scope: "row" }, model.name),
        groups.map(([name], i) => {
          const value = model.breakdown[by][name][main];
          const kind = value === best[i] ? "group best" : "group";
          return node("td", { class: kind }, three(value), bar(value, Math.max(...best), three(value)));
        }),
      ),
    );
    return [node("h3", {}, title), frame(title, table("", head, rows))];
  });
  return section("breakdown", "For which queries?", node("p", {}, `${main} by groups of queries and documents; the best of each group is bold.`), parts);
}
