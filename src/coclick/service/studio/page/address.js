// URLs of views: they hold all state, so that a link opens the same view.

export function address(view, params = {}) {
  const given = Object.entries(params).flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
  const kept = given.filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept).toString();
  return `/studio/${view}${query ? `?${query}` : ""}`;
}

// The same view with some parameters changed.
export function changed(view, params, changes) {
  const all = {};
  for (const key of new Set(params.keys())) all[key] = params.getAll(key);
  return address(view, { ...all, ...changes });
}

export const viewOf = (path) => (path === "/" ? "compare" : path.replace(/^\/studio\//, ""));
export const jsonOf = (view, search) => `/studio/${view}.json${search}`;

export class Failure extends Error {
  constructor({ message, where, hint }) {
    super(message);
    this.where = where;
    this.hint = hint;
  }
}

// Fetch JSON, or fail with a message and a hint.
export const fetchJson = (url, signal) => ask(url, { signal });

// Send a change to the server.
export function postJson(url, value) {
  return ask(url, { method: "POST", body: JSON.stringify(value), headers: { "Content-Type": "application/json" } });
}

async function ask(url, options) {
  let answer;
  try {
    answer = await fetch(url, { ...options, headers: { Accept: "application/json", ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure({ message: "The server does not answer.", hint: "check that coclick serve is running" });
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body;
  throw new Failure((body && body.error) || { message: `The server answered with ${answer.status}.` });
}
