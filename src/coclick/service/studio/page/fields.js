// The fields of a document, and its picture. Text is never parsed as HTML.

import { node } from "./report/nodes.js";

export function fieldList(fields) {
  if (!fields.length) return "";
  const row = ([name, text]) => node("div", {}, node("dt", {}, name), node("dd", {}, text));
  return node("dl", { class: "fields" }, fields.map(row));
}

// The server only names a picture if it was started with --images. The host that has it learns nothing more
// than the address of the reader.
export function picture({ image }, name) {
  if (!image) return "";
  const made = node("img", { class: "picture", alt: `Picture of ${name}`, loading: "lazy", referrerpolicy: "no-referrer" });
  made.addEventListener("error", () => made.remove());
  made.src = image;
  return made;
}
