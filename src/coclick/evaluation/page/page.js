// Draws the report from the data that is embedded in the page.

import { node } from "./nodes.js";
import { protocol, recommendation } from "./protocol.js";
import { contents, sections } from "./sections.js";

function draw() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const found = sections(data);
  document.getElementById("top").append(...protocol(data), ...recommendation(data));
  document.getElementById("main").replaceChildren(...found);
  document.getElementById("sections").append(contents(found));
  document.getElementById("footer").append(node("p", { class: "quiet" }, `Written by coclick ${data.version}.`));
}

draw();
