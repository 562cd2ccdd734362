// A grid of any number of rows. It holds what is seen and a little around it; sorting, filtering
// and copying are the kernel's. Data become text nodes.
//
//   const grid = makeGrid((question) => kernel.ask({ kind: "grid", ...question }), "Repositories", link);
//   root.append(grid.root);  grid.refresh();  ...  grid.close();
//
// The focus stays on the grid; the cell it means is told by aria-activedescendant, so it does not
// get lost when that cell scrolls out of what is drawn.

import { copy, debounced, grouped, make, unique } from "./common.js";
import * as math from "./gridmath.js";
import { MISSING, boxOf, cellOf, gridParts, nameOf, tableOf, unfolding } from "./gridparts.js";

const { ROW } = math;
const KEPT = 40; // blocks that are remembered
const AT_ONCE = 2; // requests under way
const TYPING = 250; // ms after the last key in a filter
const RESTING = 120; // ms on a cell before its whole text is asked for
const HIGH = 14; // rows that are seen at once, if there are as many

/** Tell keys that the grid takes although Control or Command is held: copy, and select all. */
export const gridKeys = ({ key, target }) =>
  /^[ac]$/i.test(key) && target?.getAttribute?.("role") === "grid";

class Grid {
  constructor(ask, label, link = () => null) {
    this.ask = ask;
    this.link = link;
    this.id = unique("grid");
    this.query = { sort: [], filters: {}, find: "" };
    this.sort = []; // what was asked for last; the query has it once it is answered
    this.columns = [];
    this.rows = this.total = 0;
    this.widths = [];
    this.resized = false; // whether the person chose a width
    this.lefts = [0];
    this.frozen = 0; // columns of the index, which do not scroll away
    this.blocks = new Map();
    this.asked = new Set();
    this.drawn = new Map(); // rows of the page by number
    this.top = 0; // px of rows above what is seen
    this.turn = 0; // of the query that was sent last
    this.era = 0; // of the query that is shown
    this.active = { row: 0, column: 0 };
    this.anchor = this.active;
    this.filtering = false;
    this.measured = true;
    Object.assign(this, gridParts(label));
    this.listen();
  }

  listen() {
    const soon = debounced(() => this.apply(), TYPING);
    this.rested = debounced(() => this.showWhole(), RESTING);
    // What was out of the page comes back without rows, scrolled to its top.
    this.sizes = new ResizeObserver(() => {
      const wide = this.scroller.clientWidth;
      if (!wide) return this.forget();
      if (wide !== this.wide) this.layOut();
      if (!this.measured) requestAnimationFrame(() => this.settle()); // not here: it changes the size
      this.goTo(this.top);
      this.paint();
    });
    this.sizes.observe(this.scroller);
    this.find.addEventListener("input", soon);
    this.sieves.addEventListener("input", soon);
    for (const box of [this.find, this.sieves])
      box.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") this.apply();
        if (event.key === "Escape" && event.target.value) this.apply((event.target.value = ""));
      });
    this.sieve.addEventListener("click", () => this.showSieves(!this.filtering));
    this.scroller.addEventListener("scroll", () => this.scrolled());
    this.scroller.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.scroller.addEventListener("keydown", (event) => this.pressed(event));
    this.scroller.addEventListener("pointerdown", (event) => this.pointed(event));
    this.close = () => {
      soon.cancel();
      this.rested.cancel();
      this.sizes.disconnect();
      this.turn = this.era = -1;
    };
  }

  // -- what is shown

  /** Ask what there is and show it from the place where the person is. */
  async refresh() {
    try {
      const { rows, columns, caption } = await this.ask({ ask: "about" });
      this.total = rows;
      this.caption = caption;
      this.setColumns(columns);
    } catch (error) {
      return this.say(error.message);
    }
    await this.apply({ stay: true });
  }

  setColumns(columns) {
    const same = math.sameColumns(columns, this.columns);
    this.columns = columns;
    this.frozen = columns.filter(({ index }) => index).length;
    if (!same) {
      this.resized = false;
      this.sort = [];
      this.query = { ...this.query, sort: [], filters: {} };
      this.sieves.replaceChildren();
      this.active = this.anchor = { row: 0, column: Math.min(this.frozen, columns.length - 1) };
    }
    this.layOut();
  }

  /** Give the columns their widths, those that the room asks for unless the person chose one. */
  layOut() {
    this.wide = this.scroller.clientWidth;
    if (!this.resized) this.widths = math.fitted(this.columns, this.wide);
    this.lefts = math.leftsOf(this.widths);
    this.space.style.width = this.sheet.style.width = `${this.lefts.at(-1)}px`;
    this.scroller.setAttribute("aria-colcount", this.columns.length);
    this.forget();
  }

  /** Take what stands in the boxes for the query, and show its answer when it is there. */
  async apply({ stay = false } = {}) {
    const { sort } = this;
    const filters = {};
    for (const box of this.sieves.querySelectorAll("input"))
      if (box.value.trim()) filters[box.dataset.column] = box.value;
    const query = { sort, filters, find: this.find.value };
    const turn = (this.turn += 1);
    this.scroller.setAttribute("aria-busy", "true");
    let answer;
    try {
      const [start, column] = stay ? this.corner() : [0, this.corner()[1]];
      answer = await this.ask({ ask: "rows", query, ...this.block(start, column) });
      if (turn !== this.turn) return;
    } catch (error) {
      if (turn === this.turn) {
        this.sort = this.query.sort;
        this.say(error.message);
        this.scroller.removeAttribute("aria-busy");
      }
      return;
    }
    this.say("");
    this.query = query;
    this.era += 1;
    this.rows = answer.rows;
    this.blocks.clear();
    this.asked.clear();
    this.keep(answer);
    if (!stay) this.top = 0;
    const row = Math.min(this.active.row, this.rows - 1);
    if (!stay) this.active = this.anchor = { ...this.active, row: this.active.row < 0 ? -1 : Math.min(0, row) };
    this.scroller.removeAttribute("aria-busy");
    this.settle();
  }

  /** Bring the page in line with the number of rows. */
  settle() {
    const { rows, total } = this;
    this.paintHead(this.columnsSeen()); // its height counts below
    this.count.textContent = math.countOf(rows, total, this.caption);
    this.scroller.setAttribute("aria-rowcount", rows + this.headRows());
    this.measured = this.scroller.clientWidth > 0; // else rows came while the view was hidden
    const high = Math.max(1, Math.min(HIGH, total)) * ROW;
    this.body.style.height = `${high}px`;
    this.space.style.height = `${math.spaceOf(rows) + this.head.offsetHeight}px`;
    this.scroller.style.height = `${high + this.head.offsetHeight + this.bar()}px`;
    this.forget();
    this.goTo(this.top);
    this.paint();
    this.tell();
  }

  headRows() {
    return this.filtering ? 2 : 1;
  }

  /** Return the height of the horizontal scroll bar and the borders. */
  bar() {
    return this.scroller.offsetHeight - this.scroller.clientHeight;
  }

  view() {
    return Math.max(ROW, this.scroller.clientHeight - this.head.offsetHeight);
  }

  corner() {
    const [row] = math.rowsSeen(this.top, this.rows, this.view());
    return math.blocksOf([row, row + 1], this.columnsSeen())[0] ?? [0, 0];
  }

  block(start, column) {
    return { start, end: start + math.BLOCK, from: column, to: column + math.WIDE };
  }

  keep({ start, from, cells }) {
    this.blocks.set(`${start} ${from}`, cells);
    while (this.blocks.size > KEPT) this.blocks.delete(this.blocks.keys().next().value);
  }

  /** Return the text of a cell, null for what is missing, undefined for what is not here yet. */
  value(row, column) {
    const start = row - (row % math.BLOCK);
    const from = column - (column % math.WIDE);
    return this.blocks.get(`${start} ${from}`)?.[column - from]?.[row - start];
  }

  columnsSeen() {
    const edge = this.lefts[this.frozen] ?? 0;
    const left = this.scroller.scrollLeft + edge;
    const right = this.scroller.scrollLeft + Math.max(edge + 1, this.scroller.clientWidth);
    const [from, to] = math.columnsSeen(this.lefts, left, right);
    return [Math.max(this.frozen, from), Math.max(this.frozen, to)];
  }

  // -- drawing

  forget() {
    this.drawn.clear();
    this.body.replaceChildren();
    this.shown = "";
  }

  paint() {
    if (!this.columns.length || !this.scroller.clientHeight) return;
    this.sheet.style.height = `${this.scroller.clientHeight}px`;
    const columns = this.columnsSeen();
    const seen = math.rowsSeen(this.top, this.rows, this.view());
    this.paintHead(columns);
    for (const [row, element] of this.drawn)
      if (row < seen[0] || row >= seen[1]) {
        element.remove();
        this.drawn.delete(row);
      }
    for (let row = seen[0]; row < seen[1]; row += 1) this.paintRow(row, columns);
    this.mark();
    this.fetch(seen, columns);
  }

  paintRow(row, [from, to]) {
    let line = this.drawn.get(row);
    const here = this.value(row, from) !== undefined || from === to;
    const state = `${from} ${to} ${here && this.value(row, 0) !== undefined && this.value(row, to - 1) !== undefined}`;
    if (line === undefined) {
      line = make("div", { role: "row", class: row % 2 ? "gqlnb-row gqlnb-odd" : "gqlnb-row" });
      this.drawn.set(row, line);
      this.body.append(line);
    }
    line.style.transform = `translateY(${row * ROW - this.top}px)`;
    if (line.dataset.state === state) return;
    line.dataset.state = state;
    line.setAttribute("aria-rowindex", row + 1 + this.headRows());
    line.replaceChildren(...this.across([from, to], (column) => this.cell(row, column)));
  }

  /** Return what `make` makes for the index, a gap, and the columns that are seen. */
  across([from, to], makeOne) {
    const made = [];
    for (let column = 0; column < this.frozen; column += 1) {
      const element = makeOne(column);
      element.classList.add("gqlnb-frozen");
      element.style.left = `${this.lefts[column]}px`;
      made.push(element);
    }
    const gap = make("div", { role: "presentation", class: "gqlnb-gap" });
    gap.style.width = `${this.lefts[from] - this.lefts[this.frozen]}px`;
    made.push(gap);
    for (let column = from; column < to; column += 1) made.push(makeOne(column));
    return made;
  }

  cell(row, column) {
    const named = (name) => this.value(row, this.columns.findIndex((other) => other.name === name));
    const href = this.link(this.columns[column].name, named);
    return this.placed(cellOf(this.columns[column], this.value(row, column), href), row, column);
  }

  /** Give an element the place of a cell: row -1 is that of the names. */
  placed(element, row, column) {
    if (row !== null) element.id = `${this.id}-${row}-${column}`;
    element.setAttribute("aria-colindex", column + 1);
    element.classList.toggle("gqlnb-right", this.columns[column].right);
    element.style.width = `${this.widths[column]}px`;
    return element;
  }

  paintHead([from, to]) {
    const { sort } = this.query;
    const state = JSON.stringify([from, to, sort, this.filtering, this.lefts.at(-1)]);
    if (state === this.shown) return;
    this.shown = state;
    this.names.replaceChildren(...this.across([from, to], (column) => this.name(column)));
    if (!this.filtering) return;
    // What is being typed into stays where it is: a box is made once.
    const boxes = new Map([...this.sieves.querySelectorAll("input")].map((box) => [Number(box.dataset.column), box.parentNode]));
    const focused = document.activeElement;
    const shown = this.across([from, to], (column) => boxes.get(column) ?? this.box(column));
    for (const place of boxes.values()) place.hidden = !shown.includes(place);
    // A filter that scrolled out of sight still counts.
    const others = [...boxes.values()].filter((place) => place.hidden && place.firstChild.value);
    this.sieves.replaceChildren(...shown, ...others);
    if (focused !== document.activeElement && this.sieves.contains(focused)) focused.focus({ preventScroll: true });
  }

  name(column) {
    return this.placed(nameOf(this.columns[column], math.wayOf(this.query.sort, column)), -1, column);
  }

  box(column) {
    return this.placed(boxOf(this.columns[column], column), null, column);
  }

  showSieves(on) {
    this.filtering = on;
    this.sieve.setAttribute("aria-pressed", String(on));
    this.sieves.hidden = !on;
    this.shown = "";
    if (!on && this.sieves.childElementCount) {
      this.sieves.replaceChildren();
      this.apply();
    }
    this.settle();
    if (on) this.sieves.querySelector("input")?.focus();
  }

  /** Show which cell is meant, and what is selected. */
  mark() {
    for (const old of this.sheet.querySelectorAll(".gqlnb-active, [aria-selected]")) {
      old.classList.remove("gqlnb-active");
      old.removeAttribute("aria-selected");
    }
    const { row, column } = this.active;
    const element = this.sheet.querySelector(`[id="${this.id}-${row}-${column}"]`);
    element?.classList.add("gqlnb-active");
    if (element) this.scroller.setAttribute("aria-activedescendant", element.id);
    else this.scroller.removeAttribute("aria-activedescendant");
    if (this.active === this.anchor) return;
    const [[first, last], [left, right]] = math.between(this.active, this.anchor);
    for (const [at, line] of this.drawn)
      if (at >= first && at < last)
        for (const cell of line.querySelectorAll("[aria-colindex]")) {
          const where = Number(cell.getAttribute("aria-colindex")) - 1;
          if (where >= left && where < right) cell.setAttribute("aria-selected", "true");
        }
  }

  /** Ask for what is seen and not here, a little at a time: what was seen for a moment is past. */
  fetch(seen, columns) {
    const wide = this.frozen ? [[0, 1], columns] : [columns];
    for (const [start, column] of wide.flatMap((part) => math.blocksOf(seen, part))) {
      const key = `${start} ${column}`;
      if (this.blocks.has(key) || this.asked.has(key) || this.asked.size >= AT_ONCE) continue;
      this.asked.add(key);
      const { era, query } = this;
      this.ask({ ask: "rows", query, ...this.block(start, column) })
        .then((answer) => this.era === era && this.keep(answer))
        .catch((error) => {
          if (this.era !== era) return;
          this.blocks.set(key, []); // else it would be asked for again and again
          this.say(error.message);
        })
        .finally(() => {
          if (this.era !== era) return;
          this.asked.delete(key);
          this.paint();
        });
    }
  }

  say(text) {
    this.wrong.textContent = text;
    this.wrong.hidden = !text;
  }

  // -- moving about

  scrolled() {
    const { scrollTop } = this.scroller;
    // What we set ourselves comes back rounded.
    if (Math.abs(scrollTop - math.scrollOf(this.top, this.rows, this.view())) >= 1)
      this.top = math.topOf(scrollTop, this.rows, this.view());
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.paint();
    });
  }

  goTo(top) {
    this.top = Math.max(0, Math.min(top, this.rows * ROW - this.view()));
    this.scroller.scrollTop = math.scrollOf(this.top, this.rows, this.view());
  }

  /** Where a pixel of the scroll bar is many rows, the wheel still goes row by row. */
  wheeled(event) {
    if (event.ctrlKey || event.shiftKey || !event.deltaY || math.spaceOf(this.rows) === this.rows * ROW) return;
    const step = event.deltaY * [1, ROW, this.view()][event.deltaMode];
    const before = this.top;
    this.goTo(this.top + step);
    if (this.top !== before) event.preventDefault();
    this.paint();
  }

  pressed(event) {
    const far = event.ctrlKey || event.metaKey;
    if (far && event.key.toLowerCase() === "c") return this.copy(event);
    if (far && event.key.toLowerCase() === "a") {
      this.anchor = { row: 0, column: 0 };
      this.active = { row: this.rows - 1, column: this.columns.length - 1 };
      this.mark();
      return event.preventDefault();
    }
    if (event.altKey) return;
    if (this.active.row >= 0 && event.key === "Enter") {
      this.sheet.querySelector(".gqlnb-active a")?.click();
      return event.preventDefault();
    }
    if (this.active.row < 0 && (event.key === "Enter" || event.key === " ")) {
      this.sortBy(this.active.column, event.shiftKey);
      return event.preventDefault();
    }
    const page = Math.max(1, Math.floor(this.view() / ROW) - 1);
    const next = math.moved(this.active, event, { rows: this.rows, columns: this.columns.length, page });
    if (next === null) return;
    event.preventDefault();
    this.mean(next, event.shiftKey && next.row >= 0);
    this.reveal();
  }

  /** Take a cell for the one that is meant; `more` selects all from the one before to it. */
  mean(cell, more = false) {
    this.active = cell;
    if (!more) this.anchor = cell;
    this.tell();
  }

  reveal() {
    const { row, column } = this.active;
    if (row >= 0) this.goTo(math.revealed(row, this.top, this.rows, this.view()));
    if (column < this.frozen) this.scroller.scrollLeft = 0;
    else {
      const left = this.lefts[column] - this.lefts[this.frozen];
      const right = this.lefts[column + 1] - this.scroller.clientWidth;
      this.scroller.scrollLeft = Math.min(left, Math.max(right, this.scroller.scrollLeft));
    }
    this.paint();
  }

  sortBy(column, more) {
    this.sort = math.sortedBy(this.sort, column, more);
    this.apply();
  }

  /** Return which cell an element of the page is of. */
  whereIs(element) {
    const cell = element.closest?.("[role=gridcell], [role=rowheader], [role=columnheader]");
    const found = cell?.id.startsWith(`${this.id}-`) && /-(-?\d+)-(\d+)$/.exec(cell.id);
    return found ? { row: Number(found[1]), column: Number(found[2]) } : null;
  }

  pointed(event) {
    const cell = this.whereIs(event.target);
    if (cell === null || event.button) return;
    event.preventDefault(); // no text is selected; the grid selects cells
    this.scroller.focus({ preventScroll: true });
    if (event.target.classList.contains("gqlnb-grip")) return this.resize(event, cell.column);
    this.mean(cell, event.shiftKey && cell.row >= 0);
    if (cell.row < 0) this.sortBy(cell.column, event.shiftKey);
    else this.drag();
    this.mark();
  }

  drag() {
    const over = (event) => {
      const cell = this.whereIs(document.elementFromPoint(event.clientX, event.clientY) ?? this.root);
      if (cell === null || cell.row < 0) return;
      this.mean(cell, true);
      this.mark();
    };
    this.follow(over);
  }

  resize(event, column) {
    const wide = this.widths[column] - event.clientX;
    this.resized = true;
    this.follow((moved) => {
      this.widths[column] = Math.max(40, wide + moved.clientX);
      for (const place of this.sieves.children)
        if (place.firstChild?.dataset?.column === String(column)) place.style.width = `${this.widths[column]}px`;
      this.layOut();
      this.paint();
    });
  }

  follow(move) {
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  // -- the whole of a cell, and copies

  /** Show the whole of the cell that is meant, once the person rests on it. */
  tell() {
    this.copied = false;
    this.rested();
  }

  async showWhole() {
    const { row, column } = this.active;
    if (row < 0 || row >= this.rows || !this.columns[column]) return this.whole.replaceChildren();
    let text = this.value(row, column);
    let items = null;
    try {
      ({ text, items } = await this.ask({ ask: "cell", query: this.query, row, column }));
    } catch {
      // What is shown is all there is to see.
    }
    const past = this.active.row !== row || this.active.column !== column;
    if (past || this.copied) return;
    const name = this.columns[column].name || "#";
    const said = make("span", { class: text == null ? "gqlnb-text gqlnb-missing" : "gqlnb-text" }, text ?? MISSING);
    const old = this.whole.querySelector(".gqlnb-text");
    if (old?.isEqualNode(said) && this.whole.firstChild.textContent === name) return; // it may be unfolded
    const shown = items ? [tableOf(items), unfolding("JSON", said)] : [said];
    this.whole.replaceChildren(make("span", { class: "gqlnb-of" }, name), ...shown);
    this.whole.scrollTop = 0;
    if (this.whole.scrollHeight > this.whole.clientHeight + 1) this.whole.tabIndex = 0;
    else this.whole.removeAttribute("tabindex");
  }

  async copy(event) {
    event.preventDefault();
    const [rows, columns] = math.between(this.active, this.anchor);
    const named = this.active.row < 0;
    try {
      const text = named
        ? this.columns[this.active.column].name
        : (await this.ask({ ask: "copy", query: this.query, rows, columns })).text;
      const cells = named ? 1 : (rows[1] - rows[0]) * (columns[1] - columns[0]);
      const done = await copy(text);
      this.say(done ? "" : "The browser did not allow to copy.");
      this.copied = done; // and the text of the cell, if it comes only now, doesn't hide that
      if (done) this.whole.replaceChildren(make("span", { class: "gqlnb-of" }, `Copied ${grouped(cells)} ${cells === 1 ? "cell" : "cells"}.`));
    } catch (error) {
      this.say(error.message);
    }
  }
}

/**
 * Return a grid: `root` to be put into a page, `refresh()` to show what the kernel has, `close()`.
 * `ask(question)` is a promise of the kernel's answer, `label` what a screen reader calls it, and
 * `link(name, value)` the address for a cell of a named column, `value(name)` being texts of its row.
 */
export function makeGrid(ask, label, link) {
  const grid = new Grid(ask, label, link);
  return { root: grid.root, refresh: () => grid.refresh(), close: () => grid.close() };
}
