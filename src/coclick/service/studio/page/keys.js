// Keyboard shortcuts for everything; `?` lists them.

import { node } from "./report/nodes.js";

const KEYS = [
  ["/", "go to the search field"],
  ["j k  or  ↓ ↑", "next and previous result, part or node"],
  ["h l  or  ← →", "the other list: the same document, if it is there"],
  ["Enter", "open the explanation of a result, or a part of it"],
  ["0 1 2 3 4", "grade the document, where results can be rated"],
  ["a r", "accept or reject the rule"],
  ["Esc", "close, or leave the search field"],
  ["?", "show these shortcuts"],
];

const byId = (id) => document.getElementById(id);
const isField = (made) => made && made.matches("input, select, textarea");

export function watchKeys() {
  document.addEventListener("keydown", press);
  byId("keys-button").addEventListener("click", showKeys);
}

function press(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const focused = document.activeElement;
  if (isField(focused)) {
    if (event.key === "Escape" && focused === byId("q")) focused.blur();
    else if (event.key === "ArrowDown" && focused === byId("q")) move(1, event);
    return;
  }
  if (event.key === "/") {
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    byId("q").focus();
    byId("q").select();
  } else if (event.key === "?") showKeys();
  else if (event.key === "j") move(1, event);
  else if (event.key === "k") move(-1, event);
  else if (/^[0-4ar]$/.test(event.key)) decide(event);
  else if (event.key === "h" || event.key === "l") cross(event.key === "l" ? 1 : -1, event);
  else if (focused && focused.matches("[data-item]")) {
    // arrow keys scroll the page unless a list item has the focus
    if (event.key === "ArrowDown") move(1, event);
    else if (event.key === "ArrowUp") move(-1, event);
    else if (event.key === "ArrowRight") cross(1, event);
    else if (event.key === "ArrowLeft") cross(-1, event);
  }
}

const scope = () => document.querySelector("dialog[open]") || byId("main");
const visible = (made) => made.offsetParent !== null || made.getClientRects().length > 0;
const itemsOf = (list) => [...list.querySelectorAll("[data-item]")].filter(visible);

// The list with the focus, or the first one.
function currentList() {
  const focused = document.activeElement;
  const list = focused && focused.closest("[data-list]");
  return list || scope().querySelector("[data-list]") || scope();
}

function move(step, event) {
  const items = itemsOf(currentList());
  if (!items.length) return;
  event.preventDefault();
  const at = items.indexOf(document.activeElement);
  const wanted = at < 0 && step < 0 ? items.length - 1 : at + step;
  const next = items[Math.min(Math.max(wanted, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function cross(step, event) {
  const lists = [...scope().querySelectorAll("[data-list]")];
  const from = lists.indexOf(currentList());
  const to = lists[from + step];
  if (!to) return;
  const focused = document.activeElement;
  const items = itemsOf(to);
  const same = items.find((item) => item.dataset.doc && item.dataset.doc === focused.dataset.doc);
  const place = Math.max(itemsOf(lists[from]).indexOf(focused), 0);
  const next = same || items[Math.min(place, items.length - 1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// Grade the document, or decide about the rule, that has the focus.
function decide(event) {
  const focused = document.activeElement;
  const rated = focused && focused.closest("[data-rate]");
  const button = rated && rated.querySelector(`[data-key="${event.key}"]`);
  if (!button) return;
  button.click();
  if (focused.matches("[data-item]")) move(1, event);
}

function showKeys() {
  const dialog = byId("keys");
  if (dialog.open) return;
  const row = ([keys, what]) => node("div", {}, node("dt", {}, node("kbd", {}, keys)), node("dd", {}, what));
  const close = node("button", { type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const title = node("h2", { id: "keys-title" }, "Keyboard shortcuts");
  dialog.replaceChildren(title, node("dl", {}, KEYS.map(row)), close);
  dialog.showModal();
}
