// The elements that a grid is made of. Data become text nodes.

import { make } from "./common.js";

export const MISSING = "<NA>"; // as pandas shows it
const HINTS = { number: ">10", time: ">2024" };

/** Return the elements of an empty grid by name; `root` is around all of them. */
export function gridParts(label) {
  const find = make("input", { type: "search", placeholder: "Find", "aria-label": `Find in all columns of ${label}` });
  const sieve = make("button", { type: "button", "aria-pressed": "false" }, "Filter columns");
  const count = make("span", { class: "gqlnb-count", role: "status" });
  const wrong = make("p", { class: "gqlnb-said", role: "alert", hidden: "" });
  const names = make("div", { role: "row", class: "gqlnb-names", "aria-rowindex": 1 });
  const sieves = make("div", { role: "row", class: "gqlnb-sieves", "aria-rowindex": 2, hidden: "" });
  const head = make("div", { role: "rowgroup", class: "gqlnb-head" }, names, sieves);
  const body = make("div", { role: "rowgroup", class: "gqlnb-body" });
  const sheet = make("div", { role: "presentation", class: "gqlnb-sheet" }, head, body);
  const space = make("div", { role: "presentation", class: "gqlnb-space" }, sheet);
  const scroller = make(
    "div",
    { class: "gqlnb-scroll", role: "grid", tabindex: 0, "aria-label": label, "aria-multiselectable": "true" },
    space,
  );
  const whole = make("div", { class: "gqlnb-whole" });
  const tools = make("div", { class: "gqlnb-tools" }, find, sieve, count);
  const root = make("div", { class: "gqlnb-grid" }, tools, wrong, scroller, whole);
  return { root, find, sieve, count, wrong, names, sieves, head, body, sheet, space, scroller, whole };
}

/** Return a cell; null is what is missing, undefined what is not here yet. */
export function cellOf({ index }, text) {
  const role = index ? "rowheader" : "gridcell";
  const kind = text === null ? "gqlnb-missing" : "";
  return make("div", { role, class: kind }, text === undefined ? "" : (text ?? MISSING));
}

/** Return what stands above a column; `way` says how it is sorted, null for not at all. */
export function nameOf({ name, dtype, index }, way) {
  const title = make("span", { class: "gqlnb-name" }, make("span", {}, name || (index ? "#" : "\u00a0")));
  if (way) {
    const arrow = `${way.down ? "↓" : "↑"}${way.order ?? ""}`;
    title.append(make("span", { class: "gqlnb-arrow", "aria-hidden": "true" }, arrow));
  }
  const sorted = way === null ? "none" : way.down ? "descending" : "ascending";
  return make(
    "div",
    { role: "columnheader", "aria-sort": sorted, title: `${name || "index"}: ${dtype}` },
    title,
    make("span", { class: "gqlnb-dtype" }, dtype),
    make("span", { class: "gqlnb-grip", "aria-hidden": "true" }),
  );
}

/** Return the place of a column's filter. */
export function boxOf({ name, kind }, column) {
  const box = make("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: HINTS[kind] ?? "contains",
    "aria-label": `Filter ${name || "index"}`,
    "data-column": column,
  });
  return make("div", { role: "gridcell" }, box);
}
