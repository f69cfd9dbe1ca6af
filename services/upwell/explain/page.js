"use strict";
// One document of the page: a block or a chunk that is chosen anywhere is marked everywhere.
for (const doc of document.querySelectorAll(".document")) {
  const all = (selector) => [...doc.querySelectorAll(selector)];
  const chunks = new Map(all("button[data-chunk]").map((b) => [b.dataset.chunk, b.dataset.blocks.split(" ").filter(Boolean)]));
  const work = doc.querySelector(".work");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const clear = () => {
    for (const marked of all(".on, .near")) marked.classList.remove("on", "near");
    for (const pressed of all("[aria-pressed=true]")) pressed.setAttribute("aria-pressed", "false");
  };
  const mark = (selector, name) => {
    const found = all(selector);
    for (const one of found) {
      one.classList.add(name);
      if (name === "on" && one.matches("button")) one.setAttribute("aria-pressed", "true");
    }
    return found;
  };
  const shown = (one) => one.getClientRects().length > 0;
  const reveal = (found, from) => {
    const there = found.filter((one) => shown(one) && !from.contains(one));
    const seen = new Set();
    for (const one of there) {
      const side = one.closest(".panel") ? "panel" : "shows";
      if (seen.has(side)) continue;
      seen.add(side);
      one.scrollIntoView({ block: side === "panel" ? "nearest" : "center", behavior: calm ? "auto" : "smooth" });
    }
  };
  const say = (words) => { document.querySelector(".said-aloud").textContent = words; };

  const choose = (target) => {
    const { block, chunk } = target.dataset;
    const from = target.closest(".panel, .shows");
    clear();
    let found;
    if (chunk !== undefined) {
      const blocks = chunks.get(chunk) || [];
      found = [...mark(`[data-chunk="${chunk}"]`, "on"), ...blocks.flatMap((n) => mark(`[data-block="${n}"]`, "on"))];
      say(`Chunk ${chunk}, blocks ${blocks.join(", ")}`);
    } else {
      found = mark(`[data-block="${block}"]`, "on");
      const holding = [...chunks].filter(([, blocks]) => blocks.includes(block)).map(([n]) => n);
      found.push(...holding.flatMap((n) => mark(`[data-chunk="${n}"]`, "near")));
      say(holding.length ? `Block ${block}, in chunk ${holding.join(", ")}` : `Block ${block}, in no chunk`);
    }
    reveal(found, from);
  };

  const tabs = all("[role=tab]");
  const open = (tab) => {
    for (const one of tabs) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
    }
  };
  if (tabs.length) open(tabs[0]);

  doc.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    const target = event.target.closest("[data-block], [data-chunk]");
    if (tab) open(tab);
    else if (target && String(getSelection()) === "") choose(target);
  });
  doc.addEventListener("change", (event) => {
    const [, group] = event.target.name.split("-");
    if (group === "boxes") work.className = `work show-${event.target.value}`;
    if (group === "view") {
      doc.querySelector(".pages").hidden = event.target.value !== "pages";
      doc.querySelector(".reading").hidden = event.target.value !== "reading";
    }
    reveal(all(".shows .on"), doc.querySelector(".panel"));
  });
  doc.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") clear();
    const row = event.target.matches("[role=tab]") ? tabs : event.target.matches(".item") ? all(".item").filter(shown) : [];
    if (step === undefined || !row.length) return;
    event.preventDefault();
    const at = Math.min(Math.max(row.indexOf(event.target) + step, 0), row.length - 1);
    row[at].focus();
    if (row === tabs) open(row[at]);
  });
}
