// Set the light or dark theme before anything is drawn: the stored choice, or the theme of the system.
"use strict";

(() => {
  const KEY = "coclick-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  function kept() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // the browser stores nothing
    }
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }

  function label(button) {
    const other = isDark() ? "light" : "dark";
    button.textContent = isDark() ? "☀" : "☾";
    button.setAttribute("aria-label", `Use ${other} colours`);
    button.title = `Use ${other} colours`;
  }

  if (["light", "dark"].includes(kept())) root.dataset.theme = kept();
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    label(button);
    system.addEventListener("change", () => label(button));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem(KEY, root.dataset.theme);
      } catch {
        // the choice lasts until the page is closed
      }
      label(button);
    });
  });
})();
