// The schema of an endpoint in the side panel: a tree with search, documentation, and what to do
// with a field. A row knows the path that leads to it, from which the kernel writes cells.

import { button, make } from "./panel_style.js";

const TYPING = 15; // ms after the last key in the search box
// The documentation has its place from the beginning: if it came with a click, the rows would move
// between two clicks.
const NOTHING_CHOSEN = "The documentation of the name that you choose comes here.";

export class SchemaTree {
  constructor(panel) {
    this.panel = panel;
    const later = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), TYPING);
    };
    this.chooser = make("select", { ariaLabel: "Endpoint", onchange: () => this.choose(this.chooser.value) });
    const words = { placeholder: "Search names and descriptions", ariaLabel: "Search the schema" };
    this.box = make("input", { type: "search", oninput: later, ...words });
    this.count = make("p", { role: "status", className: "gqlnb-status" });
    const onkeydown = (event) => this.press(event);
    this.tree = make("ul", { role: "tree", ariaLabel: "Schema", className: "gqlnb-tree", onkeydown });
    const region = { tabIndex: 0, role: "region", ariaLabel: "Documentation" };
    this.detail = make("div", { className: "gqlnb-detail", ...region });
    const parts = [this.chooser, this.box, this.count, this.tree, this.detail];
    this.node = make("div", { className: "gqlnb-schema-tab" }, ...parts);
    this.reset();
  }

  reset() {
    this.shown = ""; // the endpoint whose tree is here
    this.box.value = "";
    for (const part of [this.tree, this.count]) part.replaceChildren();
    this.detail.textContent = NOTHING_CHOSEN;
  }

  ask(word, given) {
    return this.panel.ask(word, { target: this.panel.target, ...given });
  }

  choose(name) {
    this.panel.target = name;
    this.reset();
    return this.panel.open("Schema");
  }

  /** Show the schema of the endpoint if the kernel has it, else the button that loads it. */
  show() {
    const { state: { endpoints }, target } = this.panel;
    const names = endpoints.map(({ name }) => make("option", { value: name, selected: name === target }, name));
    this.chooser.replaceChildren(...names);
    if (this.shown === target) return;
    this.shown = target;
    const { local, schema } = endpoints.find(({ name }) => name === target) ?? {};
    const load = button("Load the schema", () => this.load(), `Load the schema of ${target}`);
    this.count.replaceChildren("Nothing is sent until you press this. ", load);
    if (local || schema) this.load();
  }

  async load() {
    const { target } = this.panel;
    const loaded = await this.panel.run(() => this.ask("load"), "Loading the schema …");
    if (!loaded || target !== this.panel.target) return;
    this.size = `${loaded.types.toLocaleString("en-US")} types`;
    await this.search();
  }

  /** Show the hits of what stands in the box, or the root types. */
  async search() {
    const text = this.box.value.trim();
    const question = () => (text ? this.ask("search", { text }) : this.ask("children", { path: [] }));
    const answer = await this.panel.run(question);
    if (!answer || text !== this.box.value.trim()) return;
    const others = answer.near?.length ? ` Did you mean ${answer.near.join(" or ")}?` : "";
    this.count.textContent = text ? `${answer.total.toLocaleString("en-US")} hits.${others}` : this.size;
    this.fill(this.tree, answer.rows, []);
    this.tree.dataset.found = text;
    const first = this.tree.firstElementChild;
    if (first) first.tabIndex = 0;
    if (first && !text) this.toggle(first);
  }

  fill(list, rows, path) {
    list.replaceChildren(...rows.map((row) => this.item(row, [...path, row.place])));
  }

  item({ place, type, description, deprecated, opens }, path) {
    const name = this.box.value.trim() ? place : place.replace(/^[^.]*\./, "");
    const parts = [
      make("span", { className: "gqlnb-twist", ariaHidden: "true" }, opens ? "▸" : ""),
      make("span", { className: deprecated ? "gqlnb-deprecated" : "" }, name),
      deprecated ? make("span", { className: "gqlnb-mark" }, "deprecated") : "",
      make("code", {}, type),
    ];
    const label = `${name}, ${type}${deprecated ? ", deprecated" : ""}`;
    const item = make("li", { role: "treeitem", tabIndex: -1, ariaLabel: label, ariaSelected: "false", path });
    const onclick = () => this.select(item);
    item.append(make("div", { className: "gqlnb-row", title: description, onclick }, ...parts));
    item.ariaLevel = String(path.length);
    if (!opens) return item;
    item.ariaExpanded = "false";
    item.append(make("ul", { role: "group", hidden: true }));
    return item;
  }

  async toggle(item) {
    const group = item.querySelector("ul");
    if (!group) return;
    group.hidden = !group.hidden;
    item.ariaExpanded = String(!group.hidden);
    if (group.hidden || group.children.length) return;
    const answer = await this.panel.run(() => this.ask("children", { path: item.path }));
    if (answer) this.fill(group, answer.rows, item.path);
  }

  /** Arrows, Home and End move; right and left open and close; Enter does as a click. */
  press(event) {
    const { key, target: item } = event;
    if (!/^(Arrow\w+|Home|End|Enter| )$/.test(key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const seen = [...this.tree.querySelectorAll("[role=treeitem]")].filter((it) => !it.closest("[hidden]"));
    const at = seen.indexOf(item);
    const outer = item.parentElement.closest("[role=treeitem]");
    const next = { ArrowDown: seen[at + 1], ArrowUp: seen[at - 1], Home: seen[0], End: seen.at(-1) };
    const closed = item.ariaExpanded === "false";
    if (key === "Enter" || key === " ") this.select(item);
    else if (key === "ArrowRight" ? closed : key === "ArrowLeft" && item.ariaExpanded && !closed) this.toggle(item);
    else this.focus({ ...next, ArrowLeft: outer, ArrowRight: item.ariaExpanded && seen[at + 1] }[key]);
  }

  focus(item) {
    if (!item) return;
    for (const it of this.tree.querySelectorAll("[tabindex='0']")) it.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  select(item) {
    for (const it of this.tree.querySelectorAll("[aria-selected=true]")) it.ariaSelected = "false";
    item.ariaSelected = "true";
    this.focus(item);
    this.toggle(item);
    return this.document(item.path);
  }

  /** Show the documentation of the end of a path, and what can be done with it. */
  async document(path) {
    const { panel } = this;
    const place = path.at(-1);
    const field = [...path.slice(0, -1), place.split("(")[0]]; // a hit may be an argument of it
    const page = await panel.run(() => this.ask("document", { place }));
    if (!page) return;
    const below = make("div", { className: "gqlnb-below" });
    const action = (text, word, then, label) => {
      const said = word === "sample" ? "Waiting for an answer …" : "";
      const work = async () => then(await this.ask(word, word === "paths" ? { place: field.at(-1) } : { path: field }));
      return button(text, () => panel.run(work, said), `${label} ${place}`);
    };
    const actions = [
      action("Insert", "insert", ({ text }) => panel.insert(text), "Insert"),
      action("New cell", "write", ({ cell }) => panel.addCell(cell), "New cell with"),
      action("Sample", "sample", (it) => this.sample(below, it), "Sample of"),
      action("Paths", "paths", (it) => this.paths(below, it), "Paths to"),
    ];
    const bar = make("div", { className: "gqlnb-actions" }, ...(place.startsWith("@") ? [] : actions));
    const text = make("div", { innerHTML: page.html }); // escaped by the kernel
    this.detail.replaceChildren(make("h3", {}, place), bar, below, text);
    this.detail.scrollTop = 0;
  }

  sample(below, { html, notes }) {
    const region = { tabIndex: 0, role: "region", ariaLabel: "Sample", innerHTML: html };
    const lines = notes.map((note) => make("p", { className: "gqlnb-wrong" }, note));
    below.replaceChildren(make("div", { className: "gqlnb-sample", ...region }), ...lines);
  }

  paths(below, { kind, rows }) {
    const link = ({ path, text }) => button(text, () => this.document(path), `Path: ${text}`, "gqlnb-link");
    const none = rows.length ? "" : "No field of the query type leads there.";
    const list = make("ul", { className: "gqlnb-list" }, ...rows.map((row) => make("li", {}, link(row))));
    below.replaceChildren(make("h4", {}, `Paths to ${kind}`), none, list);
  }
}
