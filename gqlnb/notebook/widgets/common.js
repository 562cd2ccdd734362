// What the views of all widgets share: elements without HTML, keys, and the way to the kernel.

const EXTENSION = Symbol.for("gqlnb.outputs"); // set by our extension of JupyterLab
const HELLO_WAITS = [250, 500, 1000, 2000, 4000]; // ms; a hello sent too early waits for the cell
const PATIENCE = 8000; // ms from a question to the kernel's first word
export const SILENT = "The kernel does not answer. It is busy, or this cell has to be run again.";

/** Return the milliseconds to wait before hello is said again, or null to stop. */
export const helloWait = (attempt) => HELLO_WAITS[attempt] ?? null;

/** Return a whole number with separators between thousands; nothing for no number. */
export const grouped = (number) => (Number.isFinite(number) ? number.toLocaleString("en-US") : "");

/** Tell a bare Enter, which is not the end of a word being composed (Chinese, accents). */
export const isEnter = ({ key, isComposing, shiftKey, ctrlKey, altKey, metaKey }) =>
  key === "Enter" && !(isComposing || shiftKey || ctrlKey || altKey || metaKey);

/** Return a name that no other element of the page has, for labels that belong to their box. */
export const unique = (word) => `gqlnb-${word}-${Math.random().toString(36).slice(2)}`;

/** Return the address of a repository's page on a site of GitHub's; nothing if a part is missing. */
export const pageOf = (site, owner, name) =>
  site && owner && name ? `${site}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}` : null;

/** What a link needs so that it opens beside the notebook, which the other page does not get hold of. */
export const OUTWARD = { target: "_blank", rel: "noopener noreferrer" };

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Return an element with attributes and children; texts become text nodes, never HTML. */
export const make = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** Do the same for SVG. */
export const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Return which tab a key leads to, of so many; null for a key that leads nowhere. */
export function tabAt(key, now, count) {
  const steps = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: count - 1 };
  return key in steps ? (steps[key] + count) % count : null;
}

/**
 * Keep keys from JupyterLab while the focus is in here: there Enter would edit the cell and "dd"
 * delete it. JupyterLab looks for the mark on the focused element, and only then around it, when
 * the key has come as far as the document: the window hears of it before. With Control or Command
 * the mark goes, so that saving and the like still work, but not for what `ours(event)` claims.
 */
export function keepKeys(root, ours = () => false) {
  const name = "data-lm-suppress-shortcuts";
  const mark = (event) => {
    if (!root.isConnected) return window.removeEventListener("keydown", mark, true);
    const free = (event.ctrlKey || event.metaKey) && !ours(event);
    for (const element of [root, event.composedPath()[0]]) element.toggleAttribute?.(name, !free);
  };
  root.addEventListener("focusin", () => window.addEventListener("keydown", mark, true));
  root.addEventListener("focusout", () => window.removeEventListener("keydown", mark, true));
  root.toggleAttribute(name, true);
}

// How far from the window views are ready, so that scrolling meets none that is empty.
const NEAR = "50%";

/**
 * Free most of the memory of a view while it is far out of sight: its boxes, by taking `root` off the
 * layout. `place`, around it, keeps the height. Scroll positions and the contents of boxes stay, as
 * the elements do. A view with the focus stays, and so does one while `busy()`; `rest()` and `wake()`
 * may free and restore more. Returned are update(), for when it may be busy no longer, and close().
 */
export function restFarAway(place, root, { busy = () => false, rest = () => {}, wake = () => {} } = {}) {
  let near = false;
  let resting = null; // until it is seen for the first time
  const update = () => {
    const rests = !near && !busy() && !root.contains(document.activeElement);
    if (rests === resting || (rests && resting === null)) return; // what was never seen may be measured yet
    const height = place.offsetHeight;
    if (rests && !height) return; // hidden with the notebook or its cell
    resting = rests;
    if (rests) rest();
    place.style.minHeight = rests ? `${height}px` : "";
    root.style.display = rests ? "none" : "";
    if (!rests) wake();
  };
  const watch = new IntersectionObserver(
    (entries) => {
      near = entries.at(-1).isIntersecting;
      update();
    },
    { rootMargin: NEAR, scrollMargin: NEAR },
  );
  const print = () => {
    near = true;
    update();
  };
  watch.observe(place);
  root.addEventListener("focusout", () => queueMicrotask(update));
  window.addEventListener("beforeprint", print);
  const close = () => {
    watch.disconnect();
    window.removeEventListener("beforeprint", print);
  };
  return { update, close };
}

/** Return a function that does `work` once it was not called again for `wait` ms: for what is typed. */
export function debounced(work, wait = 150) {
  let timer = null;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Put a text into the clipboard; return whether that was allowed. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text); // no permission, or a page without https
  }
}

function copyOldWay(text) {
  const focused = document.activeElement;
  const box = make("textarea", { "aria-hidden": "true", style: "position:fixed;opacity:0" });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  focused?.focus();
  return done;
}

/**
 * Connect a view with its kernel.
 *
 * `handlers` has a function (message, buffers) for each kind of message that comes unasked, and may
 * have `failed(text)`, for what went wrong in words, and `silent(text)`, for a kernel that does not
 * answer; without them a line at the top of `root` says it. Returned are
 *   send(message, buffers)  to tell the kernel something,
 *   ask(message, buffers)   a promise of the answer to this very message; it fails in words,
 *   hello()                 to say hello until the kernel says something,
 *   close()                 to stop listening.
 */
export function connect(model, root, handlers = {}) {
  const own = Math.random().toString(36).slice(2);
  const asked = new Map();
  let count = 0;
  let timer = null;
  let open = true;
  const line = make("p", { class: "gqlnb-said", role: "status" });
  const say = (text) => {
    line.textContent = text;
    if (text && !line.isConnected) root.prepend(line);
    if (!text) line.remove();
  };
  const failed = handlers.failed ?? say;
  const silent = () => open && (handlers.silent ?? say)(SILENT);

  const send = (message, buffers = []) => {
    try {
      model.send(message, undefined, buffers);
    } catch {
      silent(); // the connection is closed
    }
  };
  const onMessage = (message, buffers) => {
    const { kind, id } = message ?? {};
    if (kind === "front" || (id !== undefined && !asked.has(id))) return; // for another view
    clearTimeout(timer);
    say("");
    if (id === undefined) return kind === "failed" ? failed(message.text) : handlers[kind]?.(message, buffers);
    const { resolve, reject } = asked.get(id);
    asked.delete(id);
    if (kind === "failed") reject(new Error(message.text));
    else resolve(buffers?.length ? { ...message, buffers } : message);
  };
  const patient = () => {
    clearTimeout(timer);
    timer = setTimeout(silent, PATIENCE);
  };
  const hello = (attempt = 0) => {
    const wait = helloWait(attempt);
    if (wait === null) return silent();
    timer = setTimeout(hello, wait, attempt + 1);
    send({ kind: "hello", extension: EXTENSION in globalThis });
  };
  const ask = (message, buffers) => {
    const id = `${own}-${(count += 1)}`;
    const answer = new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
    patient();
    send({ ...message, id }, buffers);
    return answer;
  };
  const close = () => {
    open = false;
    clearTimeout(timer);
    asked.clear();
    model.off("msg:custom", onMessage);
  };
  model.on("msg:custom", onMessage);
  return { send, ask, hello: () => hello(0), close };
}
