// Filters rules, shows and hides implementations, and closes the panel with Escape. The page is whole without it.
"use strict";
(() => {
  const form = document.querySelector("form.filter");
  const rules = [...document.querySelectorAll("tr.rule, article.rule")];
  const sections = [...document.querySelectorAll("tbody, section.family")];
  const texts = new Map(rules.map((rule) => [rule, `${rule.id} ${rule.textContent}`.toLowerCase()]));
  const close = () => document.querySelector(".panel:target a.close, .panel:has(:target) a.close");

  const filter = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const only = ["changed", "stale", "differs"].filter((name) => form.elements[name]?.checked);
    let shown = 0;
    for (const rule of rules) {
      const fits = words.every((word) => texts.get(rule).includes(word)) && only.every((name) => name in rule.dataset);
      rule.hidden = !fits;
      shown += fits;
    }
    for (const section of sections) section.hidden = !section.querySelector(".rule:not([hidden])");
    form.querySelector("output").textContent = shown === rules.length ? "" : `${shown} of ${rules.length} rules`;
    for (const box of form.querySelectorAll("input[name=group]"))
      for (const cell of document.querySelectorAll(`.${box.value}`)) cell.hidden = !box.checked;
  };

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());

  let opener = null;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link?.matches("td a, th a, .changes a")) opener = link;
    if (!link?.matches("a.close")) return;
    event.preventDefault();
    const top = window.scrollY;
    location.hash = "";
    window.scrollTo(0, top);
    opener?.focus({ preventScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input")) {
      event.preventDefault();
      form.elements.words.focus();
    }
    if (event.key === "Escape") close()?.click();
  });
  filter();
})();
