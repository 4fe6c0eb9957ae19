// What a likelihood model has learned of language: topics in two languages, and translations of words.

import { frame, node, table } from "./report/nodes.js";
import { changed } from "./address.js";
import { bars, counted, figure, link, modelChoice, percent, unable } from "./ui.js";

export const title = () => "Topics and translations";

export function draw(page) {
  const { data } = page;
  const model = page.models.find((one) => one.name === data.model);
  const can = (ability) => model && model.can.includes(ability);
  const head = [node("h1", {}, "Topics in two languages"), modelChoice(page)];
  if (!can("topics") && !can("translate")) {
    const hint = node("p", {}, "Models that can are made like this: ", node("code", {}, "coclick train bltm GRAPH -o topics"));
    return [...head, unable(page, { said: "" }, "tell topics", "topics"), hint];
  }
  return [
    ...head,
    ...(can("translate") ? [translations(page)] : []),
    can("topics") ? topics(page) : unable(page, { said: "" }, "tell topics", "topics"),
  ];
}

function translations(page) {
  const { translation } = page.data;
  const input = node("input", { id: "word", name: "word", value: translation ? translation.word : "", maxlength: 100, autocomplete: "off" });
  const label = node("label", { for: "word" }, node("span", {}, "a word of titles"), input);
  const form = node("form", { class: "choice" }, label, node("button", { type: "submit" }, "Translate"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    page.go(changed("topics", page.params, { word: input.value.trim() }));
  });
  const section = (...found) => node("section", { class: "panel narrow" }, node("h2", {}, "What do queries call it?"), form, ...found);
  if (!translation) return section();
  if (!translation.answer) return section(node("p", {}, translation.said || "This model cannot translate words."));
  const rows = translation.answer.map(({ word, probability }) => [word, probability, percent(probability)]);
  return section(bars(rows, `Words of queries for ${translation.word}`));
}

function topics(page) {
  const { topics: found, all } = page.data;
  const heads = ["topic", "share", "in queries", "in titles"].map((text) => node("th", { scope: "col" }, text));
  const rows = found.map((topic) =>
    node(
      "tr",
      {},
      node("th", { scope: "row" }, String(topic.topic)),
      node("td", {}, percent(topic.share)),
      node("td", { class: "words" }, cloud(topic.query_words)),
      node("td", { class: "words" }, cloud(topic.title_words, (word) => changed("topics", page.params, { word, model: page.data.model }))),
    ),
  );
  const more = link(changed("topics", page.params, { n: all, model: page.data.model }), "Show all");
  return node(
    "section",
    {},
    node("h2", {}, counted(all, "topic")),
    node("p", { class: "quiet" }, "The largest first. Words that are likelier are darker; a word of titles leads to what queries call it."),
    frame("Topics", table("topics", heads, rows), "wide"),
    all > found.length ? node("p", {}, `${counted(all - found.length, "topic")} more. `, more) : "",
  );
}

// Likelier words are stronger: four steps, and the figure for those who point at one.
function cloud(words, to) {
  const largest = words.length ? words[0].probability : 1;
  const shown = words.map(({ word, probability }) => {
    const kind = { class: `word strength-${Math.ceil((4 * probability) / largest)}`, title: figure(probability) };
    return to ? node("a", { ...kind, href: to(word) }, word) : node("span", kind, word);
  });
  return shown.flatMap((made) => [made, " "]);
}
