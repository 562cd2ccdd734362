// GraphQL in the cells that begin with %%graphql: colours, indentation, Ctrl-Space.

const CELL = /^\s*%%(?:graphql|gql)\b/;
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
  stream.skipToEnd();
  state.magic = !blank;
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
export function editing({ language, state, view }, text) {
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
  return [kind.of(isGraphql(text) ? on : []), switching];
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
  return {
    id: "gqlnb:graphql",
    description: "GraphQL in cells that begin with %%graphql.",
    autoStart: true,
    requires: [IEditorExtensionRegistry],
    activate(app, registry) {
      registry.addExtension({
        name: "gqlnb:graphql",
        factory: ({ model }) =>
          EditorExtensionRegistry.createImmutableExtension(
            editing(modules, model.sharedModel.getSource()),
          ),
      });
      // Tab on a line of white space indents, so that completion needs a key of its own there.
      app.commands.addKeyBinding({
        command: "completer:invoke-notebook",
        keys: ["Ctrl Space"],
        selector: ".jp-Notebook.jp-mod-editMode [data-gqlnb]",
      });
      document.addEventListener("gqlnb:insert-cell", (event) => insertCell(app, event));
    },
  };
}
