// The commands of GraphQL cells: in the palette, by shortcuts, in the menu of a cell.

const GRAPHQL = "[data-gqlnb=graphql]"; // an editor of GraphQL
let formatter = null; // Prettier, which the kernel has; loaded when it is first used

async function loadFormatter(panel) {
  const { text } = await panel.ask("formatter");
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(url).finally(() => URL.revokeObjectURL(url));
}

/** Return the number of characters before an offset, which the editor counts in UTF-16. */
const count = (text, offset) => Array.from(text.slice(0, offset)).length;

/** Replace the source of a cell in one step of its history, the cursor near where it was. */
function replace({ editor, model: { sharedModel } }, text) {
  const cursor = editor.getCursorPosition();
  sharedModel.updateSource(0, sharedModel.getSource().length, text);
  editor.setCursorPosition(cursor);
}

export function addCommands(app, palette, panel) {
  const { InputDialog, showErrorMessage } = panel.modules;
  const cell = () => app.shell.currentWidget?.content?.activeCell ?? null;
  const edit = async (action, title, text) => {
    const { editor, model } = cell();
    const code = model.sharedModel.getSource();
    const { start, end } = editor.getSelection();
    const [from, to] = [start, end].map((at) => count(code, editor.getOffsetAt(at))).sort((a, b) => a - b);
    const name = title ? (await InputDialog.getText({ title, text })).value : "";
    if (title && !name) return {};
    const answer = await panel.ask("edit", { action, code, start: from, end: to, name });
    if (answer.code) replace(cell(), answer.code);
    return answer;
  };
  const format = async () => {
    formatter ??= loadFormatter(panel).catch((error) => {
      formatter = null;
      throw error;
    });
    const [line, ...rest] = cell().model.sharedModel.getSource().split("\n");
    const text = rest.join("\n");
    const formatted = (await (await formatter).formatText(text)).trimEnd();
    await panel.ask("compare", { text, formatted });
    replace(cell(), `${line}\n${formatted}`);
  };
  const document = async () => {
    const { target, place } = await edit("document");
    app.shell.activateById(panel.widget.id);
    await panel.schema.choose(target);
    await panel.schema.document([place]);
  };
  const show = () => app.shell.activateById(panel.widget.id);
  const commands = [
    ["format", "Format GraphQL", "Alt Shift F", format],
    ["document", "Documentation of the Name at the Cursor", "Alt Shift D", document],
    ["fragment", "Extract the Selection as a Fragment", "Alt Shift E", () => edit("fragment", "Name of the fragment", "Fields")],
    ["rename", "Rename the Alias or Variable at the Cursor", "Alt Shift R", () => edit("rename", "New name", "")],
    ["show-panel", "Show the GraphQL Panel", "Alt Shift G", show],
  ];
  for (const [name, label, keys, work] of commands) {
    const command = `gqlnb:${name}`;
    const isEnabled = () => work === show || Boolean(cell()?.editor?.host.querySelector(GRAPHQL));
    const execute = async () => {
      panel.follow();
      const done = await panel.run(async () => (await work()) ?? true);
      // What went wrong is said in a dialog where the panel is out of sight.
      if (!done && !panel.widget.isVisible) await showErrorMessage(label, panel.status.textContent);
    };
    app.commands.addCommand(command, { label, isEnabled, execute });
    app.commands.addKeyBinding({ command, keys: [keys], selector: work === show ? "body" : `.jp-Notebook ${GRAPHQL}` });
    palette?.addItem({ command, category: "GraphQL" });
    if (work !== show) app.contextMenu.addItem({ command, selector: `.jp-CodeCell:has(${GRAPHQL})`, rank: 50 });
  }
}
