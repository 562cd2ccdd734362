// Outputs of widgets: live while the kernel has the widget, as the saved HTML in a notebook that was
// opened again. No view is saved: the identifier of its model is another one in each run.

const VIEW = "application/vnd.jupyter.widget-view+json";
const MARK = "application/vnd.gqlnb.widget+json";
const RANK = -20; // before ipywidgets, whose -10 is for the view
const STORE = "gqlnb:views";
const KERNELS = 20; // that are remembered

// Which model an output shows, by kernel and place, for a page that is loaded again.
const views = {
  read: () => JSON.parse(localStorage.getItem(STORE) ?? "{}"),
  get: (kernel, place) => views.read()[kernel]?.[place],
  set(kernel, place, model) {
    const { [kernel]: known, ...others } = views.read();
    const kept = Object.entries(others).slice(1 - KERNELS);
    const all = { ...Object.fromEntries(kept), [kernel]: { ...known, [place]: model } };
    localStorage.setItem(STORE, JSON.stringify(all));
  },
};

/** Return the code cells of a notebook. */
const codeCells = ({ model }) => [...(model?.cells ?? [])].filter(({ type }) => type === "code");

/** Return the place of an output in its notebook; undefined inside of another output. */
function placeOf(notebook, output) {
  for (const { id, outputs } of codeCells(notebook))
    for (let at = 0; at < outputs.length; at += 1) if (outputs.get(at) === output) return `${id}/${at}`;
}

/** Take the views out of the outputs of a cell, once it is remembered which ones they are. */
function strip({ id, outputs }, kernel) {
  for (let at = 0; at < outputs.length; at += 1) {
    const { [VIEW]: view, ...data } = outputs.get(at).data;
    if (!view || !(MARK in data)) continue;
    views.set(kernel.id, `${id}/${at}`, view.model_id);
    outputs.set(at, { ...outputs.get(at).toJSON(), data });
  }
}

/** Return the class of the renderer in a notebook. */
const rendererClass = ({ MimeModel, Panel }, { content: notebook, sessionContext }) =>
  class extends Panel {
    done = Promise.resolve();
    shown = null; // the identifier of the model, or "saved"

    /** Show an output; JupyterLab calls it again after a change. */
    renderModel(model) {
      this.done = this.done.then(() => this.update(model));
      return this.done;
    }

    async update(model) {
      const kernel = sessionContext.session?.kernel;
      const id = this.find(model, kernel);
      if (id && kernel.hasComm(id)) return this.showView(id);
      await this.showSaved(model);
      this.revive(model);
    }

    /** Return the identifier of the model; that of a notebook that is not trusted is ignored. */
    find(model, kernel) {
      if (!model.trusted || !kernel) return undefined;
      return model.data[VIEW]?.model_id ?? views.get(kernel.id, placeOf(notebook, model));
    }

    /** Show the view of a page that was loaded again, if the kernel still has its model. */
    async revive(model) {
      await sessionContext.ready;
      const kernel = sessionContext.session?.kernel;
      const id = this.find(model, kernel);
      if (!id) return;
      const { content } = await kernel.requestCommInfo({ target_name: "jupyter.widget" });
      if (content.comms?.[id] && !this.isDisposed) await this.showView(id);
    }

    async showView(id) {
      if (this.shown === id) return;
      const data = { [VIEW]: { model_id: id, version_major: 2, version_minor: 0 } };
      await this.put(id, VIEW, new MimeModel({ data, trusted: true }));
    }

    async showSaved({ data, metadata, trusted }) {
      const { [VIEW]: _view, [MARK]: _mark, ...rest } = data;
      const type = notebook.rendermime.preferredMimeType(rest, trusted ? "any" : "ensure");
      if (type) await this.put("saved", type, new MimeModel({ data: rest, metadata, trusted }));
    }

    async put(shown, type, model) {
      const child = notebook.rendermime.createRenderer(type);
      for (const old of this.widgets) old.dispose();
      this.shown = shown;
      this.addWidget(child);
      await child.renderModel(model);
      // JupyterLab centres tables in outputs that it does not show itself.
      for (const table of child.node.querySelectorAll("table")) table.style.marginLeft = "0";
    }
  };

/** Show the outputs of a notebook, and take the views out of those that arrive. */
function follow(modules, panel) {
  const Renderer = rendererClass(modules, panel);
  const createRenderer = () => new Renderer();
  panel.content.rendermime.addFactory({ safe: true, mimeTypes: [MARK], createRenderer }, RANK);
  const watched = new WeakSet();
  const watch = () => {
    for (const cell of codeCells(panel.content).filter((each) => !watched.has(each))) {
      watched.add(cell);
      // Later: others have yet to hear of this change.
      const later = () => !cell.isDisposed && strip(cell, panel.sessionContext.session.kernel);
      const holdsViews = (type) => type === "add" || type === "set"; // "set": an update of an output
      cell.outputs.changed.connect((_, { type }) => holdsViews(type) && queueMicrotask(later));
    }
  };
  panel.context.ready.then(() => {
    watch();
    panel.content.model.cells.changed.connect(watch);
  });
}

export const widgetPlugin = (modules) => ({
  id: "gqlnb:widgets",
  description: "Outputs of widgets: live with a kernel, as HTML without.",
  autoStart: true,
  activate: ({ docRegistry }) => {
    globalThis[Symbol.for("gqlnb.outputs")] = true; // for the views: their outputs may be replaced
    docRegistry.addWidgetExtension("Notebook", { createNew: (panel) => follow(modules, panel) });
  },
});
