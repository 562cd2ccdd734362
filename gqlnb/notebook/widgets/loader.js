// Loads the view of a widget of gqlnb. This text is saved with every notebook that stores the state
// of its widgets, so it is small: the rest is asked of the kernel, once per page.
const WAITS = [250, 500, 1000, 2000, 4000]; // ms; what is asked too early waits for the cell
const SILENT = "The kernel does not answer. It is busy, or this cell has to be run again.";
const page = (globalThis[Symbol.for("gqlnb")] ??= { modules: new Map(), styles: new Map() });

/** Make modules of texts, each linked to those it imports, which come before it. */
export function linked(files, known) {
  const urls = {};
  for (const { name, hash, text } of files) {
    const whole = text.replace(/\bfrom "\.\/([\w-]+\.js)";/g, (_, other) => `from "${urls[other]}";`);
    if (!known.has(hash))
      known.set(hash, URL.createObjectURL(new Blob([whole], { type: "text/javascript" })));
    urls[name] = known.get(hash);
  }
  return urls;
}

/** Put style sheets where the element is: into its page, or the shadow it stands in. */
function dress(el, hash) {
  const root = el.getRootNode();
  const place = root instanceof ShadowRoot ? root : document.head;
  for (const { hash: own, css } of page.styles.get(hash)) {
    if (!css || place.querySelector(`style[data-gqlnb="${own}"]`)) continue;
    const style = document.createElement("style");
    style.dataset.gqlnb = own;
    style.textContent = css;
    place.append(style);
  }
}

function render({ model, el }) {
  let timer = null;
  let leave = () => model.off("msg:custom", onMessage);
  let gone = false;
  const hash = model.get("_front");

  const tell = (text) => {
    const shown = document.createElement("pre");
    shown.textContent = [model.get("_twin"), text].filter(Boolean).join("\n\n");
    el.replaceChildren(shown);
  };
  const show = async (url) => {
    clearTimeout(timer);
    leave();
    try {
      const view = await import(url);
      if (gone) return;
      el.replaceChildren();
      dress(el, hash);
      leave = view.default.render({ model, el }) ?? (() => {});
    } catch (error) {
      tell(`This view cannot be shown: ${error}`);
    }
  };
  const onMessage = (message) => {
    if (message?.kind !== "front" || message.hash !== hash) return;
    page.styles.set(hash, message.files);
    show(Object.values(linked(message.files, page.modules)).at(-1));
  };
  const ask = (attempt) => {
    if (attempt === WAITS.length) return tell(SILENT);
    timer = setTimeout(ask, WAITS[attempt], attempt + 1);
    try {
      model.send({ kind: "front" });
    } catch {
      clearTimeout(timer);
      tell(SILENT);
    }
  };
  if (page.styles.has(hash)) show(page.modules.get(hash));
  else {
    model.on("msg:custom", onMessage);
    ask(0);
  }
  return () => {
    gone = true;
    clearTimeout(timer);
    leave();
  };
}

export default { render };
