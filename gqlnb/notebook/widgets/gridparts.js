// The elements that a grid is made of. Data become text nodes.

import { OUTWARD, make } from "./common.js";
import { isPlain } from "./gridmath.js";

export const MISSING = "<NA>"; // as pandas shows it
const ADDRESS = /^https?:\/\/[!#-;=?-[\]_a-z~]+$/i; // as the static table takes a text for a link
const HINTS = { number: ">10", time: ">2024" };

/** Return the elements of an empty grid by name; `root` is around all of them. */
export function gridParts(label) {
  const find = make("input", { type: "search", placeholder: "Find", "aria-label": `Find in all columns of ${label}` });
  const sieve = make("button", { type: "button", "aria-pressed": "false" }, "Filter columns");
  const copyAll = make("button", { type: "button", title: "Copy the rows that are shown" }, "Copy");
  const csv = make("button", { type: "button", title: "Download the rows that are shown" }, "CSV");
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
  const tools = make("div", { class: "gqlnb-tools" }, find, sieve, copyAll, csv, count);
  const root = make("div", { class: "gqlnb-grid" }, tools, wrong, scroller, whole);
  return { root, find, sieve, copyAll, csv, count, wrong, names, sieves, head, body, sheet, space, scroller, whole };
}

/** Return a cell; null is what is missing, undefined what is not here yet. Keys reach its link by Enter. */
export function cellOf({ index }, text, href = null) {
  const role = index ? "rowheader" : "gridcell";
  const kind = text == null ? "gqlnb-missing" : "";
  const shown = text === undefined ? "" : (text ?? MISSING);
  const address = href || (ADDRESS.test(shown) && shown);
  return make("div", { role, class: kind }, address ? make("a", { href: address, tabindex: -1, ...OUTWARD }, shown) : shown);
}

/** Return the picture of a column: bars, or the most frequent values; a click on a part filters by it. */
function pictureOf({ kind, parts, said }) {
  const most = Math.max(...parts.map(({ count }) => count));
  const made = parts.map(({ count, label, filter }) => {
    const title = `${label}: ${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}`;
    const part = make("span", { title, "data-filter": filter }, kind === "bars" ? "" : label);
    if (kind === "bars") part.style.setProperty("--high", count / most);
    else part.style.flexGrow = count;
    return part;
  });
  // Hidden from screen readers, for which the filters below say and do the same.
  const shown = made.length ? made : [make("i", {}, said)];
  return make("span", { class: `gqlnb-picture gqlnb-${kind}`, "aria-hidden": "true" }, ...shown);
}

/** Return what stands above a column; `way` says how it is sorted, null for not at all. */
export function nameOf({ name, dtype, index, picture }, way) {
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
    make("span", { class: "gqlnb-dtype" }, isPlain({ name, index }) ? "" : dtype),
    ...(picture ? [pictureOf(picture)] : []),
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

/** Return a part of the page that unfolds below a few words. */
export const unfolding = (words, part) => make("details", {}, make("summary", {}, words), part);

/** Return the items of a list as a table; items that are lists themselves unfold. */
export function tableOf({ names, index, rows, inner }) {
  const cell = (text, row, column) => {
    const more = inner.find((each) => each.row === row && each.column === column);
    if (more) return make("td", {}, unfolding(text, tableOf(more.table)));
    return make("td", text === MISSING ? { class: "gqlnb-missing" } : {}, text);
  };
  const line = (cells, row) =>
    make("tr", {}, make("th", { scope: "row" }, index[row]), ...cells.map((text, column) => cell(text, row, column)));
  const head = names.map((name) => make("th", { scope: "col" }, name));
  return make(
    "table",
    { class: "gqlnb-items" },
    make("thead", {}, make("tr", {}, make("td"), ...head)),
    make("tbody", {}, ...rows.map(line)),
  );
}
