// One page, many addresses: this draws the view of the address, and follows links without loading anew.

import { Failure, fetchJson, jsonOf, viewOf } from "./address.js";
import * as compare from "./compare.js";
import * as document_ from "./document.js";
import { watchKeys } from "./keys.js";
import * as leaderboard from "./leaderboard.js";
import * as log from "./log.js";
import * as query from "./query.js";
import { node } from "./report/nodes.js";
import * as topics from "./topics.js";
import { failure } from "./ui.js";
import * as walk from "./walk.js";
import * as why from "./why.js";

const VIEWS = { compare, why, walk, query, document: document_, topics, leaderboard, log };
const DRAWER = ["why", "of"]; // parameters that open the drawer over a view, and are no part of it

const byId = (id) => document.getElementById(id);
const main = byId("main");
const drawer = byId("drawer");

let models = null; // what is served, asked for once
let shown = null; // the view that is drawn: its address without the drawer's parameters
let loading = null; // of the view that is on its way
let inDrawer = null; // the address that the drawer shows

// -- from address to view ----------------------------------------------------------------------------------

function split(url) {
  const params = new URLSearchParams(url.search);
  const over = Object.fromEntries(DRAWER.map((key) => [key, params.get(key)]));
  DRAWER.forEach((key) => params.delete(key));
  const search = params.toString() ? `?${params}` : "";
  return { view: viewOf(url.pathname), params, search, over };
}

// From one drawer to another there is no step back: Esc leaves both.
export function go(address, { replace = false } = {}) {
  const url = new URL(address, location.href);
  const overSameView = keyOf(split(url)) === shown;
  history.replaceState({ ...history.state, scroll: scrollY }, "");
  if (replace || url.href === location.href || (overSameView && inDrawer)) {
    history.replaceState(history.state, "", url);
  } else {
    history.pushState({ opened: overSameView }, "", url);
  }
  return show();
}

const keyOf = ({ view, search }) => view + search;

async function show({ scroll = 0, moveFocus = true } = {}) {
  const here = split(location);
  stopLoading();
  if (keyOf(here) !== shown) {
    hideDrawer();
    if (!(await load(here, { scroll, moveFocus }))) return;
  }
  await syncDrawer(here);
}

// What was on its way is no longer wanted.
function stopLoading() {
  if (loading) loading.abort();
  loading = null;
  byId("progress").hidden = true;
  main.removeAttribute("aria-busy");
}

// Fetch and draw; says whether this is still the view that is wanted.
async function load(here, { scroll, moveFocus }) {
  const mine = (loading = new AbortController());
  const slow = setTimeout(() => (byId("progress").hidden = false), 120);
  main.setAttribute("aria-busy", "true");
  let made;
  let name = null;
  try {
    const module = VIEWS[here.view];
    if (!module) throw new Failure({ message: "There is no such view." });
    models = models || (await fetchJson("/studio/models.json", mine.signal));
    const data = await fetchJson(jsonOf(here.view, here.search), mine.signal);
    const page = { ...here, data, models, go };
    made = module.draw(page);
    name = `${module.title(page)} · coclick`;
  } catch (error) {
    if (error.name === "AbortError") return false;
    if (!(error instanceof Failure)) console.error(error);
    const again = () => show({ moveFocus: false });
    made = [node("h1", {}, "That did not work"), failure(error, again)];
  } finally {
    clearTimeout(slow);
  }
  if (loading !== mine) return false;
  stopLoading();
  const first = shown === null;
  shown = name ? keyOf(here) : ""; // what failed is asked for again
  main.replaceChildren(...made);
  main.dataset.view = here.view;
  document.title = name || "coclick studio";
  frameOf(here);
  scrollTo(0, scroll);
  const typing = document.activeElement === byId("q");
  if (moveFocus && !first && !typing) main.focus({ preventScroll: true });
  return true;
}

// What stands around the view: the field, the menu, the address of the JSON.
function frameOf(here) {
  const asked = here.params.get("q");
  if (asked !== null && document.activeElement !== byId("q")) byId("q").value = asked;
  byId("json").href = jsonOf(here.view, here.search);
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === here.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// -- the drawer --------------------------------------------------------------------------------------------

async function syncDrawer(here) {
  const { why: doc, of: model } = here.over;
  if (!doc) {
    hideDrawer();
    return;
  }
  const params = new URLSearchParams({ q: here.params.get("q") || "", doc, ...(model ? { model } : {}) });
  const wanted = jsonOf("why", `?${params}`);
  if (wanted === inDrawer) return;
  inDrawer = wanted;
  const close = node("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", closeDrawer);
  const title = node("h2", { id: "drawer-title" }, "Why this result?");
  const place = node("div", {}, node("p", { class: "quiet" }, "…"));
  drawer.replaceChildren(node("header", {}, title, close), place);
  if (!drawer.open) drawer.showModal();
  byId("json").href = wanted;
  try {
    const data = await fetchJson(wanted);
    if (wanted === inDrawer) place.replaceChildren(...why.drawer({ ...here, data, models, go }));
  } catch (error) {
    const again = () => {
      inDrawer = null;
      syncDrawer(here);
    };
    if (wanted === inDrawer) place.replaceChildren(failure(error, again));
  }
}

function hideDrawer() {
  inDrawer = null;
  if (drawer.open) drawer.close();
}

// Back to where it was opened; a link that came with an open drawer has no such place.
function closeDrawer() {
  if (history.state && history.state.opened) history.back();
  else {
    const { view, search } = split(location);
    go(`/studio/${view}${search}`, { replace: true });
  }
}

// -- what the reader does ----------------------------------------------------------------------------------

function follow(event) {
  const link = event.target.closest("a[href]");
  const elsewhere = event.button || event.metaKey || event.ctrlKey || event.shiftKey; // a tab of its own
  if (!link || elsewhere || event.defaultPrevented) return;
  const url = new URL(link.href);
  const isView = url.pathname === "/" || /^\/studio\/\w+$/.test(url.pathname);
  const isHere = url.pathname + url.search === location.pathname + location.search;
  if (url.origin !== location.origin || !isView || (url.hash && isHere)) return;
  event.preventDefault();
  go(url.href);
}

function search(event) {
  event.preventDefault();
  const here = split(location);
  const kept = here.view === "compare" ? here.params : new URLSearchParams();
  kept.set("q", byId("q").value.trim());
  if (!kept.get("q")) kept.delete("q");
  go(`/studio/compare?${kept}`);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    byId("status").textContent = "Copied.";
  } catch {
    byId("status").textContent = location.href; // to be copied by hand
  }
}

history.scrollRestoration = "manual";
document.addEventListener("click", follow);
byId("search").addEventListener("submit", search);
byId("copy").addEventListener("click", copyLink);
drawer.addEventListener("cancel", (event) => {
  event.preventDefault(); // Esc: the address changes, and the drawer follows
  closeDrawer();
});
drawer.addEventListener("click", (event) => event.target === drawer && closeDrawer());
addEventListener("popstate", ({ state }) => show({ scroll: (state && state.scroll) || 0, moveFocus: false }));
watchKeys();
show();
