// The commands of GraphQL cells: in the palette, by shortcuts, in the menu of a cell.

const CATEGORY = "GraphQL";
const SELECTOR = ".jp-Notebook [data-gqlnb=graphql]";
let formatter = null; // loaded when it is first used

/** Format the text of a cell; its first line, of the magic, stays as it is. */
export async function format(source, { formatText }) {
  const [line, ...rest] = source.split("\n");
  const text = await formatText(rest.join("\n"));
  return `${line}\n${text.trimEnd()}`;
}

/** Return the module with Prettier, which the kernel has. */
async function loadFormatter(panel) {
  const { text } = await panel.ask("formatter");
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(url).finally(() => URL.revokeObjectURL(url));
}

/** Return the number of characters before an offset, which the editor counts in UTF-16. */
const count = (text, offset) => Array.from(text.slice(0, offset)).length;

export function addCommands(app, palette, panel) {
  const { InputDialog } = panel.modules;
  const cell = () => app.shell.currentWidget?.content?.activeCell ?? null;
  const edit = async (action, title, text) => {
    const { editor, model } = cell();
    const code = model.sharedModel.getSource();
    const { start, end } = editor.getSelection();
    const [from, to] = [start, end].map((at) => count(code, editor.getOffsetAt(at))).sort((a, b) => a - b);
    const name = title ? (await InputDialog.getText({ title, text })).value : "";
    if (title && !name) return null;
    const answer = await panel.ask("edit", { action, code, start: from, end: to, name });
    if (answer.code) replace(cell(), answer.code);
    return answer;
  };
  const commands = {
    format: ["Format GraphQL", "Alt Shift F", async () => {
      formatter ??= loadFormatter(panel);
      formatter.catch(() => (formatter = null));
      replace(cell(), await format(cell().model.sharedModel.getSource(), await formatter));
    }],
    document: ["Documentation of the Name at the Cursor", "Alt Shift D", async () => {
      const { target, place } = await edit("document");
      app.shell.activateById(panel.widget.id);
      if (panel.target !== target || panel.view !== "Schema") await panel.schema.choose(target);
      await panel.schema.document([place]);
    }],
    fragment: ["Extract the Selection as a Fragment", "Alt Shift E", () =>
      edit("fragment", "Name of the fragment", "Fields")],
    rename: ["Rename the Alias or Variable at the Cursor", "Alt Shift R", () => edit("rename", "New name", "")],
  };
  for (const [name, [label, keys, work]] of Object.entries(commands)) {
    const command = `gqlnb:${name}`;
    const isEnabled = () => Boolean(cell()?.editor?.host.querySelector("[data-gqlnb=graphql]"));
    const execute = async () => {
      panel.follow();
      const done = await panel.run(async () => (await work()) ?? true);
      // Said in a dialog where the panel, which says it too, is out of sight.
      const { textContent } = panel.status;
      if (!done && !panel.widget.isVisible)
        await panel.modules.showErrorMessage(label, textContent);
    };
    app.commands.addCommand(command, { label, isEnabled, execute });
    app.commands.addKeyBinding({ command, keys: [keys], selector: SELECTOR });
    app.contextMenu.addItem({ command, selector: `.jp-Notebook .jp-CodeCell:has([data-gqlnb=graphql])`, rank: 50 });
    palette?.addItem({ command, category: CATEGORY });
  }
  const show = "gqlnb:show-panel";
  app.commands.addCommand(show, { label: "Show the GraphQL Panel", execute: () => app.shell.activateById(panel.widget.id) });
  app.commands.addKeyBinding({ command: show, keys: ["Alt Shift G"], selector: "body" });
  palette?.addItem({ command: show, category: CATEGORY });
}

/** Replace the source of a cell in one step of its history, with the cursor near where it was. */
function replace({ editor, model }, text) {
  const cursor = editor.getCursorPosition();
  model.sharedModel.updateSource(0, model.sharedModel.getSource().length, text);
  editor.setCursorPosition(cursor);
}
