// Runs cells in a kernel and shows their outputs with VS Code's widget manager.
const VIEW = "application/vnd.jupyter.widget-view+json";

window.showCells = async (url, cells) => {
  const area = document.createElement("main");
  area.id = "vscode";
  area.style = "position: fixed; inset: 0; z-index: 9999; overflow: auto; background: white";
  document.body.append(area);
  const { sessions } = window.jupyterapp.serviceManager;
  const session = await sessions.startNew({
    path: "vscode.ipynb", name: "", type: "notebook", kernel: { name: "python3" },
  });
  const { kernel } = session;
  await kernel.info;
  window.vscIPyWidgets8.load();
  const scripts = {
    widgetsRegisteredInRequireJs: new Set(),
    // As the extension does for packages that are installed beside the kernel.
    async loadWidgetScript(name) {
      window.requirejs.config({ paths: { [name]: `${url}/nbextensions/${name}/index` } });
    },
    errorHandler(...reason) { console.error("gqlnb:", ...reason.map(String)); },
    successHandler() {},
  };
  const manager = new window.vscIPyWidgets.WidgetManager(kernel, area, scripts, () => {});
  for (const code of cells) {
    const output = area.appendChild(document.createElement("section"));
    const shown = [];
    const future = kernel.requestExecute({ code, allow_stdin: true });
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "error") {
        console.error("gqlnb:", content.evalue);
      } else if (content.data?.[VIEW]) {
        shown.push(show(manager, content.data[VIEW], output));
      } else if (content.data?.["text/html"]) {
        output.innerHTML = content.data["text/html"];
      }
    };
    await future.done;
    await Promise.all(shown);
  }
};

async function show(manager, data, node) {
  const model = await manager.get_model(data.model_id);
  const view = await manager.create_view(model, { el: node });
  await manager.display_view(data, view, { node });
}
