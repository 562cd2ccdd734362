// The commands of GraphQL cells: in the palette, by shortcuts, in the menu of a cell.

const GRAPHQL = "[data-gqlnb=graphql]"; // an editor of GraphQL
let formatter = null; // Prettier, which the kernel has; loaded when it is first used

export function addCommands(app, palette, panel) {
  const { InputDialog, showErrorMessage } = panel.modules;
  const cell = () => panel.tracker.currentWidget?.content.activeCell;
  /** Let the kernel edit the active cell, by a text that `getText` returns; none ends it. */
  const edit = async (action, getText) => {
    const { editor, model: { sharedModel } } = cell();
    const code = sharedModel.getSource();
    const { start, end } = editor.getSelection();
    // In characters, as the kernel counts; the editor does in UTF-16.
    const [from, to] = [start, end].map((at) => Array.from(code.slice(0, editor.getOffsetAt(at))).length).sort((a, b) => a - b);
    const text = await getText?.(code);
    if (getText && !text) return {};
    const answer = await panel.ask("edit", { action, code, start: from, end: to, text });
    const cursor = editor.getCursorPosition();
    if (answer.code && sharedModel.getSource() === code) { // else what was typed meanwhile would be lost
      sharedModel.updateSource(0, code.length, answer.code); // one step of its history
      editor.setCursorPosition(cursor);
    }
    return answer;
  };
  const getName = (title, text) => async () => (await InputDialog.getText({ title, text })).value;
  const format = async (code) => {
    formatter ??= await import((await panel.ask("formatter")).url);
    const [line] = code.match(/^\s*.*\n?/);
    return line + (await formatter.formatText(code.slice(line.length))).trimEnd();
  };
  const extract = () => edit("fragment", getName("Name of the fragment", "Fields"));
  const show = () => app.shell.activateById(panel.widget.id);
  const document = async () => {
    const { target, place } = await edit("document");
    show();
    await panel.schema.choose(target);
    await panel.schema.document([place]);
  };
  const commands = [
    ["format", "Format GraphQL", "Alt Shift F", () => edit("format", format)],
    ["document", "Documentation of the Name at the Cursor", "Alt Shift D", document],
    ["fragment", "Extract the Selection as a Fragment", "Alt Shift E", extract],
    ["rename", "Rename the Alias or Variable at the Cursor", "Alt Shift R", () => edit("rename", getName("New name", ""))],
    ["show-panel", "Show the GraphQL Panel", "Alt Shift G", show],
  ];
  for (const [name, label, keys, work] of commands) {
    const command = `gqlnb:${name}`;
    const isEnabled = () => work === show || Boolean(cell()?.editor?.host.querySelector(GRAPHQL));
    const execute = async () => {
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
