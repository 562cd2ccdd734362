// The button "Open as grid" below a result. The grid takes the place of the table in the page, not in
// the notebook: what is saved stays the same.

const VIEW = "application/vnd.jupyter.widget-view+json";
const LABELS = { closed: "Open as grid", opening: "Opening …", open: "Close the grid" };
const STYLE = `
.gqlnb-error .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.gqlnb-open { display: flex; align-items: center; gap: 8px; margin: 6px 0; }
.gqlnb-grid-open > :not(.gqlnb-open, .gqlnb-opened) { display: none; }
@media print { .gqlnb-open { display: none; } }
`;

/** Return the code that shows the result of an output; the kernel checks that it still has it. */
export const opening = (count, text) =>
  '__import__("gqlnb.notebook.widgets.result_view", fromlist=["show_grid"])' +
  `.show_grid(${Number(count)}, ${JSON.stringify(text)})`;

/** Run code that is not part of the notebook, and return the data that it displays. */
async function evaluate(kernel, code) {
  let data = {};
  const future = kernel.requestExecute({ code, store_history: false });
  future.onIOPub = ({ content }) => {
    data = content.data ?? data;
  };
  const { content } = await future.done;
  if (content.status !== "ok") throw new Error(content.evalue || "The kernel did not answer.");
  return data;
}

/** Make the grid of a value, for as long as its output is there. */
async function makeGrid({ MimeModel, Widget }, { kernel, cell, value }, node) {
  if (kernel.isDisposed) throw new Error("There is no kernel. Start one, and run the cell again.");
  const text = [value.data["text/plain"]].flat().join("");
  const { [VIEW]: view } = await evaluate(kernel, opening(value.execution_count, text));
  const { model, rendermime } = cell.outputArea;
  const grid = rendermime.createRenderer(VIEW);
  await grid.renderModel(new MimeModel({ data: { [VIEW]: view }, trusted: true }));
  grid.addClass("gqlnb-opened");
  Widget.attach(grid, node);
  cell.disposed.connect(() => grid.dispose());
  model.changed.connect(() => cell.node.contains(node) || grid.dispose());
  return grid;
}

/** Put the button below a value, which `node` shows; the grid is made once. */
export function addGridButton(modules, output, node) {
  const button = document.createElement("button");
  const said = document.createElement("span");
  const bar = document.createElement("div");
  bar.className = "gqlnb-open";
  button.className = "jp-Button jp-mod-styled";
  button.type = "button";
  said.role = "status";
  bar.append(button, said);
  let grid = null;
  const set = (state) => {
    button.textContent = LABELS[state];
    node.classList.toggle("gqlnb-grid-open", state === "open");
    grid?.setHidden(state !== "open");
  };
  const open = async () => {
    set("opening");
    said.textContent = "";
    try {
      grid ??= await makeGrid(modules, output, node);
      set("open");
    } catch (error) {
      set("closed");
      said.textContent = error.message;
    }
  };
  button.addEventListener("click", () => {
    if (button.textContent === LABELS.closed) open();
    else if (button.textContent === LABELS.open) set("closed");
  });
  set("closed");
  node.append(bar);
}

/** Give the page the style of the buttons and of errors. */
export function addStyle() {
  const style = document.createElement("style");
  style.textContent = STYLE;
  document.head.append(style);
}
