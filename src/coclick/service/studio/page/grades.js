// Buttons that grade a document for a query. They are there if the server was started with --judgments.

import { node } from "./report/nodes.js";
import { postJson } from "./address.js";
import { sentence } from "./ui.js";

const NAMES = ["bad", "fair", "good", "excellent", "perfect"]; // grades 0 to 4

// `grade` is the present one, or undefined. A second click on a grade removes it.
export function gradeButtons(query, doc, grade, name) {
  const problem = node("span", { class: "problem", role: "alert" });
  const buttons = NAMES.map((text, value) => {
    const label = { type: "button", class: `rate level-${value}`, "data-key": value, title: sentence(text) };
    const button = node("button", label, String(value), node("span", { class: "hidden" }, ` ${text}`));
    button.addEventListener("click", () => rate(pressed(button) ? null : value));
    return button;
  });
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const show = (chosen) => {
    buttons.forEach((button, value) => button.setAttribute("aria-pressed", String(value === chosen)));
    box.classList.toggle("rated", Number.isInteger(chosen));
  };
  async function rate(value) {
    try {
      await postJson("/studio/rate.json", { query, doc, grade: value });
      show(value);
      problem.textContent = "";
    } catch (error) {
      problem.textContent = [sentence(error.message), error.hint].filter(Boolean).join(": ");
    }
  }
  const box = node("div", { class: "rates", role: "group", "aria-label": `Grade ${name}` }, buttons, problem);
  show(grade);
  return box;
}
