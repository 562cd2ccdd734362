// GraphiQL in a notebook. What it asks goes over the comm to the kernel and out through a client
// there, so that no token is ever here, and no endpoint has to let this page ask it.
import { connect, copy, debounced, keepKeys, make, restFarAway } from "./common.js";

const PATIENCE = 15000; // ms for the bundle, which may come over a slow line
const DEFAULT = "# Ctrl-Space completes, Ctrl-Enter runs.\n{\n  __typename\n}\n";
const ENLARGE = "Enlarge";
const REDUCE = "Back to the notebook";
const COPY = "M5.5 3.5h7v9h-7zM3.5 10.5v-9h7";
const INSERT = "M2.5 3.5h11M2.5 12.5h11M8 5.5v5M5.5 8h5";
const WORKERS = { json: "json.worker.js", graphql: "graphql.worker.js" };
const page = (globalThis[Symbol.for("gqlnb.graphiql")] ??= new Map());
let startWorkers;
const used = new Promise((resolve) => (startWorkers = resolve));

/**
 * A worker that starts when an editor of the page is used: three of them need 15 MB, and what they
 * check and propose is seen only with the pointer or the cursor in an editor.
 */
export class LateWorker extends EventTarget {
  #waiting = [];
  #worker = null;

  constructor(start, begin = used) {
    super();
    begin.then(() => {
      if (!this.#waiting) return; // terminated: Monaco makes a new one for each change of a schema
      this.#worker = start();
      for (const name of ["onmessage", "onmessageerror"]) this.#worker[name] = (event) => this[name]?.(event);
      this.#worker.onerror = (event) => this.dispatchEvent(new event.constructor(event.type, event));
      for (const message of this.#waiting) this.#worker.postMessage(...message);
      this.#waiting = null;
    });
  }

  postMessage(...message) {
    if (this.#worker) this.#worker.postMessage(...message);
    else this.#waiting?.push(message);
  }

  terminate() {
    this.#waiting = null;
    this.#worker?.terminate();
  }
}

/** Return the blob that a file of the bundle unpacks to. */
const unpacked = (bytes, type) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), {
    headers: { "content-type": type },
  }).blob();

/** Ask the kernel for the bundle; return the addresses of its files, and its style sheet. */
async function fetched(model, checksum) {
  const { names, buffers } = await new Promise((resolve, reject) => {
    const onMessage = (message, came) => {
      if (message?.kind !== "bundle" || message.checksum !== checksum) return;
      settle(() => resolve({ names: message.names, buffers: came }));
    };
    const timer = setTimeout(
      () => settle(() => reject(new Error("The kernel did not send GraphiQL. Run this cell again."))),
      PATIENCE,
    );
    const settle = (how) => {
      clearTimeout(timer);
      model.off("msg:custom", onMessage);
      how();
    };
    model.on("msg:custom", onMessage);
    model.send({ kind: "bundle" });
  });
  const type = (name) => (name.endsWith(".css") ? "text/css" : "text/javascript");
  const blobs = await Promise.all(names.map((name, place) => unpacked(buffers[place], type(name))));
  const urls = Object.fromEntries(names.map((name, place) => [name, URL.createObjectURL(blobs[place])]));
  return { urls, css: await blobs[names.indexOf("graphiql.css")].text() };
}

/** Put the bundle into the page. Its function for workers lives as long, so it must not hold the files. */
async function loaded({ urls, css }) {
  document.head.append(make("style", {}, css)); // its menus are children of the page's body
  globalThis.MonacoEnvironment = {
    getWorker: (_, label) => new LateWorker(() => new Worker(urls[WORKERS[label] ?? "editor.worker.js"])),
  };
  const { mount } = await import(urls["graphiql.js"]);
  return { mount, css };
}

/** Put GraphiQL's style sheet into the shadow that an element is in, as in marimo. */
function dressShadow(element, css) {
  const root = element.getRootNode();
  if (!(root instanceof ShadowRoot) || root.querySelector("style[data-graphiql]")) return;
  // There is no `body` in a shadow that could have the theme.
  const own = css.replaceAll("body.graphiql-", ".graphiql-").replaceAll("body:not(", ".gqlnb-graphiql:not(");
  root.prepend(make("style", { "data-graphiql": "" }, own.replaceAll(":root", ":host")));
}

/** Return the module of the bundle: the one that is in this page already, or from the kernel. */
function graphiql(model, checksum) {
  if (!page.has(checksum)) {
    const coming = fetched(model, checksum).then(loaded);
    page.set(checksum, coming);
    coming.catch(() => page.delete(checksum)); // the next view asks again
  }
  return page.get(checksum);
}

/** Follow the theme of the notebook: now(), and `tell(theme)` whenever it changes. */
function themed(tell) {
  const theme = () => {
    const { jpThemeLight, theme: marimo, vscodeThemeKind } = document.body.dataset;
    if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
    const name = marimo ?? vscodeThemeKind;
    if (name) return /dark|contrast$/.test(name) ? "dark" : "light";
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  };
  const watch = new MutationObserver(() => tell(theme()));
  const names = ["data-jp-theme-light", "data-theme", "data-vscode-theme-kind"];
  watch.observe(document.body, { attributeFilter: names });
  return { now: theme, close: () => watch.disconnect() };
}

/** Tell the keys that are GraphiQL's: Ctrl-Enter would run the cell. Saving is the notebook's. */
const isOurs = ({ key }) => key.toLowerCase() !== "s";

/** Put a cell below the one that `element` is in; our extension of JupyterLab listens. */
function inserted(element, text) {
  const detail = { element, text };
  return !element.dispatchEvent(
    new CustomEvent("gqlnb:insert-cell", { bubbles: true, cancelable: true, detail }),
  );
}

/** Say what the cell will need in another kernel, where this one had not loaded it either. */
const needed = (entered) => (entered ? " In a new kernel, %load_ext gqlnb has to run before it." : "");

function render({ model, el }) {
  const source = make("p");
  const said = make("p", { role: "status" });
  const size = make("button", { type: "button", class: "gqlnb-size", hidden: "" }, ENLARGE);
  const about = make("div", { class: "gqlnb-about" }, source, said, size);
  const head = make("div", { class: "gqlnb-widget" }, about);
  const place = make("div", { class: "gqlnb-graphiql", hidden: "", role: "group" });
  const root = make("div", { class: "gqlnb-explorer" }, head, place);
  const running = new Map();
  let count = 0;
  let introspected = false;
  let target = null; // what the kernel says of it
  let near = false;
  let loading = false;
  let shown = null;
  let left = null; // of the editors that were given up
  let newest = null; // answer of the notebook that is not shown yet
  let gone = false;
  const own = Math.random().toString(36).slice(2);
  const say = (text) => (said.textContent = text);
  const dressed = (theme) => {
    place.classList.toggle("graphiql-dark", theme === "dark");
    place.classList.toggle("graphiql-light", theme === "light");
    return theme;
  };
  const lights = themed((theme) => shown?.set({ theme: dressed(theme) }));

  const run = (request, told) => {
    const id = `${own}-${(count += 1)}`;
    running.set(id, told);
    kernel.send({ ...request, again: introspected, kind: "run", run: id });
    introspected ||= request.introspection;
    return () => {
      if (running.delete(id)) kernel.send({ kind: "stop", run: id });
      sight.update();
    };
  };
  const answer = ({ run: id, done, note = "" }, buffers) => {
    const told = running.get(id);
    if (!told) return;
    say(note);
    if (buffers?.length) told.next(new TextDecoder().decode(buffers[0]));
    if (!done) return;
    running.delete(id);
    told.complete();
    sight.update();
  };
  const cell = () => kernel.ask({ kind: "cell", ...shown.text() });
  const onCopy = async () => {
    const { text, entered } = await cell();
    say((await copy(text)) ? `Copied. Paste it into a cell.${needed(entered)}` : text);
  };
  const onInsert = async () => {
    const { text, entered } = await cell();
    if (inserted(el, text)) say(`The cell is below.${needed(entered)}`);
    else say((await copy(text)) ? `Copied, as cells cannot be inserted here. Paste it.${needed(entered)}` : text);
  };
  // In the page's body, as what stands in an output cannot cover the notebook around it.
  const resize = (large) => {
    const top = root.getRootNode();
    el.style.minHeight = large ? `${el.offsetHeight}px` : ""; // so that the notebook stays where it is
    (large ? (top.body ?? top) : el).append(root);
    root.classList.toggle("gqlnb-window", large);
    size.textContent = large ? REDUCE : ENLARGE;
    size.focus({ preventScroll: !large });
    sight.update();
  };
  const isLarge = () => root.classList.contains("gqlnb-window");
  size.addEventListener("click", () => resize(!isLarge()));
  size.addEventListener("keydown", ({ key }) => key === "Escape" && isLarge() && resize(false));
  const careful = (work) => () => work().catch((error) => say(error.message));
  const buttons = [
    { label: "Copy as %%graphql cell", icon: COPY, onClick: careful(onCopy) },
    { label: "Insert a %%graphql cell below", icon: INSERT, onClick: careful(onInsert) },
  ];
  const sendText = () => shown && kernel.send({ kind: "edited", ...shown.text() });
  const edited = debounced(sendText, 300);

  const show = ([bytes]) => {
    newest = { text: new TextDecoder().decode(bytes) };
    shown?.set({ answer: newest });
  };
  const state = (message, buffers) => {
    source.textContent = `Target: ${message.source}`;
    if (target) return;
    if (!message.checksum) return say(message.missing);
    target = message;
    if (buffers?.length) show(buffers);
    root.style.setProperty("--height", `${message.height}px`);
    place.setAttribute("aria-label", `GraphiQL, target: ${message.source}`);
    open();
  };
  const open = async () => {
    if (!near || !target || shown || loading || gone) return;
    loading = true;
    try {
      const { mount, css } = await graphiql(model, target.checksum);
      if (gone) return;
      dressShadow(place, css);
      place.hidden = size.hidden = false;
      const { query, variables, headers } = target;
      const begin = left ?? { query: query || DEFAULT, variables };
      shown = mount(place, { run, buttons, onEdit: edited, theme: dressed(lights.now()), headers, ...begin, answer: newest });
      say("");
    } catch (error) {
      say(error.message);
    } finally {
      loading = false;
    }
  };
  // An editor needs about 7 MB. What stands in it is kept, and its place.
  const sight = restFarAway(el, root, {
    busy: () => loading || running.size > 0 || isLarge(),
    rest() {
      near = false;
      if (!shown) return;
      edited.cancel();
      sendText(); // the newest changes: explorer.run() may come before the editors are back
      left = shown.leave();
      newest = left.answer;
      shown = null;
    },
    wake() {
      near = true;
      if (model.get("_bundle") && !target) graphiql(model, model.get("_bundle")).catch(() => {}); // told when mounted
      open();
    },
  });
  const failed = (text) => say(text);
  const ran = ({ note = "" }, buffers) => {
    say(note);
    show(buffers);
  };
  const kernel = connect(model, head, { state, answer, failed, ran });
  el.append(root);
  for (const event of ["pointerover", "focusin"]) place.addEventListener(event, startWorkers, { once: true });
  keepKeys(place, isOurs);
  say("Loading GraphiQL …");
  kernel.hello();
  return () => {
    gone = true;
    edited.cancel();
    for (const id of running.keys()) kernel.send({ kind: "stop", run: id });
    lights.close();
    sight.close();
    kernel.close();
    shown?.unmount();
    root.remove();
  };
}

export default { render };
