// The side panel: endpoints, schema and history of the active notebook's kernel. All it shows comes
// from the kernel (notebook/panel.py), which sends no secret; texts become text nodes.

import { addCommands } from "./panel_commands.js";
import { STYLE } from "./panel_style.js";

const AGAIN = 150; // ms between two questions about what a thread of the kernel works on
const PATIENCE = 300; // ms until a busy kernel is said
const TYPING = 40; // ms after the last key in the search box
const NO_NOTEBOOK = "Open a notebook: the panel shows what its kernel knows.";
const NO_KERNEL = "This notebook has no kernel. Choose one to see its endpoints.";
const NOT_LOADED = "gqlnb is not loaded in this kernel.";
const BUSY = "The kernel is busy. This waits in line.";
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="none" stroke-width="1.6"><path class="jp-icon3" stroke="#616161" d="M12 3.5l7.4 4.2v8.6L12 20.5l-7.4-4.2V7.7zM12 3.5v6.1M4.6 16.3l5.3-3M19.4 16.3l-5.3-3M14.4 12a2.4 2.4 0 1 1-4.8 0 2.4 2.4 0 1 1 4.8 0"/></g></svg>';

/** Return an element with properties and children; texts become text nodes, never HTML. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** Return a button; its label is what it does for whoever does not see what it is beside. */
const button = (text, onclick, label = text, className = "") =>
  make("button", { type: "button", textContent: text, onclick, ariaLabel: label, title: label, className });

/** Ask the kernel; what waits for an endpoint is asked for again until it is there. */
export async function ask(kernel, word, given = {}) {
  const job = `${Date.now()}-${Math.random()}`;
  const code = `%%gqlnb-panel\n${JSON.stringify({ do: word, job, ...given })}`;
  for (;;) {
    const { content } = await kernel.requestComplete({ code, cursor_pos: code.length });
    const answer = content.metadata?.gqlnb;
    if (!answer) throw new Error(NOT_LOADED);
    if (answer.error) throw new Error(answer.error);
    if (!answer.waiting) return answer;
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** Return the item that a key leads to, among those that are in sight; undefined for none. */
export function nextItem(key, items, item) {
  const at = items.indexOf(item);
  if (key === "ArrowLeft") return item.parentElement.closest("[role=treeitem]");
  return { ArrowDown: items[at + 1], ArrowUp: items[at - 1], Home: items[0], End: items.at(-1) }[key];
}

class Panel {
  constructor(app, modules) {
    Object.assign(this, { app, modules, notebook: null, view: "Endpoints", target: "", state: null, turn: 0 });
    const { Widget, LabIcon } = modules;
    this.widget = new Widget();
    this.widget.id = "gqlnb-panel";
    this.widget.title.caption = "GraphQL: endpoints, schema, history";
    this.widget.title.icon = new LabIcon({ name: "gqlnb:panel", svgstr: ICON });
    this.widget.onAfterShow = () => this.refresh();
    this.tabs = make("div", { className: "gqlnb-tabs", role: "group", ariaLabel: "View" });
    this.status = make("p", { role: "status", className: "gqlnb-status" });
    this.body = make("div", { className: "gqlnb-main" });
    this.widget.node.append(this.tabs, this.status, this.body);
    this.schema = new SchemaTree(this);
    app.shell.currentChanged?.connect(() => this.follow());
    app.restored.then(() => this.follow());
  }

  get kernel() {
    return this.notebook?.sessionContext?.session?.kernel ?? null;
  }

  /** Show the kernel of the active notebook, and what its cells change. */
  follow() {
    const current = this.app.shell.currentWidget;
    if (!current?.content?.model?.cells && !current?.sessionContext) return;
    if (!("activeCell" in (current.content ?? {}))) return;
    if (current === this.notebook) return;
    this.notebook = current;
    if (!current.gqlnbFollowed) {
      current.gqlnbFollowed = true;
      const mine = (work) => current === this.notebook && work();
      current.disposed.connect(() => mine(() => ((this.notebook = null), this.refresh())));
      current.sessionContext.kernelChanged.connect(() => mine(() => this.start()));
      current.sessionContext.statusChanged.connect((_, status) => {
        if (status === "restarting" || status === "autorestarting") this.restarts = true;
        else if (status === "idle" && this.restarts) mine(() => ((this.restarts = false), this.start()));
      });
      current.sessionContext.iopubMessage.connect((_, { header, content, parent_header }) => {
        const ended = header.msg_type === "status" && content.execution_state === "idle";
        if (ended && parent_header.msg_type === "execute_request") mine(() => this.refresh());
      });
    }
    this.start();
  }

  /** Begin with another kernel. */
  start() {
    this.target = "";
    this.schema.reset();
    this.refresh();
  }

  /** Do what takes a moment; what went wrong is said, and so is a kernel that is busy. */
  async run(work, said = "") {
    const { notebook } = this;
    const waits = setTimeout(() => this.say(this.kernel?.status === "busy" ? BUSY : said), PATIENCE);
    try {
      const done = await work();
      if (notebook === this.notebook) this.say("");
      return done;
    } catch (error) {
      if (notebook === this.notebook) this.say(error?.message || "The kernel does not answer.", true);
      return null;
    } finally {
      clearTimeout(waits);
    }
  }

  ask(word, given = {}) {
    if (!this.kernel) throw new Error(this.notebook ? NO_KERNEL : NO_NOTEBOOK);
    return ask(this.kernel, word, given);
  }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("gqlnb-wrong", wrong);
  }

  /** Ask for the state of the kernel and show it; the latest answer counts. */
  async refresh() {
    if (!this.widget.isVisible) return;
    const turn = ++this.turn;
    let state = null;
    let reason = "";
    try {
      const waits = setTimeout(() => this.kernel?.status === "busy" && this.say(BUSY), PATIENCE);
      state = await this.ask("state").finally(() => clearTimeout(waits));
      if (this.status.textContent === BUSY) this.say("");
    } catch (error) {
      reason = error?.message || NOT_LOADED;
    }
    if (turn === this.turn) this.show(state, reason);
  }

  show(state, reason = "") {
    this.state = state;
    const { activeElement } = document;
    const label = this.widget.node.contains(activeElement) && activeElement.ariaLabel;
    if (!state) {
      const load = () => this.run(() => this.load(), "Loading …").then(() => this.refresh());
      this.tabs.replaceChildren();
      const offered = reason === NOT_LOADED ? button("Load gqlnb", load) : "";
      this.body.replaceChildren(make("p", {}, reason), offered);
      return;
    }
    this.target ||= state.default;
    const views = { Endpoints: () => this.endpoints(), Schema: () => this.schema.node, History: () => this.history() };
    this.tabs.replaceChildren(
      ...Object.keys(views).map((name) =>
        Object.assign(button(name, () => this.open(name)), { ariaPressed: String(name === this.view) }),
      ),
    );
    this.body.replaceChildren(views[this.view]());
    if (this.view === "Schema") this.schema.show();
    if (label) this.widget.node.querySelector(`[aria-label=${JSON.stringify(label)}]`)?.focus();
  }

  open(view) {
    this.view = view;
    this.show(this.state);
    return this.refresh();
  }

  async load() {
    const { content } = await this.kernel.requestExecute({ code: "%load_ext gqlnb", store_history: false }).done;
    if (content.status !== "ok") throw new Error(content.evalue);
  }

  /** Change something, and show the state that comes back. */
  async change(word, given) {
    const state = await this.run(() => this.ask(word, given));
    if (state) this.show(state);
    return state;
  }

  endpoints() {
    const { endpoints, current, fault } = this.state;
    const rows = endpoints.map((it) => this.endpoint(it, it.name === current));
    const warning = fault ? make("p", { className: "gqlnb-wrong" }, fault) : "";
    return make("div", {}, warning, make("ul", { className: "gqlnb-list" }, ...rows), this.form());
  }

  endpoint(it, isCurrent) {
    const { name } = it;
    const said = make("p", { role: "status" });
    const { Dialog, InputDialog, showDialog } = this.modules;
    const test = async () => {
      said.textContent = "Waiting for an answer …";
      const tested = await this.run(() => this.ask("test", { target: name }));
      said.textContent = tested?.text ?? this.status.textContent;
      if (!tested) this.say("");
    };
    const rename = async () => {
      const { value } = await InputDialog.getText({ title: `Rename ${name}`, text: name });
      if (value && value !== name) this.change("change", { name, new_name: value });
    };
    const remove = async () => {
      const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: "Remove" })];
      const body = `It is removed from ${it.where}.`;
      const { button: pressed } = await showDialog({ title: `Remove ${name}?`, body, buttons });
      if (pressed.accept) this.change("change", { name, new_name: null });
    };
    const lines = [it.about, it.token && `token: ${it.token}`, it.schema, it.budget && `left: ${it.budget}`, it.where];
    const actions = [
      button("Schema", () => this.schema.choose(name), `Schema of ${name}`),
      it.asks
        ? button("Connect", () => this.addCell(`%graphql connect ${name}`, true), `Connect ${name} in a cell`)
        : button("Test", test, `Test ${name}`),
      isCurrent ? "" : button("Use", () => this.change("use", { name }), `Use ${name}`),
      it.editable ? button("Rename", rename, `Rename ${name}`) : "",
      it.editable ? button("Remove", remove, `Remove ${name}`) : "",
    ];
    const head = make("h3", {}, name, isCurrent ? make("span", { className: "gqlnb-mark" }, "current") : "");
    const about = lines.filter(Boolean).map((line) => make("p", {}, line));
    return make("li", {}, head, ...about, make("div", { className: "gqlnb-actions" }, ...actions), said);
  }

  /** The form of a new endpoint. A token is chosen by its source: no box here takes one. */
  form() {
    const name = make("input", { required: true, pattern: "[\\w\\-]+", placeholder: "name", ariaLabel: "Name" });
    const url = make("input", { required: true, type: "url", placeholder: "https://…/graphql", ariaLabel: "Address" });
    const token = make("select", { ariaLabel: "Token from" });
    const sources = { "": "no token", prompt: "asked for in a cell", keyring: "keyring, entry of this name" };
    const variables = this.state.variables.map((it) => [`env:${it}`, `environment: ${it}`]);
    for (const [value, text] of [...Object.entries(sources), ...variables])
      token.append(make("option", { value }, text));
    const save = make("button", { type: "submit" }, "Add");
    const form = make("form", {}, name, url, token, save);
    form.onsubmit = (event) => {
      event.preventDefault();
      const source = token.value === "keyring" ? `keyring:${name.value}` : token.value;
      this.change("add", { name: name.value, url: url.value, token: source });
    };
    return make("details", {}, make("summary", {}, "Add an endpoint"), form);
  }

  history() {
    const { history, snippets } = this.state;
    const row = ({ cell, ...it }) =>
      make(
        "li",
        {},
        make("h3", {}, it.name ?? it.operation),
        it.text ? make("p", {}, make("code", {}, it.text)) : "",
        make("p", {}, describe(it)),
        button("New cell", () => this.addCell(cell), `New cell: ${it.name ?? it.text}`),
      );
    const list = (rows, none) =>
      rows.length ? make("ul", { className: "gqlnb-list" }, ...rows.map(row)) : make("p", {}, none);
    return make(
      "div",
      {},
      list(history, "No operation has run in this kernel yet."),
      make("h2", {}, "Saved cells"),
      list(snippets, "None yet: %%graphql --save NAME keeps a cell."),
    );
  }

  /** Add a cell below the active one, its cursor in the innermost selection. */
  async addCell(text, runs = false) {
    const { notebook, app } = this;
    app.shell.activateById(notebook.id);
    await app.commands.execute("notebook:insert-cell-below");
    const cell = notebook.content.activeCell;
    cell.model.sharedModel.setSource(text);
    if (runs) return app.commands.execute("notebook:run-cell");
    await cell.ready;
    notebook.content.mode = "edit";
    const depths = text.split("\n").map((line) => line.search(/\S|$/));
    const line = depths.lastIndexOf(Math.max(...depths));
    cell.editor?.setCursorPosition({ line, column: text.split("\n")[line].length });
    cell.editor?.focus();
  }

  /** Put fields at the cursor of the active cell, on lines of their own. */
  insert(text) {
    const cell = this.notebook.content.activeCell;
    const editor = cell?.editor;
    if (!editor || !/^\s*%%(graphql|gql)\b/.test(cell.model.sharedModel.getSource()))
      throw new Error("The active cell is no %%graphql cell. Press New cell.");
    const { line, column } = editor.getCursorPosition();
    const whole = editor.getLine(line);
    const [before, after] = [whole.slice(0, column), whole.slice(column)];
    const margin = before.match(/^\s*/)[0] + (/[{(]\s*$/.test(before) ? "  " : "");
    const lines = text.split("\n").join(`\n${margin}`);
    const head = before.trim() ? `\n${margin}` : "";
    editor.replaceSelection(`${head}${lines}${after.trim() ? `\n${before.match(/^\s*/)[0]}` : ""}`);
    editor.focus();
  }
}

/** Return rows, time and completeness of an operation as words. */
export function describe({ connection, outcome, rows, ms, complete }) {
  const size = rows === null || rows === undefined ? "" : `${rows} row${rows === 1 ? "" : "s"}`;
  const all = { complete: "complete", more: "more exist", unknown: "perhaps more" }[complete] ?? complete;
  const time = Number.isFinite(ms) ? `${ms} ms` : "";
  return [connection, outcome === "data" ? "" : outcome, size, all, time].filter(Boolean).join(" · ");
}

class SchemaTree {
  constructor(panel) {
    this.panel = panel;
    this.chooser = make("select", { ariaLabel: "Endpoint", onchange: () => this.choose(this.chooser.value) });
    this.box = make("input", { type: "search", placeholder: "Search names and descriptions", ariaLabel: "Search the schema" });
    this.box.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), TYPING);
    });
    this.count = make("p", { role: "status", className: "gqlnb-status" });
    this.tree = make("ul", { role: "tree", ariaLabel: "Schema", className: "gqlnb-tree" });
    this.tree.addEventListener("keydown", (event) => this.press(event));
    this.detail = make("div", { className: "gqlnb-detail", tabIndex: 0, role: "region", ariaLabel: "Documentation" });
    this.node = make("div", { className: "gqlnb-schema-tab" }, this.chooser, this.box, this.count, this.tree, this.detail);
    this.reset();
  }

  reset() {
    this.shown = "";
    this.box.value = "";
    this.tree.replaceChildren();
    this.detail.replaceChildren();
    this.detail.hidden = true;
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
  async show() {
    const { panel, panel: { state, target } } = this;
    const names = state.endpoints.map(({ name }) => make("option", { value: name, selected: name === target }, name));
    this.chooser.replaceChildren(...names);
    if (this.shown === target) return;
    this.shown = target;
    const { local, schema } = state.endpoints.find(({ name }) => name === target) ?? {};
    if (local || schema) return this.load();
    const load = button("Load the schema", () => this.load(), `Load the schema of ${target}`);
    this.tree.replaceChildren();
    this.count.replaceChildren("Nothing is sent until you press this. ", load);
    panel.say("");
  }

  async load() {
    const { target } = this.panel;
    const loaded = await this.panel.run(() => this.ask("load"), "Loading the schema …");
    if (target !== this.panel.target) return;
    this.count.textContent = loaded ? `${loaded.types.toLocaleString("en-US")} types` : "";
    this.types = this.count.textContent;
    if (loaded) await this.search();
    else this.shown = "";
  }

  /** Show the hits of what stands in the box, or the root types. */
  async search() {
    const text = this.box.value.trim();
    const question = text ? this.ask("search", { text }) : this.ask("children", { path: [] });
    const answer = await this.panel.run(() => question);
    if (!answer || text !== this.box.value.trim()) return;
    const { rows, total, near } = answer;
    this.fill(this.tree, rows, []);
    const others = near?.length ? ` Did you mean ${near.join(" or ")}?` : "";
    this.count.textContent = text ? `${total.toLocaleString("en-US")} hits.${others}` : this.types;
    this.tree.dataset.found = text;
    const first = this.tree.firstElementChild;
    if (first) first.tabIndex = 0;
    if (!text && first) this.toggle(first);
  }

  fill(list, rows, path) {
    list.replaceChildren(...rows.map((row) => this.item(row, [...path, row.place])));
  }

  item({ place, type, about, deprecated, opens }, path) {
    const [owner, name] = this.box.value.trim() || !place.includes(".") ? ["", place] : place.split(".");
    const twist = make("span", { className: "gqlnb-twist", ariaHidden: "true" }, opens ? "▸" : "");
    const label = make("span", { className: deprecated ? "gqlnb-deprecated" : "" }, name);
    const flag = deprecated ? make("span", { className: "gqlnb-mark" }, "deprecated") : "";
    const line = make("div", { className: "gqlnb-row", title: about }, twist, label, flag, make("code", {}, type));
    const item = make("li", { role: "treeitem", tabIndex: -1, ariaLabel: `${name}, ${type}${deprecated ? ", deprecated" : ""}` });
    Object.assign(item, { path, owner, ariaLevel: String(path.length), ariaSelected: "false" });
    item.append(line);
    if (opens) {
      item.ariaExpanded = "false";
      item.append(make("ul", { role: "group", hidden: true }));
    }
    line.addEventListener("click", () => {
      this.toggle(item);
      this.select(item);
    });
    return item;
  }

  async toggle(item) {
    const group = item.querySelector("ul");
    if (!group) return;
    const opens = group.hidden;
    group.hidden = !opens;
    item.ariaExpanded = String(opens);
    if (!opens || group.children.length) return;
    const answer = await this.panel.run(() => this.ask("children", { path: item.path }));
    if (answer) this.fill(group, answer.rows, item.path);
  }

  press(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const open = item.ariaExpanded === "true";
    const seen = [...this.tree.querySelectorAll("[role=treeitem]")].filter((it) => !it.closest("[hidden]"));
    if (key === "Enter" || key === " ") {
      this.toggle(item);
      this.select(item);
    } else if ((key === "ArrowRight" && !open) || (key === "ArrowLeft" && open)) this.toggle(item);
    else this.focus(nextItem(key === "ArrowRight" ? "ArrowDown" : key, seen, item));
    if (/^(Arrow|Home|End|Enter| )/.test(key)) event.preventDefault();
    event.stopPropagation();
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
    return this.document(item.path);
  }

  /** Show the documentation of the end of a path, and what can be done with it. */
  async document(path) {
    const place = path.at(-1);
    const { panel } = this;
    const page = await panel.run(() => this.ask("document", { place }));
    if (!page) return;
    const below = make("div", { className: "gqlnb-below" });
    const act = (word, said, then) => () =>
      panel.run(async () => then(await this.ask(word, { path })), said);
    const actions = place.startsWith("@")
      ? []
      : [
          button("Insert", act("insert", "", ({ text }) => panel.insert(text)), `Insert ${place}`),
          button("New cell", act("write", "", ({ cell }) => panel.addCell(cell)), `New cell with ${place}`),
          button("Sample", act("sample", "Waiting for an answer …", (it) => this.sample(below, it)), `Sample of ${place}`),
          button("Paths", () => panel.run(async () => this.paths(below, await this.ask("paths", { place }))), `Paths to ${place}`),
        ];
    const text = make("div", { className: "gqlnb-doc", innerHTML: page.html }); // escaped by the kernel
    this.detail.hidden = false;
    this.detail.replaceChildren(make("h3", {}, place), make("div", { className: "gqlnb-actions" }, ...actions), below, text);
    this.detail.scrollTop = 0;
  }

  sample(below, { html, notes }) {
    const table = make("div", { className: "gqlnb-sample", tabIndex: 0, role: "region", ariaLabel: "Sample", innerHTML: html });
    below.replaceChildren(table, ...notes.map((note) => make("p", { className: "gqlnb-wrong" }, note)));
  }

  paths(below, { kind, rows }) {
    const list = rows.map(({ path, text }) => make("li", {}, button(text, () => this.document(path), `Path: ${text}`, "gqlnb-link")));
    const none = rows.length ? "" : "No field of the query type leads there.";
    below.replaceChildren(make("h4", {}, `Paths to ${kind}`), none || make("ul", { className: "gqlnb-list" }, ...list));
  }
}

/** The plugin, made of the modules that JupyterLab shares. */
export const panelPlugin = (modules) => ({
  id: "gqlnb:panel",
  description: "The side panel, and the commands of GraphQL cells.",
  autoStart: true,
  optional: [modules.ICommandPalette],
  activate(app, palette) {
    document.head.append(make("style", { textContent: STYLE }));
    const panel = new Panel(app, modules);
    app.shell.add(panel.widget, "left", { rank: 600 });
    addCommands(app, palette, panel);
  },
});
