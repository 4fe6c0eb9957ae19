// Review learned rules: accept or reject each next to its evidence.

import { node, quiet, signed, three, whole } from "./report/nodes.js";
import { address, changed, postJson } from "./address.js";
import { choice, clicksText, counted, link, nothing, percent, sentence } from "./ui.js";

const KINDS = {
  all: "all kinds",
  synonym: "synonyms",
  correction: "corrections",
  rewrite: "rewrites",
  delete: "deletes",
  pin: "pins",
  exclude: "excludes",
};
const DECISIONS = { open: "not decided", accept: "accepted", reject: "rejected", all: "all" };
const MEANINGS = {
  synonym: "also searches for",
  correction: "is searched as",
  rewrite: "as the whole query, also searches for",
  delete: "is left out, if the query has other words",
  pin: "has first",
  exclude: "does not have",
};

export const title = () => "Review rules";

export function draw(page) {
  return [node("h1", {}, "Review rules"), ...about(page), settings(page), list(page), ...pages(page)];
}

function about({ data }) {
  const text = `Decisions are kept in ${data.file}. The next run of coclick rules keeps them, and writes accepted rules only.`;
  const keys = ["a", " accept ", "r", " reject ", "j", " ", "k", " move"];
  const made = keys.map((key) => (key.length === 1 && key !== " " ? node("kbd", {}, key) : key));
  return [node("p", { class: "quiet" }, text), node("p", { class: "quiet" }, "Keys: ", ...made)];
}

function settings(page) {
  const { data } = page;
  const options = (names, counts) => Object.entries(names).map(([value, text]) => {
    const count = value === "all" ? sum(counts) : counts[value] || 0;
    return [value, `${text} (${whole(count)})`];
  });
  const go = (changes) => page.go(changed("rules", page.params, { ...changes, start: "" }));
  return node(
    "div",
    { class: "choice settings" },
    choice("kind", "kind", options(KINDS, data.kinds), data.kind, (kind) => go({ kind })),
    choice("decision", "show", options(DECISIONS, data.decisions), data.decision, (decision) => go({ decision })),
  );
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

function list({ data }) {
  if (!data.rules.length) return nothing(data.decision === "open" ? "Every rule is decided." : "No rules.");
  return node("ol", { class: "to-rate", "data-list": "" }, data.rules.map(oneRule));
}

function oneRule(rule) {
  const left = link(address("compare", { q: rule.left }), rule.left);
  left.dataset.item = "";
  const right = ["pin", "exclude"].includes(rule.kind) ? link(address("document", { doc: rule.right }), rule.title || rule.right) : rule.right;
  const what = node("p", { class: "title" }, quiet(`${rule.kind} `), left, quiet(` ${MEANINGS[rule.kind]} `), node("b", {}, right));
  const walk = link(address("walk", { query: rule.left }), "walk");
  const evidence = node("p", { class: "meta" }, `${support(rule)} · `, effect(rule.effect), " · ", walk);
  const note = rule.note ? [node("p", { class: "meta" }, `Note: ${rule.note}`)] : [];
  return node("li", { "data-rate": "" }, node("div", {}, what, evidence, ...note), decisionButtons(rule));
}

function support({ evidence, clicks, share, interval }) {
  const [low, high] = interval.map(percent);
  const all = evidence === "follow-ups" ? counted(clicks, "search that went on", "searches that went on") : clicksText(clicks);
  return `${percent(share)} of ${all} support it (95 % interval ${low} to ${high})`;
}

function effect(found) {
  if (!found) return quiet("effect not measured");
  const kind = found.change > 0 ? "won" : found.change < 0 ? "lost" : "";
  const change = node("b", { class: kind }, signed(found.change));
  const where = ` (${three(found.before)} to ${three(found.after)}) in ${counted(found.queries, "held-out query", "held-out queries")}`;
  return node("span", { class: "values" }, "nDCG@10 ", change, where);
}

function decisionButtons(rule) {
  const problem = node("span", { class: "problem", role: "alert" });
  const made = [["accept", "a"], ["reject", "r"]].map(([decision, key]) => {
    const button = node("button", { type: "button", class: `decide ${decision}`, "data-key": key }, sentence(decision));
    button.addEventListener("click", () => decide(pressed(button) ? "" : decision));
    return [decision, button];
  });
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const show = (chosen) => {
    made.forEach(([decision, button]) => button.setAttribute("aria-pressed", String(decision === chosen)));
    box.classList.toggle("rated", Boolean(chosen));
  };
  async function decide(decision) {
    try {
      await postJson("/studio/rules.json", { id: rule.id, decision });
      show(decision);
      problem.textContent = "";
    } catch (error) {
      problem.textContent = [sentence(error.message), error.hint].filter(Boolean).join(": ");
    }
  }
  const label = `Decision about ${rule.left} ${rule.right}`;
  const box = node("div", { class: "rates", role: "group", "aria-label": label }, made.map(([, button]) => button), problem);
  show(rule.decision);
  return box;
}

// Decided rules leave the list when it is fetched again, so the next page begins where this one did.
function pages(page) {
  const { data } = page;
  const { start, found, page_size: size } = data;
  if (found <= size) return [];
  const go = (to) => page.go(changed("rules", page.params, { start: to || "" }), { again: true });
  const step = (text, to, usable) => {
    const button = node("button", { type: "button" }, text);
    button.disabled = !usable;
    button.addEventListener("click", () => go(to));
    return button;
  };
  const last = Math.min(start + size, found);
  return [
    node(
      "p",
      { class: "choice" },
      step("Previous", Math.max(start - size, 0), start > 0),
      step("Next", data.decision === "open" ? start : start + size, last < found),
      quiet(`${whole(start + 1)} to ${whole(last)} of ${whole(found)}`),
    ),
  ];
}
