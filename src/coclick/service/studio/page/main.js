// A single-page application: draws the view of the URL, and follows links without reloading the page.

import { Failure, fetchJson, jsonOf, viewOf } from "./address.js";
import * as compare from "./compare.js";
import * as document_ from "./document.js";
import * as failing from "./failing.js";
import { watchKeys } from "./keys.js";
import * as leaderboard from "./leaderboard.js";
import * as log from "./log.js";
import * as query from "./query.js";
import * as rate from "./rate.js";
import * as rules from "./rules.js";
import { node } from "./report/nodes.js";
import * as topics from "./topics.js";
import { failure } from "./ui.js";
import * as walk from "./walk.js";
import * as why from "./why.js";

const VIEWS = { compare, why, walk, query, document: document_, topics, leaderboard, log, rate, rules, failing };
const DRAWER = ["why", "of"]; // parameters that open the drawer, and do not belong to the view

const byId = (id) => document.getElementById(id);
const main = byId("main");
const drawer = byId("drawer");

let models = null; // the served models, fetched once
let options = null; // what the server was started with, fetched once
let shown = null; // key of the view that is drawn, without the parameters of the drawer
let loading = null; // AbortController of the view that is being fetched
let inDrawer = null; // the URL that the drawer shows

// -- from URL to view --------------------------------------------------------------------------------------

function split(url) {
  const params = new URLSearchParams(url.search);
  const over = Object.fromEntries(DRAWER.map((key) => [key, params.get(key)]));
  DRAWER.forEach((key) => params.delete(key));
  const search = params.toString() ? `?${params}` : "";
  return { view: viewOf(url.pathname), params, search, over };
}

// Moving from one drawer to another adds no history entry: Esc closes both.
// `again` fetches the view anew.
export function go(address, { replace = false, again = false } = {}) {
  if (again) shown = "";
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

// Cancel the current request.
function stopLoading() {
  if (loading) loading.abort();
  loading = null;
  byId("progress").hidden = true;
  main.removeAttribute("aria-busy");
}

class NotFound extends Error {}

// The page for an address that does not exist.
function notFound() {
  const views = [...document.querySelectorAll("nav li:not([hidden]) [data-view]")].map((one) => node("li", {}, one.cloneNode(true)));
  const api = node("a", { href: "/openapi.json" }, "/openapi.json");
  return [
    node("h1", {}, "There is no page at this address"),
    node("p", { class: "lead" }, "Nothing is at ", node("code", {}, location.pathname), ". The studio has these pages:"),
    node("ul", {}, views),
    node("p", { class: "quiet" }, "Programs use the API, which ", api, " describes."),
  ];
}

// Fetch and draw; returns whether this is still the requested view.
async function load(here, { scroll, moveFocus }) {
  const mine = (loading = new AbortController());
  const slow = setTimeout(() => (byId("progress").hidden = false), 120);
  main.setAttribute("aria-busy", "true");
  let made;
  let name = null;
  try {
    const module = VIEWS[here.view];
    if (!module) throw new NotFound();
    models = models || (await fetchJson("/studio/models.json", mine.signal));
    options = options || (await fetchJson("/studio/options.json", mine.signal));
    showMenu(options);
    const data = await fetchJson(jsonOf(here.view, here.search), mine.signal);
    const page = { ...here, data, models, options, go };
    made = module.draw(page);
    name = `${module.title(page)} · coclick`;
  } catch (error) {
    if (error.name === "AbortError") return false;
    if (!(error instanceof Failure || error instanceof NotFound)) console.error(error);
    const again = () => show({ moveFocus: false });
    made = error instanceof NotFound ? notFound() : [node("h1", {}, "Something went wrong"), failure(error, again)];
  } finally {
    clearTimeout(slow);
  }
  if (loading !== mine) return false;
  stopLoading();
  const first = shown === null;
  shown = name ? keyOf(here) : ""; // fetch a failed view again
  main.replaceChildren(...made);
  main.dataset.view = here.view;
  document.title = name || "coclick studio";
  updateFrame(here);
  scrollTo(0, scroll);
  const typing = document.activeElement === byId("q");
  if (moveFocus && !first && !typing) main.focus({ preventScroll: true });
  return true;
}

// Pages that the server has only with an option.
function showMenu(found) {
  for (const link of document.querySelectorAll("nav [data-option]")) {
    link.parentNode.hidden = !found[link.dataset.option];
  }
}

// Update the search field, the menu and the JSON link.
function updateFrame(here) {
  const query = here.params.get("q");
  if (query !== null && document.activeElement !== byId("q")) byId("q").value = query;
  byId("json").hidden = !VIEWS[here.view];
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
    if (wanted === inDrawer) place.replaceChildren(...why.drawer({ ...here, data, models, options, go }));
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

// Go back to where it was opened, unless the page was opened with the drawer.
function closeDrawer() {
  if (history.state && history.state.opened) history.back();
  else {
    const { view, search } = split(location);
    go(`/studio/${view}${search}`, { replace: true });
  }
}

// -- user input --------------------------------------------------------------------------------------------

function follow(event) {
  const link = event.target.closest("a[href]");
  const newTab = event.button || event.metaKey || event.ctrlKey || event.shiftKey;
  if (!link || newTab || event.defaultPrevented) return;
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
    byId("status").textContent = location.href; // to copy by hand
  }
}

history.scrollRestoration = "manual";
document.addEventListener("click", follow);
byId("search").addEventListener("submit", search);
byId("copy").addEventListener("click", copyLink);
drawer.addEventListener("cancel", (event) => {
  event.preventDefault(); // Esc changes the URL, which closes the drawer
  closeDrawer();
});
drawer.addEventListener("click", (event) => event.target === drawer && closeDrawer());
addEventListener("popstate", ({ state }) => show({ scroll: (state && state.scroll) || 0, moveFocus: false }));
watchKeys();
show();
