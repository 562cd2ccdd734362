// JSON data as a tree. A branch asks for its children when it is opened, a hundred at a time; what
// is longer is folded into ranges first. Data become text nodes.
//
//   const tree = makeTree((question) => kernel.ask({ kind: "tree", ...question }), "result.data");

import { copy, debounced, grouped, make } from "./common.js";

const PART = 100; // children of one request, and of one range
const TYPING = 300; // ms after the last key in the search box

/** Return the ranges that a number of children is folded into: none, or [start, end] of each. */
export function rangesOf(start, end) {
  const count = end - start;
  if (count <= PART) return [];
  let step = PART;
  while (count / step > PART) step *= PART;
  const found = [];
  for (let at = start; at < end; at += step) found.push([at, Math.min(at + step, end)]);
  return found;
}

/** Return which key means what in a tree: up, down, in, out, first, last, toggle; or undefined. */
export const meaning = ({ key, ctrlKey, metaKey, altKey }) =>
  ctrlKey || metaKey || altKey
    ? undefined
    : {
        ArrowUp: "up",
        ArrowDown: "down",
        ArrowRight: "in",
        ArrowLeft: "out",
        Home: "first",
        End: "last",
        Enter: "toggle",
        " ": "toggle",
      }[key];

class Branch {
  constructor(tree, parent, item, at, range = null) {
    Object.assign(this, { tree, parent, item, at, range });
    this.children = null; // once it was opened
    this.open = false;
    const { key, kind, text, size } = item;
    const line = make("div", { class: "gqlnb-line" });
    this.opens = size > 0;
    line.append(make("span", { class: "gqlnb-twist", "aria-hidden": "true" }));
    if (range) line.append(make("span", { class: "gqlnb-range" }, `[${range[0]} … ${range[1] - 1}]`));
    else {
      if (parent) line.append(make("span", { class: "gqlnb-key" }, key), ": ");
      if (this.opens) line.append(make("span", { class: "gqlnb-size" }, this.sizeText(kind, size)), " ");
      line.append(make("span", { class: `gqlnb-leaf gqlnb-${kind}` }, text));
    }
    this.group = make("ul", { role: "group", hidden: "" });
    this.element = make("li", { role: "treeitem", tabindex: -1, "aria-level": this.level() }, line, this.group);
    this.element.setAttribute("aria-selected", "false");
    if (this.opens) this.element.setAttribute("aria-expanded", "false");
    this.element.branch = this;
  }

  sizeText(kind, size) {
    const one = kind === "object" ? "field" : "item";
    return `${grouped(size)} ${one}${size === 1 ? "" : "s"}`;
  }

  level() {
    return this.parent ? this.parent.level() + 1 : 1;
  }

  /** Return how Python writes the way to it. */
  path() {
    if (!this.parent) return this.tree.name;
    return this.parent.path() + (this.range ? "" : this.item.step);
  }

  async unfold() {
    if (!this.opens) return;
    this.open = true;
    this.element.setAttribute("aria-expanded", "true");
    this.group.hidden = false;
    // Opened twice at once, it asks once.
    this.children ??= this.load().catch((error) => {
      this.children = null;
      this.fold();
      this.tree.say(error.message);
    });
    await this.children;
  }

  async load() {
    const [start, end] = this.range ?? [0, this.item.size];
    const ranges = rangesOf(start, end);
    let made;
    if (ranges.length)
      made = ranges.map((range) => new Branch(this.tree, this, { ...this.item, key: "" }, this.at, range));
    else {
      const { items } = await this.tree.ask({ ask: "children", at: this.at, start, end });
      made = items.map((item, i) => new Branch(this.tree, this, item, [...this.at, start + i]));
    }
    this.branches = made;
    this.group.replaceChildren(...made.map(({ element }) => element));
  }

  fold() {
    this.open = false;
    this.element.setAttribute("aria-expanded", "false");
    this.group.hidden = true;
  }

  /** Open all that leads to a place, and return it. */
  async reach(place) {
    const rest = place.slice(this.at.length);
    if (!rest.length && !this.range) return this;
    await this.unfold();
    const within = this.branches?.find(({ range, at }) =>
      range ? rest[0] >= range[0] && rest[0] < range[1] : at.at(-1) === rest[0],
    );
    return within ? within.reach(place) : this;
  }
}

class Tree {
  constructor(ask, name) {
    Object.assign(this, { ask, name, places: [], place: -1, turn: 0 });
    this.find = make("input", { type: "search", placeholder: "Find", "aria-label": "Find in names and values" });
    this.back = make("button", { type: "button", "aria-label": "Previous place", disabled: "" }, "↑");
    this.on = make("button", { type: "button", "aria-label": "Next place", disabled: "" }, "↓");
    this.count = make("span", { class: "gqlnb-count", role: "status" });
    this.copyPath = make("button", { type: "button" }, "Copy path");
    this.copyValue = make("button", { type: "button" }, "Copy value");
    this.where = make("div", { class: "gqlnb-where" });
    this.wrong = make("p", { class: "gqlnb-said", role: "alert", hidden: "" });
    this.top = make("ul", { class: "gqlnb-top", role: "tree", "aria-label": name });
    const tools = make(
      "div",
      { class: "gqlnb-tools" },
      this.find,
      this.back,
      this.on,
      this.copyPath,
      this.copyValue,
      this.count,
    );
    this.root = make("div", { class: "gqlnb-tree" }, tools, this.wrong, this.top, this.where);
    this.listen();
  }

  listen() {
    this.soon = debounced(() => this.search(), TYPING);
    this.find.addEventListener("input", this.soon);
    this.find.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      if (this.places.length && this.words === this.find.value) this.jump(event.shiftKey ? -1 : 1);
      else this.search();
    });
    this.on.addEventListener("click", () => this.jump(1));
    this.back.addEventListener("click", () => this.jump(-1));
    this.copyPath.addEventListener("click", () => this.copied(this.active.path(), "path"));
    this.copyValue.addEventListener("click", async () => {
      try {
        this.copied((await this.ask({ ask: "copy", at: this.active.at })).text, "value");
      } catch (error) {
        this.say(error.message);
      }
    });
    this.top.addEventListener("click", (event) => {
      const branch = event.target.closest("li")?.branch;
      if (!branch || !event.target.closest(".gqlnb-line")) return;
      this.mean(branch, true);
      if (branch.open) branch.fold();
      else branch.unfold();
    });
    this.top.addEventListener("focusin", (event) => event.target.branch && this.mean(event.target.branch));
    this.top.addEventListener("keydown", (event) => this.pressed(event));
  }

  async refresh() {
    try {
      const { item } = await this.ask({ ask: "root" });
      const branch = new Branch(this, null, item, []);
      this.trunk = branch;
      this.top.replaceChildren(branch.element);
      this.mean(branch);
      await branch.unfold();
    } catch (error) {
      this.say(error.message);
    }
  }

  say(text) {
    this.wrong.textContent = text;
    this.wrong.hidden = !text;
  }

  async copied(text, what) {
    this.say((await copy(text)) ? "" : "The browser did not allow to copy.");
    if (this.wrong.hidden) this.count.textContent = `Copied the ${what}.`;
  }

  /** Take a branch for the one that is meant: the one that Tab leads to. */
  mean(branch, focus = false) {
    if (this.active !== branch) {
      for (const [name, value] of [["tabindex", -1], ["aria-selected", "false"]])
        this.active?.element.setAttribute(name, value);
      this.active = branch;
      branch.element.setAttribute("tabindex", 0);
      branch.element.setAttribute("aria-selected", "true");
      this.where.textContent = branch.path();
    }
    if (!focus) return;
    branch.element.focus({ preventScroll: true });
    this.show(branch);
  }

  /** Scroll a branch into sight within the tree, and the page no more than that. */
  show({ element }) {
    const line = element.firstChild.getBoundingClientRect();
    const seen = this.top.getBoundingClientRect();
    if (line.top < seen.top) this.top.scrollTop -= seen.top - line.top;
    if (line.bottom > seen.bottom) this.top.scrollTop += line.bottom - seen.bottom;
  }

  pressed(event) {
    const what = meaning(event);
    const { active } = this;
    if (!what || !active) return;
    event.preventDefault();
    event.stopPropagation();
    const seen = [...this.top.querySelectorAll("li")].filter((li) => !li.parentNode.closest("[hidden]"));
    const at = seen.indexOf(active.element);
    const go = (element) => element?.branch && this.mean(element.branch, true);
    if (what === "toggle") return active.open ? active.fold() : active.unfold();
    if (what === "in" && active.opens && !active.open) return active.unfold();
    if (what === "out" && active.open) return active.fold();
    if (what === "out") return go(active.parent?.element);
    if (what === "in") return go(active.open ? active.branches?.[0].element : null);
    const to = { up: at - 1, down: at + 1, first: 0, last: seen.length - 1 }[what];
    return go(seen[to]);
  }

  async search() {
    const turn = (this.turn += 1);
    const words = this.find.value;
    this.words = words;
    try {
      const { places, more } = words.trim() ? await this.ask({ ask: "find", words }) : { places: [], more: false };
      if (turn !== this.turn) return;
      Object.assign(this, { places, more, place: -1 });
    } catch (error) {
      return this.say(error.message);
    }
    this.say("");
    this.on.disabled = this.back.disabled = !this.places.length;
    this.count.textContent = words.trim() && !this.places.length ? "Nothing found." : "";
    await this.jump(1);
  }

  async jump(step) {
    const { places } = this;
    if (!places.length) return;
    this.place = (this.place + step + places.length) % places.length;
    this.count.textContent = `${this.place + 1} of ${grouped(places.length)}${this.more ? " and more" : ""}`;
    const branch = await this.trunk.reach(places[this.place]);
    this.mean(branch);
    this.show(branch);
  }

  close() {
    this.soon.cancel();
    this.turn = -1;
  }
}

/** Return a tree: `root` to be put into a page, `refresh()` to show the data, `close()`. */
export function makeTree(ask, name) {
  const tree = new Tree(ask, name);
  return { root: tree.root, refresh: () => tree.refresh(), close: () => tree.close() };
}
