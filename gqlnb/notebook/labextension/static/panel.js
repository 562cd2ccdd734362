// The side panel: endpoints, schema and history of the active notebook's kernel. All it shows comes
// from the kernel (notebook/panel.py), which sends no secret; texts become text nodes.

import { isGraphql } from "./graphql.js";
import { addCommands } from "./panel_commands.js";
import { SchemaTree } from "./panel_schema.js";
import { ICON, STYLE, make } from "./panel_style.js";

const AGAIN = 150; // ms until a thread is asked again how far it is, or a pressed panel is drawn again
const PATIENCE = 300; // ms until a busy kernel is said
const NO_KERNEL = "Open a notebook, and choose its kernel: the panel shows what it knows.";
const NOT_LOADED = "gqlnb is not loaded in this kernel.";
const WAITING = "Waiting for an answer …";
const BUSY = "The kernel is busy. This waits in line.";
const KEYRING = "keyring:"; // followed by the name of the endpoint
const SOURCES = { "": "no token", prompt: "asked for in a cell", [KEYRING]: "keyring, entry of this name" };

class Panel {
  view = "Endpoints";

  constructor(app, tracker, modules) {
    Object.assign(this, { app, tracker, modules, widget: new modules.Widget(), schema: new SchemaTree(this) });
    this.widget.id = "gqlnb-panel";
    this.widget.addClass("jp-SidePanel");
    this.widget.title.caption = "GraphQL: endpoints, schema, history";
    this.widget.title.icon = new modules.LabIcon({ name: "gqlnb:panel", svgstr: ICON });
    this.widget.onAfterShow = () => this.refresh();
    this.tabs = make("div", { className: "gqlnb-tabs", role: "group", ariaLabel: "View" });
    this.status = make("p", { role: "status" });
    this.body = make("div", { className: "gqlnb-main" });
    // The status comes last: whatever it says, no row moves from below the pointer.
    this.widget.node.append(this.tabs, this.body, this.status);
    tracker.widgetAdded.connect((_, notebook) => this.watch(notebook));
    tracker.currentChanged.connect(() => this.start());
    this.start();
  }

  get kernel() {
    return this.tracker.currentWidget?.sessionContext.session?.kernel ?? null;
  }

  /** Show what changes in the kernel of a notebook. */
  watch(notebook) {
    const { sessionContext } = notebook;
    const mine = (work) => notebook === this.tracker.currentWidget && work();
    const start = () => mine(() => this.start());
    sessionContext.kernelChanged.connect(start);
    // Later: JupyterLab cancels what a kernel is asked before it restarts.
    sessionContext.statusChanged.connect((_, status) => status.endsWith("restarting") && queueMicrotask(start));
    sessionContext.iopubMessage.connect((_, { content, parent_header }) => {
      const ended = content.execution_state === "idle" && parent_header.msg_type === "execute_request";
      if (ended) mine(() => this.refresh());
    });
  }

  /** Begin with another kernel. */
  start() {
    this.state = {}; // the kernel's answer, or the reason why there is none
    this.tested = {}; // what Test found out, by endpoint
    this.schema.reset("");
    this.say("");
    this.show();
    this.refresh();
  }

  /** Ask the kernel; what waits for an endpoint is asked for again until it is there. */
  async ask(word, given = {}) {
    const { kernel } = this;
    if (!kernel) throw new Error(NO_KERNEL);
    const job = `${Date.now()}-${Math.random()}`; // crypto.randomUUID needs https, which not every hub has
    const code = `%%gqlnb-panel\n${JSON.stringify({ do: word, job, ...given })}`;
    for (;;) {
      const waits = setTimeout(() => kernel.status === "busy" && this.say(BUSY), PATIENCE);
      const { content } = await kernel.requestComplete({ code, cursor_pos: code.length }).finally(() => clearTimeout(waits));
      if (kernel !== this.kernel) return new Promise(() => {}); // nobody waits for it any more
      if (this.status.textContent === BUSY) this.say("");
      const answer = content.metadata?.gqlnb;
      if (!answer || answer.error) throw new Error(answer?.error ?? NOT_LOADED);
      if (!answer.waiting) return answer;
      this.say(WAITING);
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  /** Do what was pressed; what went wrong is said. */
  async run(work) {
    const { kernel } = this;
    try {
      const done = await work();
      this.say("");
      return done;
    } catch (error) {
      if (kernel === this.kernel) this.say(error?.message || "The kernel does not answer.", true);
      return null;
    }
  }

  /** Return a button; its label says what it does to whoever does not see what it is beside. */
  button(text, work, label = text) {
    const onclick = () => this.run(work);
    return make("button", { type: "button", textContent: text, onclick, ariaLabel: label, title: label });
  }

  say(text, wrong = false) {
    Object.assign(this.status, { textContent: text, className: wrong ? "gqlnb-wrong" : "" });
  }

  /** Ask for the state of the kernel and show it. */
  async refresh() {
    if (!this.widget.isVisible) return;
    this.state = await this.ask("state").catch(({ message }) => ({ reason: message || NOT_LOADED }));
    this.show();
  }

  show() {
    clearTimeout(this.later);
    // A button that is replaced between press and release would not be clicked.
    if (this.widget.node.matches(":active")) {
      this.later = setTimeout(() => this.show(), AGAIN);
      return;
    }
    const { reason = "", endpoints } = this.state;
    const focused = this.widget.node.contains(document.activeElement) && document.activeElement;
    const views = { Endpoints: () => this.endpoints(), Schema: () => this.schema.show(), History: () => this.history() };
    const tab = (name) =>
      Object.assign(this.button(name, () => this.open(name)), { ariaPressed: String(name === this.view) });
    this.tabs.replaceChildren(...(endpoints ? Object.keys(views).map(tab) : []));
    const load = this.button("Load gqlnb", () => this.load());
    const node = endpoints ? views[this.view]() : make("div", {}, make("p", {}, reason), reason === NOT_LOADED ? load : "");
    if (this.body.firstChild !== node) this.body.replaceChildren(node); // else it would scroll to its top
    const same = focused && this.widget.node.querySelector(`[aria-label=${JSON.stringify(focused.ariaLabel)}]`);
    if (focused) (focused.isConnected ? focused : (same ?? this.tabs.firstChild))?.focus();
  }

  open(view) {
    this.view = view;
    this.show();
    return this.refresh();
  }

  async load() {
    this.say("Loading …");
    const { content } = await this.kernel.requestExecute({ code: "%load_ext gqlnb", store_history: false }).done;
    if (content.status !== "ok") throw new Error(content.evalue);
  }

  /** Change something, and show what came of it. */
  async change(word, given) {
    await this.ask(word, given);
    this.schema.reset(""); // its endpoint may have another name now
    await this.refresh();
  }

  endpoints() {
    const { endpoints, note } = this.state;
    const rows = endpoints.map((endpoint) => this.endpoint(endpoint));
    if (!this.form?.open) this.form = this.createForm(); // what is being typed stays
    return make("div", {}, make("p", {}, note), make("ul", { className: "gqlnb-list" }, ...rows), this.form);
  }

  endpoint({ name, about, token, schema, budget, where, asks, editable }) {
    const mark = name === this.state.current ? make("span", { className: "gqlnb-mark" }, "current") : "";
    const { Dialog, InputDialog, showDialog } = this.modules;
    const test = async () => {
      this.tested[name] = WAITING;
      this.show();
      this.tested[name] = await this.ask("test", { target: name }).then(({ text }) => text, ({ message }) => message);
      return this.refresh();
    };
    const rename = async () => {
      const { value } = await InputDialog.getText({ title: `Rename ${name}`, text: name });
      if (value && value !== name) await this.change("change", { name, new_name: value });
    };
    const remove = async () => {
      const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: "Remove" })];
      const asked = await showDialog({ title: `Remove ${name}?`, body: `It is removed from ${where}.`, buttons });
      if (asked.button.accept) await this.change("change", { name, new_name: null });
    };
    const connect = () => this.addCell(`%graphql connect ${name}`, true);
    const actions = [
      this.button("Schema", () => this.schema.choose(name).then(() => this.schema.box.focus()), `Schema of ${name}`),
      asks ? this.button("Connect", connect, `Connect ${name} in a cell`) : this.button("Test", test, `Test ${name}`),
      mark ? "" : this.button("Use", () => this.change("use", { name }), `Use ${name}`),
      ...(editable ? [this.button("Rename", rename, `Rename ${name}`), this.button("Remove", remove, `Remove ${name}`)] : []),
    ];
    const lines = [about, token && `token: ${token}`, schema, budget && `left: ${budget}`, where];
    return this.entry([name, mark], lines, actions, this.tested[name]);
  }

  /** Return an entry of a list: its name, lines, buttons, and what came of them. */
  entry(name, lines, actions, said = "") {
    const paragraphs = lines.filter(Boolean).map((line) => make("p", {}, line));
    const bar = make("div", { className: "gqlnb-actions" }, ...actions);
    return make("li", {}, make("h3", {}, ...name), ...paragraphs, bar, make("p", { role: "status" }, said));
  }

  /** Create the form of a new endpoint. A token is chosen by its source: no box here takes one. */
  createForm() {
    const variables = this.state.variables.map((it) => [`env:${it}`, `environment: ${it}`]);
    const options = [...Object.entries(SOURCES), ...variables].map(([value, text]) => make("option", { value }, text));
    const onsubmit = async (event) => {
      event.preventDefault();
      const given = Object.fromEntries(new FormData(event.target));
      if (given.token === KEYRING) given.token += given.name;
      if (await this.run(() => this.ask("add", given))) this.form = null;
      this.refresh();
    };
    const parts = [
      make("input", { name: "name", required: true, pattern: "[\\w\\-]+", placeholder: "name", ariaLabel: "Name" }),
      make("input", { name: "url", required: true, type: "url", placeholder: "https://…/graphql", ariaLabel: "Address" }),
      make("select", { name: "token", ariaLabel: "Token from" }, ...options),
      make("button", { type: "submit" }, "Add"),
    ];
    return make("details", {}, make("summary", {}, "Add an endpoint"), make("form", { onsubmit }, ...parts));
  }

  history() {
    const row = ({ cell, name, text = "", about = "" }) => {
      const again = this.button("New cell", () => this.addCell(cell), `New cell: ${text || name}`);
      return this.entry([name], [text && make("code", {}, text), about], [again]);
    };
    const list = (rows, none) =>
      make("ul", { className: "gqlnb-list" }, ...(rows.length ? rows.map(row) : [make("li", {}, none)]));
    const ran = list(this.state.history, "No operation has run in this kernel yet.");
    const saved = list(this.state.snippets, "None yet: %%graphql --save NAME keeps a cell.");
    return make("div", {}, ran, make("h2", {}, "Saved cells"), saved);
  }

  /** Add a cell below the active one, its cursor in the innermost selection. */
  async addCell(text, runs = false) {
    const { app, tracker: { currentWidget: notebook } } = this;
    app.shell.activateById(notebook.id);
    await app.commands.execute("notebook:insert-cell-below");
    const cell = notebook.content.activeCell;
    cell.model.sharedModel.setSource(text);
    if (runs) return app.commands.execute("notebook:run-cell");
    await cell.ready;
    notebook.content.mode = "edit";
    const [before] = text.split(/\n\s*}/); // of the first brace that closes
    cell.editor?.setCursorPosition(cell.editor.getPositionAt(before.length));
  }

  /** Put fields at the cursor of the active cell, on lines of their own. */
  insert(text) {
    const { editor, model } = this.tracker.currentWidget.content.activeCell ?? {};
    if (!editor || !isGraphql(model.sharedModel.getSource()))
      throw new Error("The active cell is not a %%graphql cell. Press New cell.");
    const { line, column } = editor.getCursorPosition();
    const [before, after] = [editor.getLine(line).slice(0, column), editor.getLine(line).slice(column)];
    const outer = `\n${before.match(/^\s*/)[0]}`;
    const margin = /[{(]\s*$/.test(before) ? `${outer}  ` : outer;
    editor.replaceSelection((before.trim() && margin) + text.replaceAll("\n", margin) + (after.trim() && outer));
    editor.focus();
  }
}

/** The plugin, made of the modules that JupyterLab shares. */
export const panelPlugin = (modules) => ({
  id: "gqlnb:panel",
  description: "The side panel, and the commands of GraphQL cells.",
  autoStart: true,
  requires: [modules.INotebookTracker],
  optional: [modules.ICommandPalette],
  activate(app, tracker, palette) {
    document.head.append(make("style", { textContent: STYLE }));
    const panel = new Panel(app, tracker, modules);
    app.shell.add(panel.widget, "left", { rank: 600 });
    addCommands(app, palette, panel);
  },
});
