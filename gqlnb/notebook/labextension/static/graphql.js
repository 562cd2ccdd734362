// GraphQL in the cells that begin with %%graphql: colours, indentation, Ctrl-Space.

import { watchOutputs } from "./outputs.js";

// Before it may stand cell magics of IPython that run the rest of the cell as a cell of its own.
const CELL = /^\s*(?:%%(?:capture|prun|time|timeit)\b[^\n]*\n\s*)*%%(?:graphql|gql)\b/;
const LINE = /^\s*(?:[^\W\d]\w*\s*=\s*)?%(?:graphql|gql)\s/;
const START = 200; // characters of a cell that are looked at: a magic stands at its beginning

const KEYWORDS = new Set(["query", "mutation", "subscription", "fragment", "on"]);
const CONSTANTS = new Set(["true", "false", "null"]);

export const isGraphql = (text) => CELL.test(text);

// The tokens of a GraphQL text behind a magic line, one stream a line. `state.type` tells whether
// the next name is a type: behind `on`, and behind the colon of a variable's definition.
export const graphql = {
  name: "graphql",
  startState: () => ({ magic: false, block: false, parens: 0, variables: false, type: false }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (!state.magic) {
      return magic(stream, state);
    }
    if (state.block) {
      return block(stream, state);
    }
    if (stream.eatWhile(/[\s,\ufeff]/)) {
      return null;
    }
    return piece(stream, state);
  },
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{", '"', '"""'] },
    indentOnInput: /^\s*[\])}]$/,
  },
  indent: (state, textAfter, context) => indent(context, textAfter),
};

function magic(stream, state) {
  const blank = stream.match(/^\s*$/);
  state.magic = isGraphql(stream.string);
  stream.skipToEnd();
  return blank ? null : "meta";
}

function block(stream, state) {
  while (!stream.eol()) {
    if (stream.match('\\"""')) {
      continue;
    }
    if (stream.match('"""')) {
      state.block = false;
      break;
    }
    stream.next();
  }
  return "string";
}

function piece(stream, state) {
  if (stream.match(/^#.*/)) {
    return "comment";
  }
  if (stream.match('"""')) {
    state.block = true;
    return block(stream, state);
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) {
    return "string";
  }
  if (stream.match(/^-?\d[\w.+-]*/)) {
    return "number";
  }
  if (stream.match(/^\$\w*/)) {
    return "variableName.special";
  }
  if (stream.match(/^@\w*/)) {
    return "meta";
  }
  if (stream.match("...")) {
    return "operator";
  }
  const name = stream.match(/^[A-Za-z_]\w*/);
  return name ? word(name[0], stream, state) : mark(stream.next(), state);
}

function word(name, stream, state) {
  const type = state.type;
  state.type = name === "on";
  if (state.parens && stream.match(/^\s*:/, false)) {
    return "attributeName"; // an argument may be called as a keyword is
  }
  if (type) {
    return "variableName.standard"; // as int and str are coloured in Python
  }
  if (KEYWORDS.has(name)) {
    state.variables = name !== "fragment" && name !== "on";
    return "keyword";
  }
  if (CONSTANTS.has(name)) {
    return "atom";
  }
  if (/^[A-Z][A-Z0-9_]*$/.test(name)) {
    return "atom"; // how values of enums are written
  }
  return "propertyName";
}

function mark(sign, state) {
  if (sign === "(") {
    state.parens += 1;
  } else if (sign === ")") {
    state.parens = Math.max(0, state.parens - 1);
    state.variables = false;
  } else if (sign === "{") {
    state.variables = state.variables && state.parens > 0;
  }
  state.type = state.variables && state.parens > 0 && (sign === ":" || (sign === "[" && state.type));
  return "()[]{}".includes(sign) ? "bracket" : "punctuation";
}

// As far in as the line above, and a step further where that opened a bracket.
function indent(context, textAfter) {
  const above = lineAbove(context);
  const closes = /^\s*[\])}]/.test(textAfter) ? 1 : 0;
  const opens = /[[({]\s*(?:#.*)?$/.test(above) ? 1 : 0;
  const before = above.match(/^\s*/)[0].length;
  return Math.max(0, before + context.unit * (opens - closes));
}

function lineAbove(context) {
  if (context.simulatedBreak !== null) {
    return context.lineAt(context.pos, -1).text;
  }
  const { doc } = context.state;
  const { number } = doc.lineAt(context.pos);
  return number > 1 ? doc.line(number - 1).text : "";
}

// The extension of one editor: GraphQL while its cell begins with the magic, else nothing, so that
// cells of Python stay as they are.
export function editing({ language, state, view }, text, onLine = () => {}) {
  const kind = new state.Compartment();
  const on = [
    state.Prec.highest(language.StreamLanguage.define(graphql)),
    language.indentUnit.of("  "),
    view.EditorView.editorAttributes.of({ "data-gqlnb": "graphql" }),
  ];
  const inside = (doc) => isGraphql(doc.sliceString(0, START));
  const switching = state.EditorState.transactionExtender.of((change) => {
    if (!change.docChanged) {
      return null;
    }
    const now = inside(change.newDoc);
    if (now === inside(change.startState.doc)) {
      return null;
    }
    return { effects: kind.reconfigure(now ? on : []) };
  });
  const telling = view.EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
    if (docChanged && inside(doc)) onLine(doc.sliceString(0, START).split("\n").find(isGraphql));
  });
  // A cell of Python, while its cursor is in a line that begins with %graphql: for Ctrl-Space.
  const line = view.EditorView.editorAttributes.of(({ state: { doc, selection } }) =>
    LINE.test(doc.lineAt(selection.main.head).text) ? { "data-gqlnb": "line" } : null,
  );
  return [kind.of(isGraphql(text) ? on : []), switching, telling, line];
}

const KINDS = [
  "field", "argument", "input field", "enum value", "type", "directive",
  "variable", "fragment", "keyword", "value", "option", "name",
];
const TYPING = 400; // ms without a key press after which a line is taken to be complete
const WAIT = 250; // ms between two questions about a schema that is being loaded
const QUESTIONS = 40;

/** Return the entry of a completion for JupyterLab; `gqlnb` is read by the renderer below. */
const toItem = ({ name, label, text, kind, type, deprecated }) => ({
  label,
  insertText: text,
  type: type || kind,
  deprecated,
  gqlnb: { name, kind },
});

/** Show a type in its own case, and a letter for the kind of the entry instead of for its type. */
function renderer(usual) {
  return {
    createCompletionItemNode(item, types) {
      const node = usual.createCompletionItemNode(item, types);
      if (!item.gqlnb) return node;
      const { kind } = item.gqlnb;
      const letter = node.querySelector(".jp-Completer-monogram");
      if (letter) {
        letter.textContent = kind[0];
        letter.title = kind;
        letter.dataset.colorIndex = String(Math.max(0, KINDS.indexOf(kind)) % 10 + 1);
      }
      const type = node.querySelector(".jp-Completer-typeExtended");
      type.textContent = item.type;
      // A long type would move the documentation out of the window.
      Object.assign(type.style, { maxWidth: "26ch", overflow: "hidden", textOverflow: "ellipsis" });
      node.title = `${kind} ${item.gqlnb.name}: ${item.type}`;
      return node;
    },
    createDocumentationNode: (item) => usual.createDocumentationNode(item),
    itemWidthHeuristic: (item) => usual.itemWidthHeuristic(item),
  };
}

/** The completion of GraphQL cells: the kernel's entries alone, without words of the cell. */
export class Provider {
  identifier = "gqlnb:completion";
  rank = 1000; // above the kernel's 550, so that our renderer is the one that is used

  constructor({ Completer, CompleterModel }) {
    this.renderer = renderer(Completer.getDefaultRenderer());
    // JupyterLab sorts the names that begin as what is typed; deprecated ones stay the last.
    this.Model = class extends CompleterModel {
      completionItems() {
        return super.completionItems().sort((a, b) => Boolean(a.deprecated) - Boolean(b.deprecated));
      }
    };
  }

  async isApplicable({ editor, session }) {
    if (!session?.kernel || !editor) return false;
    const line = editor.getLine(editor.getCursorPosition().line) ?? "";
    return LINE.test(line) || isGraphql(editor.model.sharedModel.getSource());
  }

  /** JupyterLab asks the first provider for its model; a late answer is put into the last one. */
  async modelFactory() {
    this.model = new this.Model();
    return this.model;
  }

  async fetch({ text, offset }, { session }) {
    const ask = async () => {
      const { content } = await session.kernel.requestComplete({ code: text, cursor_pos: offset });
      if (content.status !== "ok") throw new Error("The kernel did not complete.");
      return content;
    };
    const content = await ask();
    const { items = [], loading = "" } = content.metadata.gqlnb ?? {};
    const answer = { start: content.cursor_start, end: content.cursor_end };
    if (!content.metadata.gqlnb) {
      // The extension of IPython is not loaded: what the kernel knows, as its own provider gives it.
      return { ...answer, items: content.matches.map((label) => ({ label })) };
    }
    if (items.length || !loading) return { ...answer, items: items.map(toItem) };
    this.fillLater(ask, this.model);
    const typed = text.slice(0, offset).match(/\w*$/)[0];
    const label = `loading the schema of ${loading} …`;
    const note = { name: label, label, text: typed, kind: "keyword", type: "please wait" };
    return { ...answer, items: [toItem(note)] };
  }

  /** Replace the note in an open list when the schema is there. */
  async fillLater(ask, model) {
    for (let count = 0; count < QUESTIONS; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, WAIT));
      if (model !== this.model || !model?.original) return; // the list is closed
      const { metadata } = await ask();
      const { items, loading } = metadata.gqlnb ?? { items: [], loading: "" };
      if (items.length || !loading) {
        if (model.original) model.setCompletionItems(items.map(toItem));
        return;
      }
    }
  }

  /** Add the documentation of the selected entry, from the kernel. */
  async resolve(item, { editor, session }) {
    const source = editor.model.sharedModel.getSource();
    const cursor = editor.getOffsetAt(editor.getCursorPosition());
    const start = source.slice(0, cursor).search(/[$\w-]*$/);
    const name = item.gqlnb?.name ?? item.label;
    const code = source.slice(0, start) + name + source.slice(cursor);
    const characters = Array.from(code.slice(0, start + name.length)).length; // not UTF-16 units
    const request = { code, cursor_pos: characters, detail_level: 0 };
    const { content } = await session.kernel.requestInspect(request);
    return content.found ? { ...item, documentation: content.data["text/plain"] } : item;
  }
}

/** Keep other sources of completion, such as the words of a cell, out of GraphQL cells. */
function exclude(manager, own) {
  for (const [name, provider] of manager.getProviders()) {
    if (name !== own.identifier && !provider.gqlnb) {
      const usual = provider.isApplicable.bind(provider);
      provider.gqlnb = true;
      provider.isApplicable = async (context) =>
        !(await own.isApplicable(context)) && usual(context);
    }
  }
}

/** Let the kernel open the connection of a line that is being typed, before Tab is pressed. */
function prepare(app, line, prepared) {
  const kernel = app.shell.currentWidget?.sessionContext?.session?.kernel;
  if (!kernel || prepared.get(kernel) === line) return;
  prepared.set(kernel, line);
  const code = `${line}\n{ `;
  kernel.requestComplete({ code, cursor_pos: [...code].length }).catch(() => {});
}

// Put a cell below the one that the event comes from: the Explorer asks for it. Where this extension
// is not, nobody answers, and it does without.
function insertCell(app, event) {
  const { text } = event.detail ?? {};
  const notebook = app.shell.currentWidget?.content;
  const place = notebook?.widgets?.findIndex?.((cell) => cell.node.contains(event.target)) ?? -1;
  if (place < 0 || typeof text !== "string") {
    return;
  }
  event.preventDefault();
  notebook.activeCellIndex = place;
  app.commands
    .execute("notebook:insert-cell-below")
    .then(() => notebook.activeCell.model.sharedModel.setSource(text));
}

// The plugin, made of the modules that JupyterLab shares.
export function plugin(modules) {
  const { EditorExtensionRegistry, IEditorExtensionRegistry } = modules.codemirror;
  const { ICompletionProviderManager } = modules.completer;
  return {
    id: "gqlnb:graphql",
    description: "GraphQL in cells that begin with %%graphql.",
    autoStart: true,
    requires: [IEditorExtensionRegistry, ICompletionProviderManager],
    activate(app, registry, manager) {
      const provider = new Provider(modules.completer);
      manager.registerProvider(provider);
      app.restored.then(() => exclude(manager, provider));
      const prepared = new WeakMap();
      let timer = 0;
      const onLine = (line) => {
        clearTimeout(timer);
        timer = setTimeout(() => prepare(app, line, prepared), TYPING);
      };
      registry.addExtension({
        name: "gqlnb:graphql",
        factory: ({ model }) =>
          EditorExtensionRegistry.createImmutableExtension(
            editing(modules, model.sharedModel.getSource(), onLine),
          ),
      });
      // Tab on a line of white space indents, so that completion needs a key of its own there.
      app.commands.addKeyBinding({
        command: "completer:invoke-notebook",
        keys: ["Ctrl Space"],
        selector: ".jp-Notebook.jp-mod-editMode [data-gqlnb]",
      });
      watchOutputs(app, { ...modules.lumino, ...modules.rendermime });
      document.addEventListener("gqlnb:insert-cell", (event) => insertCell(app, event));
    },
  };
}
