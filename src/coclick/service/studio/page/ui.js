// Components that several views share.

import { drawn, node, whole } from "./report/nodes.js";
import { address, changed } from "./address.js";

export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;

// A small value keeps one digit, so that no part of a sum reads as -0.000.
export const figure = (value) => {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(1);
  return size > 0 && size < 0.0005 ? value.toPrecision(1) : value.toFixed(3);
};
export const counted = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;
export const cent = (clicks) => whole(Math.round(100 * clicks) / 100);  // weighted clicks are fractions
export const clicksText = (clicks) => counted(Math.round(100 * clicks) / 100, "click");

// The score of something similar, and how many clicks it has.
export const scored = ({ score, clicks }) => `${figure(score)} · ${clicksText(clicks)}`;

export function link(href, ...children) {
  return node("a", { href }, ...children);
}

// The title of the document, or its id if it has none.
export const docName = (doc, title) => title || doc;

export const queryLink = (query, model) => link(address("query", { q: query, model }), query);
export const docLink = (doc, title, model) => link(address("document", { doc, model }), docName(doc, title));

// A bar from 0 to `value`; hidden from screen readers, which read the number beside it.
export function meter(value, largest, kind = "") {
  const width = `${(100 * Math.min(Math.abs(value), largest)) / (largest || 1)}%`;
  const picture = drawn("svg", { class: "meter", "aria-hidden": "true" });
  picture.append(drawn("rect", { class: "track", width: "100%", height: "100%", rx: 2 }));
  const box = { width, height: "100%", rx: 2 };
  picture.append(drawn("rect", { class: value < 0 ? "filled negative" : `filled ${kind}`, ...box }));
  return picture;
}

// Rows with a bar and a number: `rows` are [content, value, text of the number]. The longest bar is `most`,
// or the largest value.
export function bars(rows, label, most = 0) {
  const largest = most || Math.max(...rows.map(([, value]) => Math.abs(value)), 0);
  const line = ([content, value, text]) => {
    const what = node("span", { class: "what" }, content);
    return node("li", {}, what, meter(value, largest), node("span", { class: "figure" }, text));
  };
  return node("ul", { class: "bars", "aria-label": label }, rows.map(line));
}

// A section with a heading.
export function panel(title, ...children) {
  return node("section", { class: "panel" }, node("h2", {}, title), ...children);
}

export const nothing = (text) => node("p", { class: "quiet" }, text);

export function choice(id, label, options, chosen, onchange) {
  const made = options.map(([value, text]) => {
    const option = node("option", { value }, text);
    option.selected = String(value) === String(chosen);
    return option;
  });
  const select = node("select", { id }, made);
  select.addEventListener("change", () => onchange(select.value));
  return node("label", { for: id }, node("span", {}, label), select);
}

// The model of the whole page; choosing another changes the URL.
export function modelChoice(page, label = "model") {
  const options = page.models.map((model) => [model.name, model.name]);
  const go = (model) => page.go(changed(page.view, page.params, { model }));
  return node("div", { class: "choice" }, choice("model", label, options, page.data.model, go));
}

// Say what a model does not support, and which of the others do.
export function unsupported(page, section, what, capability) {
  const model = page.data.model;
  if (section.reason) return nothing(`${sentence(section.reason)}.`);
  const others = page.models.filter((one) => one.can.includes(capability) && one.name !== model);
  const to = (one) => link(changed(page.view, page.params, { model: one.name }), one.name);
  const list = others.length
    ? ["Served models that can: ", ...others.flatMap((one, i) => [i ? ", " : "", to(one)]), "."]
    : ["No other served model can."];
  return node("p", { class: "quiet" }, `${model} cannot ${what}. `, ...list);
}

export function examples(found, to) {
  if (!found || !found.length) return [];
  const items = found.map((query) => node("li", {}, node("a", { href: to(query), "data-item": "" }, query)));
  return [
    node("p", { class: "quiet" }, "Example queries from the log, from frequent to rare:"),
    node("ul", { class: "examples", "data-list": "" }, items),
  ];
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function failure(error, again) {
  const button = node("button", { type: "button" }, "Try again");
  button.addEventListener("click", again);
  const lines = [
    ...(error.where ? [node("p", {}, "Where: ", node("code", {}, error.where))] : []),
    ...(error.hint ? [node("p", {}, "Hint: ", error.hint)] : []),
  ];
  const message = node("p", {}, node("b", {}, sentence(error.message)));
  return node("div", { class: "box warning", role: "alert" }, message, ...lines, button);
}
