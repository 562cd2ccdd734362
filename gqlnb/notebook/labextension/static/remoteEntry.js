// What JupyterLab loads: a container of module federation, written by hand since there is nothing
// to bundle. JupyterLab calls `init` with the modules that it shares, then `get("./extension")`.
(() => {
  const here = document.currentScript.src;
  const NEEDED = {
    apputils: "@jupyterlab/apputils",
    codemirror: "@jupyterlab/codemirror",
    completer: "@jupyterlab/completer",
    language: "@codemirror/language",
    lumino: "@lumino/widgets",
    notebook: "@jupyterlab/notebook",
    rendermime: "@jupyterlab/rendermime",
    state: "@codemirror/state",
    ui: "@jupyterlab/ui-components",
    view: "@codemirror/view",
  };
  let scope;

  const newest = (versions) =>
    Object.keys(versions).sort((a, b) => b.localeCompare(a, "en", { numeric: true }))[0];

  // Only the module that JupyterLab itself uses will do: editors know no other one's classes.
  const shared = async (name) => {
    const versions = scope[name];
    const own = Object.keys(versions).find((version) => versions[version].loaded);
    const factory = await versions[own ?? newest(versions)].get();
    return factory();
  };

  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB.gqlnb = {
    init(given) {
      scope = given;
    },
    async get() {
      const missing = Object.values(NEEDED).filter((name) => !scope[name]);
      if (missing.length) {
        // Voila, for one, has no editors, and shows outputs by ipywidgets alone.
        console.info(`gqlnb: no GraphQL colours and completion here, without ${missing.join(", ")}`);
        return () => ({ __esModule: true, default: [] });
      }
      const [{ plugin }, { widgetPlugin }, { panelPlugin }, ...modules] = await Promise.all([
        import(new URL("graphql.js", here)),
        import(new URL("widgets.js", here)),
        import(new URL("panel.js", here)),
        ...Object.values(NEEDED).map(shared),
      ]);
      const names = Object.keys(NEEDED);
      const found = Object.fromEntries(names.map((name, place) => [name, modules[place]]));
      const outputs = { ...found.lumino, ...found.rendermime };
      const parts = { ...found.lumino, ...found.apputils, ...found.notebook, ...found.ui };
      const plugins = [plugin(found), widgetPlugin(outputs), panelPlugin(parts)];
      return () => ({ __esModule: true, default: plugins });
    },
  };
})();
