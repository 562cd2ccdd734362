// What the extension adds to the values of cells: "Open as grid" below a result, and the address of
// a server whose port the system chose. It is in the page alone, so that nothing of it is saved.

import { addGridButton, addStyle } from "./grid_button.js";

const ATTEMPTS = 20; // to ask about a value while the kernel drops requests

/** Return the cell of a notebook that a node is in, and the session; null if it is in none. */
function findCell(app, node) {
  for (const { content, sessionContext } of app.shell.widgets("main")) {
    const cell = content?.widgets?.find?.((each) => each.node.contains(node));
    if (cell) return { cell, session: sessionContext?.session };
  }
  return null;
}

/** Return the kernel, cell and value of an output, or null if it is no value of a notebook's cell. */
function locate(app, node) {
  const { cell, session } = findCell(app, node) ?? {};
  const outputs = cell?.model.outputs?.toJSON() ?? [];
  const value = outputs.find(({ output_type }) => output_type === "execute_result");
  const kernel = session?.kernel;
  return kernel && value ? { kernel, cell, value } : null;
}

/** Mark an error that is a sentence without lines of code, as those of gqlnb are: its words stay whole. */
function markError(app, node) {
  const { cell } = findCell(app, node) ?? {};
  const at = cell?.outputArea?.widgets.findIndex((each) => each.node.contains(node)) ?? -1;
  const { ename, traceback } = cell?.model.outputs?.get(at)?.toJSON() ?? {};
  if (ename && traceback?.[0]?.startsWith(`${ename}: `)) node.classList.add("gqlnb-error");
}

/** Ask the kernel for the type and the address of a value; empty if another session made it. */
async function describe({ kernel, cell, value: { execution_count: count } }) {
  const source = JSON.stringify(cell.model.sharedModel.getSource().trim());
  const ran = `get_ipython().history_manager.input_hist_raw[${count}].strip()`;
  const found = `[type(Out[${count}]).__name__, str(getattr(Out[${count}], "url", ""))]`;
  const value = `__import__("json").dumps(${found} if ${ran} == ${source} else ["", ""])`;
  const request = { code: "", silent: true, store_history: false, user_expressions: { value } };
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const { content } = await kernel.requestExecute(request).done;
    const text = content.user_expressions?.value?.data?.["text/plain"];
    if (text) return JSON.parse(text.slice(1, -1));
    if (content.status !== "aborted") break; // as is all that waits when a cell fails
  }
  return ["", ""];
}

async function decorate(app, modules, node) {
  const output = locate(app, node);
  if (!output) return;
  const [type, url] = await describe(output);
  if (["Result", "DataFrame"].includes(type) && node.querySelector("thead")) {
    addGridButton(modules, output, node);
  } else if (type === "Server" && /^https?:\/\//.test(url)) {
    const link = document.createElement("a");
    Object.assign(link, { href: url, textContent: url, target: "_blank", rel: "noopener" });
    node.replaceChildren("GraphQL at ", link);
  }
}

/** Watch the page for values of gqlnb, of cells that run and of notebooks that are opened. */
export function watchOutputs(app, modules) {
  addStyle();
  const watcher = new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (node.querySelector?.(":scope > .jp-RenderedText")) markError(app, node);
        const found = node.matches?.(".gqlnb") ? node : node.querySelector?.(".gqlnb");
        if (found?.closest(".jp-OutputArea-executeResult") && !found.dataset.gqlnb) {
          found.dataset.gqlnb = "seen";
          decorate(app, modules, found).catch(() => {}); // the kernel may be gone
        }
      }
    }
  });
  watcher.observe(document.body, { childList: true, subtree: true });
}
