// The side panel: endpoints, schema and history of the active notebook's kernel. All it shows comes
// from the kernel (notebook/panel.py), which sends no secret; texts become text nodes.

import { addCommands } from "./panel_commands.js";
import { SchemaTree } from "./panel_schema.js";
import { ICON, STYLE, button, make } from "./panel_style.js";

const AGAIN = 150; // ms between two questions about what a thread of the kernel works on
const PATIENCE = 300; // ms until a busy kernel is said
const NO_NOTEBOOK = "Open a notebook: the panel shows what its kernel knows.";
const NO_KERNEL = "This notebook has no kernel. Choose one to see its endpoints.";
const NOT_LOADED = "gqlnb is not loaded in this kernel.";
const BUSY = "The kernel is busy. This waits in line.";
const SOURCES = { "": "no token", prompt: "asked for in a cell", keyring: "keyring, entry of this name" };

class Panel {
  notebook = null;
  view = "Endpoints";
  target = ""; // the endpoint whose schema is shown
  turn = 0; // of what was asked: a late answer must not show over a later one
  followed = new WeakSet();

  constructor(app, modules) {
    Object.assign(this, { app, modules, widget: new modules.Widget(), schema: new SchemaTree(this) });
    this.widget.id = "gqlnb-panel";
    this.widget.title.caption = "GraphQL: endpoints, schema, history";
    this.widget.title.icon = new modules.LabIcon({ name: "gqlnb:panel", svgstr: ICON });
    this.widget.onAfterShow = () => this.refresh();
    this.tabs = make("div", { className: "gqlnb-tabs", role: "group", ariaLabel: "View" });
    this.status = make("p", { role: "status", className: "gqlnb-status" });
    this.body = make("div", { className: "gqlnb-main" });
    // The status comes last: whatever it says, no row moves from below the pointer.
    this.widget.node.append(this.tabs, this.body, this.status);
    app.shell.currentChanged?.connect(() => this.follow());
    app.restored.then(() => this.follow());
  }

  get kernel() {
    return this.notebook?.sessionContext?.session?.kernel ?? null;
  }

  /** Show the kernel of the active notebook, and what its cells change. */
  follow() {
    const current = this.app.shell.currentWidget;
    if (current === this.notebook || !("activeCell" in (current?.content ?? {}))) return;
    this.notebook = current;
    if (!this.followed.has(current)) {
      this.followed.add(current);
      const { disposed, sessionContext } = current;
      const mine = (work) => current === this.notebook && work();
      disposed.connect(() => mine(() => this.start((this.notebook = null))));
      sessionContext.kernelChanged.connect(() => mine(() => this.start()));
      let restarts = false;
      sessionContext.statusChanged.connect((_, status) => {
        if (restarts && status === "idle") mine(() => this.start());
        restarts = status.endsWith("restarting") || (restarts && status !== "idle");
      });
      sessionContext.iopubMessage.connect((_, { content, parent_header }) => {
        const ended = content.execution_state === "idle" && parent_header.msg_type === "execute_request";
        if (ended) mine(() => this.refresh());
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
    const say = (...words) => notebook === this.notebook && this.say(...words);
    const waits = setTimeout(() => say(this.kernel?.status === "busy" ? BUSY : said), PATIENCE);
    try {
      const done = await work();
      say("");
      return done;
    } catch (error) {
      say(error?.message || "The kernel does not answer.", true);
      return null;
    } finally {
      clearTimeout(waits);
    }
  }

  /** Ask the kernel; what waits for an endpoint is asked for again until it is there. */
  async ask(word, given = {}) {
    const { kernel } = this;
    if (!kernel) throw new Error(this.notebook ? NO_KERNEL : NO_NOTEBOOK);
    const job = `${Date.now()}-${Math.random()}`; // crypto.randomUUID needs https, which not every hub has
    const code = `%%gqlnb-panel\n${JSON.stringify({ do: word, job, ...given })}`;
    for (;;) {
      const { content } = await kernel.requestComplete({ code, cursor_pos: code.length });
      const answer = content.metadata?.gqlnb;
      if (!answer || answer.error) throw new Error(answer?.error ?? NOT_LOADED);
      if (!answer.waiting) return answer;
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("gqlnb-wrong", wrong);
  }

  /** Ask for the state of the kernel and show it. */
  async refresh() {
    if (!this.widget.isVisible) return;
    const turn = ++this.turn;
    const waits = setTimeout(() => this.kernel?.status === "busy" && this.say(BUSY), PATIENCE);
    const failed = ({ message }) => [null, message || NOT_LOADED];
    const [state, reason] = await this.ask("state").then((it) => [it, ""], failed);
    clearTimeout(waits);
    if (this.status.textContent === BUSY) this.say("");
    if (turn === this.turn) this.show(state, reason);
  }

  show(state, reason = "") {
    this.state = state;
    const label = this.widget.node.contains(document.activeElement) && document.activeElement.ariaLabel;
    const views = { Endpoints: () => this.endpoints(), Schema: () => this.schema.node, History: () => this.history() };
    this.target ||= state?.default;
    const tab = (name) =>
      Object.assign(button(name, () => this.open(name)), { ariaPressed: String(name === this.view) });
    this.tabs.replaceChildren(...(state ? Object.keys(views).map(tab) : []));
    const load = button("Load gqlnb", () => this.run(() => this.load(), "Loading …").then(() => this.refresh()));
    const parts = state ? [views[this.view]()] : [make("p", {}, reason), reason === NOT_LOADED ? load : ""];
    if (this.body.firstChild !== parts[0]) this.body.replaceChildren(...parts); // else it would scroll to its top
    if (state && this.view === "Schema") this.schema.show();
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

  /** Change something, and show what came of it. */
  async change(word, given) {
    await this.run(() => this.ask(word, given));
    await this.refresh();
  }

  endpoints() {
    const { endpoints, fault } = this.state;
    const rows = endpoints.map((endpoint) => this.endpoint(endpoint));
    return make("div", {}, make("p", {}, fault), make("ul", { className: "gqlnb-list" }, ...rows), this.form());
  }

  endpoint({ name, about, token, schema, budget, where, asks, editable }) {
    const said = make("p", { role: "status" });
    const isCurrent = name === this.state.current;
    const { Dialog, InputDialog, showDialog } = this.modules;
    const test = () => {
      said.textContent = "Waiting for an answer …";
      const tested = this.ask("test", { target: name });
      return tested.then(({ text }) => text, ({ message }) => message).then((text) => (said.textContent = text));
    };
    const rename = async () => {
      const { value } = await InputDialog.getText({ title: `Rename ${name}`, text: name });
      if (value && value !== name) this.change("change", { name, new_name: value });
    };
    const remove = async () => {
      const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: "Remove" })];
      const asked = await showDialog({ title: `Remove ${name}?`, body: `It is removed from ${where}.`, buttons });
      if (asked.button.accept) this.change("change", { name, new_name: null });
    };
    const connect = () => this.addCell(`%graphql connect ${name}`, true);
    const lines = [about, token && `token: ${token}`, schema, budget && `left: ${budget}`, where];
    const actions = [
      button("Schema", () => this.schema.choose(name), `Schema of ${name}`),
      asks ? button("Connect", connect, `Connect ${name} in a cell`) : button("Test", test, `Test ${name}`),
      isCurrent ? "" : button("Use", () => this.change("use", { name }), `Use ${name}`),
      editable ? button("Rename", rename, `Rename ${name}`) : "",
      editable ? button("Remove", remove, `Remove ${name}`) : "",
    ];
    const head = make("h3", {}, name, isCurrent ? make("span", { className: "gqlnb-mark" }, "current") : "");
    const paragraphs = lines.filter(Boolean).map((line) => make("p", {}, line));
    return make("li", {}, head, ...paragraphs, make("div", { className: "gqlnb-actions" }, ...actions), said);
  }

  /** The form of a new endpoint. A token is chosen by its source: no box here takes one. */
  form() {
    const name = make("input", { required: true, pattern: "[\\w\\-]+", placeholder: "name", ariaLabel: "Name" });
    const url = make("input", { required: true, type: "url", placeholder: "https://…/graphql", ariaLabel: "Address" });
    const variables = this.state.variables.map((it) => [`env:${it}`, `environment: ${it}`]);
    const options = [...Object.entries(SOURCES), ...variables].map(([value, text]) => make("option", { value }, text));
    const token = make("select", { ariaLabel: "Token from" }, ...options);
    const onsubmit = (event) => {
      event.preventDefault();
      const source = token.value === "keyring" ? `keyring:${name.value}` : token.value;
      this.change("add", { name: name.value, url: url.value, token: source });
    };
    const form = make("form", { onsubmit }, name, url, token, make("button", { type: "submit" }, "Add"));
    return make("details", {}, make("summary", {}, "Add an endpoint"), form);
  }

  history() {
    const row = ({ cell, name, operation, text = "", about = "" }) => {
      const again = button("New cell", () => this.addCell(cell), `New cell: ${name ?? text}`);
      const code = make("p", {}, make("code", {}, text));
      return make("li", {}, make("h3", {}, name ?? operation), code, make("p", {}, about), again);
    };
    const list = (rows, none) =>
      rows.length ? make("ul", { className: "gqlnb-list" }, ...rows.map(row)) : make("p", {}, none);
    const ran = list(this.state.history, "No operation has run in this kernel yet.");
    const saved = list(this.state.snippets, "None yet: %%graphql --save NAME keeps a cell.");
    return make("div", {}, ran, make("h2", {}, "Saved cells"), saved);
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
    const lines = text.split("\n");
    const depths = lines.map((it) => it.search(/\S|$/));
    const line = depths.lastIndexOf(Math.max(...depths));
    cell.editor?.setCursorPosition({ line, column: lines[line].length });
    cell.editor?.focus();
  }

  /** Put fields at the cursor of the active cell, on lines of their own. */
  insert(text) {
    const { editor, model } = this.notebook.content.activeCell ?? {};
    if (!editor || !/^\s*%%(graphql|gql)\b/.test(model.sharedModel.getSource()))
      throw new Error("The active cell is not a %%graphql cell. Press New cell.");
    const { line, column } = editor.getCursorPosition();
    const [before, after] = [editor.getLine(line).slice(0, column), editor.getLine(line).slice(column)];
    const outer = `\n${before.match(/^\s*/)[0]}`;
    const margin = /[{(]\s*$/.test(before) ? `${outer}  ` : outer;
    const lines = text.split("\n").join(margin);
    editor.replaceSelection(`${before.trim() ? margin : ""}${lines}${after.trim() ? outer : ""}`);
    editor.focus();
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
