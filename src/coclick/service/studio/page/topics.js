// Topics and word translations of likelihood models.

import { frame, node, table } from "./report/nodes.js";
import { changed } from "./address.js";
import { bars, counted, figure, link, modelChoice, nothing, percent, sentence, unsupported } from "./ui.js";

export const title = () => "Topics and translations";

export function draw(page) {
  const { data } = page;
  const model = page.models.find((one) => one.name === data.model);
  const can = (ability) => model && model.can.includes(ability);
  const head = [node("h1", {}, "Topics in queries and titles"), modelChoice(page)];
  if (!can("topics") && !can("translate")) {
    const command = node("code", {}, "coclick train bltm GRAPH -o topics");
    const hint = node("p", {}, "Train a model with topics: ", command);
    return [...head, unsupported(page, {}, "show topics", "topics"), hint];
  }
  return [
    ...head,
    ...(can("translate") ? [translations(page)] : []),
    can("topics") ? topics(page) : unsupported(page, {}, "show topics", "topics"),
  ];
}

function translations(page) {
  const { translation } = page.data;
  const input = node("input", { id: "word", name: "word", maxlength: 100, autocomplete: "off" });
  input.value = translation ? translation.word : "";
  const label = node("label", { for: "word" }, node("span", {}, "word in titles"), input);
  const form = node("form", { class: "choice" }, label, node("button", { type: "submit" }, "Translate"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    page.go(changed("topics", page.params, { word: input.value.trim() }));
  });
  const found = translation ? [translated(translation)] : [];
  return node("section", { class: "panel narrow" }, node("h2", {}, "Query words for a title word"), form, ...found);
}

function translated({ word, answer, reason }) {
  if (!answer) return node("p", {}, `${sentence(reason)}.`);
  const rows = answer.map(({ word: other, probability }) => [other, probability, percent(probability)]);
  return bars(rows, `Query words for ${word}`);
}

function topics(page) {
  const { topics: found, all, model } = page.data;
  const heads = ["topic", "share", "in queries", "in titles"].map((text) => node("th", { scope: "col" }, text));
  const translate = (word) => changed("topics", page.params, { word, model });
  const rows = found.map((topic) =>
    node(
      "tr",
      {},
      node("th", { scope: "row", "data-head": "topic" }, String(topic.topic)),
      node("td", {}, percent(topic.share)),
      node("td", { class: "words", "data-head": "in queries:" }, cloud(topic.query_words)),
      node("td", { class: "words", "data-head": "in titles:" }, cloud(topic.title_words, translate)),
    ),
  );
  const more = link(changed("topics", page.params, { n: all, model }), "Show all");
  const how = "Largest first. Bolder words are more probable; click a title word to translate it.";
  return node(
    "section",
    {},
    node("h2", {}, counted(all, "topic")),
    nothing(how),
    frame("Topics", table("topics", heads, rows), "wide"),
    all > found.length ? node("p", {}, `${counted(all - found.length, "topic")} more. `, more) : "",
  );
}

// More probable words are bolder, in four steps; the tooltip has the probability.
function cloud(words, to) {
  const largest = words.length ? words[0].probability : 1;
  const shown = words.map(({ word, probability }) => {
    const strength = Math.max(1, Math.ceil((4 * probability) / largest));
    const kind = { class: `word strength-${strength}`, title: figure(probability) };
    return to ? node("a", { ...kind, href: to(word) }, word) : node("span", kind, word);
  });
  return shown.flatMap((made) => [made, " "]);
}
