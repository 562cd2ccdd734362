// The schema of an endpoint in the side panel: a tree with search, documentation, and what to do
// with a field. A row knows the path that leads to it, from which the kernel writes cells.

import { make } from "./panel_style.js";

// The documentation has its place from the beginning: if it came with a click, the rows would move
// between two clicks.
const NOTHING_CHOSEN = "The documentation of the name that you choose comes here.";

export class SchemaTree {
  constructor(panel) {
    this.panel = panel;
    this.chooser = make("select", { ariaLabel: "Endpoint", onchange: () => this.choose(this.chooser.value) });
    const oninput = () => panel.run(() => this.search());
    const words = { placeholder: "Search names and descriptions", ariaLabel: "Search the schema" };
    this.box = make("input", { type: "search", oninput, ...words });
    this.count = make("p", { role: "status" });
    const onkeydown = (event) => panel.run(() => this.press(event));
    this.tree = make("ul", { role: "tree", ariaLabel: "Schema", className: "gqlnb-tree", onkeydown });
    this.detail = make("div", { className: "gqlnb-detail", tabIndex: 0, role: "region", ariaLabel: "Documentation" });
    this.node = make("div", { className: "gqlnb-schema-tab" }, this.chooser, this.box, this.count, this.tree, this.detail);
  }

  /** Forget what is shown; the schema of the target, "" for the current one, comes next. */
  reset(target) {
    this.target = target;
    this.box.value = "";
    for (const part of [this.tree, this.count]) part.replaceChildren();
    this.detail.textContent = NOTHING_CHOSEN;
  }

  choose(target) {
    this.reset(target);
    return this.panel.open("Schema");
  }

  async ask(word, given) {
    const { target } = this;
    const answer = await this.panel.ask(word, { target, ...given });
    return target === this.target ? answer : new Promise(() => {}); // nobody waits for it any more
  }

  /** Return the view; its schema is loaded if that sends nothing, else when a button is pressed. */
  show() {
    const { endpoints, current } = this.panel.state;
    this.target ||= current || endpoints[0].name;
    this.chooser.replaceChildren(...endpoints.map(({ name }) => make("option", { selected: name === this.target }, name)));
    if (!this.count.textContent) {
      const load = () => this.load().then(() => this.box.focus());
      const button = this.panel.button("Load the schema", load, `Load the schema of ${this.target}`);
      this.count.replaceChildren("Nothing is sent until you press this. ", button);
      const isKnown = ({ name, local, schema }) => name === this.target && (local || schema);
      if (endpoints.some(isKnown)) this.panel.run(() => this.load());
    }
    return this.node;
  }

  async load() {
    ({ size: this.size } = await this.ask("load"));
    await this.search();
  }

  /** Show the hits of what stands in the box, or the root types. */
  async search() {
    const text = this.box.value.trim();
    const { rows, note = this.size } = await (text ? this.ask("search", { text }) : this.ask("children", { path: [] }));
    if (text !== this.box.value.trim()) return;
    this.count.textContent = note;
    this.tree.replaceChildren(...rows.map((row) => this.item(row, [])));
    this.tree.dataset.found = text;
    const first = this.tree.firstElementChild;
    if (first) first.tabIndex = 0;
    if (first && !text) await this.toggle(first);
  }

  /** Return a row of the tree below the places that lead to it. */
  item({ place, type, description, deprecated, opens }, above) {
    const path = [...above, place];
    const name = above.length ? place.replace(/^[^.]*\./, "") : place;
    const parts = [
      make("span", { className: "gqlnb-twist", ariaHidden: "true" }, opens ? "▸" : ""),
      make(deprecated ? "s" : "span", {}, name),
      deprecated ? make("span", { className: "gqlnb-mark" }, "deprecated") : "",
      make("code", {}, type),
    ];
    const label = `${name}, ${type}${deprecated ? ", deprecated" : ""}`;
    const aria = { ariaLabel: label, ariaSelected: "false", ariaExpanded: opens ? "false" : null };
    const onclick = () => this.panel.run(() => this.select(item));
    const row = make("div", { className: "gqlnb-row", title: description, onclick }, ...parts);
    const group = opens ? make("ul", { role: "group", hidden: true }) : "";
    const item = make("li", { role: "treeitem", tabIndex: -1, path, ...aria }, row, group);
    return item;
  }

  async toggle(item) {
    const group = item.querySelector("ul");
    if (!group) return;
    group.hidden = !group.hidden;
    item.ariaExpanded = String(!group.hidden);
    if (group.hidden || group.children.length) return;
    const { rows } = await this.ask("children", { path: item.path });
    group.replaceChildren(...rows.map((row) => this.item(row, item.path)));
  }

  /** Arrows, Home and End move; right and left open and close; Enter does as a click. */
  async press(event) {
    const { key, target: item } = event;
    if (!/^(Arrow\w+|Home|End|Enter| )$/.test(key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const seen = [...this.tree.querySelectorAll("[role=treeitem]")].filter((it) => !it.closest("[hidden]"));
    const at = seen.indexOf(item);
    const outer = item.parentElement.closest("[role=treeitem]");
    const next = { ArrowDown: seen[at + 1], ArrowUp: seen[at - 1], Home: seen[0], End: seen.at(-1) };
    const closed = item.ariaExpanded === "false";
    if (key === "Enter" || key === " ") await this.select(item);
    else if (key === "ArrowRight" ? closed : key === "ArrowLeft" && item.ariaExpanded && !closed) await this.toggle(item);
    else this.focus({ ...next, ArrowLeft: outer, ArrowRight: item.ariaExpanded && seen[at + 1] }[key]);
  }

  focus(item) {
    if (!item) return;
    for (const it of this.tree.querySelectorAll("[tabindex='0']")) it.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  async select(item) {
    for (const it of this.tree.querySelectorAll("[aria-selected=true]")) it.ariaSelected = "false";
    item.ariaSelected = "true";
    this.focus(item);
    await Promise.all([this.toggle(item), this.document(item.path)]);
  }

  /** Show the documentation of the end of a path, and what can be done with it. */
  async document(path) {
    const { panel } = this;
    const place = path.at(-1);
    const { html } = await this.ask("document", { place });
    const field = [...path.slice(0, -1), place.split("(")[0]]; // a hit may be an argument of it
    const below = make("div");
    const region = { tabIndex: 0, role: "region", ariaLabel: "Sample", className: "gqlnb-sample" };
    const action = (text, word, then, label = text) =>
      panel.button(text, async () => then(await this.ask(word, { path: field })), `${label} ${place}`);
    const actions = [
      action("Insert", "insert", (it) => panel.insert(it.text)),
      action("New cell", "write", (it) => panel.addCell(it.cell), "New cell with"),
      action("Sample", "sample", ({ html }) => below.replaceChildren(make("div", { ...region, innerHTML: html })), "Sample of"),
      action("Paths", "paths", (it) => below.replaceChildren(...this.paths(it)), "Paths to"),
    ];
    const bar = make("div", { className: "gqlnb-actions" }, ...(place.startsWith("@") ? [] : actions));
    const text = make("div", { innerHTML: html }); // escaped by the kernel
    this.detail.replaceChildren(make("h3", {}, place), bar, below, text);
    this.detail.scrollTop = 0;
  }

  paths({ kind, rows }) {
    const link = ({ path, text }) => this.panel.button(text, () => this.document(path), `Path: ${text}`);
    const none = rows.length ? "" : "No field of the query type leads there.";
    const list = make("ul", { className: "gqlnb-list" }, ...rows.map((row) => make("li", {}, link(row))));
    return [make("h4", {}, `Paths to ${kind}`), none, list];
  }
}
