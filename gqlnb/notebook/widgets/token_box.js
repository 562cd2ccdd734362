// The view of gqlnb.TokenBox. What is typed leaves the box at once, as the binary part of one
// message, and is kept nowhere here: no model value, no storage, no form that a browser would
// offer to remember.

const HELLO_WAITS = [250, 500, 1000, 2000, 4000]; // ms; a hello sent too early waits for the cell
const PATIENCE = 8000; // ms from Enter to the kernel's word
const WORDS = {
  empty: "Kept in the kernel's memory, not in the notebook.",
  sent: "Handing it to the kernel …",
  held: "The kernel has it; the notebook does not. Type another one to replace it.",
  silent: "The kernel does not answer. It is busy, or this cell has to be run again.",
};

/** Tell a bare Enter, which is not the end of a word being composed (Chinese, accents). */
export const isEnter = ({ key, isComposing, shiftKey, ctrlKey, altKey, metaKey }) =>
  key === "Enter" && !(isComposing || shiftKey || ctrlKey || altKey || metaKey);

/** Return the milliseconds to wait before hello is said again, or null to stop. */
export const helloWait = (attempt) => HELLO_WAITS[attempt] ?? null;

/** Return the sentence below the box for what the kernel said. */
export const sentence = ({ held, error }) => error || (held ? WORDS.held : WORDS.empty);

/** Return an element with attributes and children; texts become text nodes, never HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Build the elements of one view. Ids differ per view, for labels that belong to their box. */
function build(el) {
  const id = `gqlnb-${Math.random().toString(36).slice(2)}`;
  const box = make("input", {
    id,
    type: "password",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-said`,
    // Password managers would fill in, or offer to keep, what is none of their business.
    "data-1p-ignore": "",
    "data-bwignore": "",
    "data-lpignore": "true",
  });
  const label = make("label", { for: id });
  const use = make("button", { type: "button", disabled: "" }, "Use");
  const said = make("p", { id: `${id}-said`, role: "status" });
  const row = make("div", { class: "gqlnb-row" }, label, box, use);
  const root = make("div", { class: "gqlnb-token", role: "group" }, row, said);
  el.append(root);
  // JupyterLab would take keys from the button: there Enter edits the cell and "dd" deletes it.
  // The mark goes while Control or Command is held, so that saving and the like still work.
  const mark = ({ ctrlKey, metaKey }) =>
    use.toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey));
  for (const type of ["keydown", "keyup", "focusin"]) root.addEventListener(type, mark);
  mark({});
  return { root, label, box, use, said };
}

function render({ model, el }) {
  const view = build(el);
  let timer = null;

  const show = (phase, text) => {
    view.root.dataset.phase = phase;
    view.box.setAttribute("aria-invalid", String(phase === "failed"));
    view.said.textContent = text;
  };
  const setLabel = () => {
    view.label.textContent = model.get("label");
    view.root.setAttribute("aria-label", model.get("label"));
  };
  const silent = () => show("silent", WORDS.silent);
  const send = (message, buffers = []) => {
    try {
      model.send(message, undefined, buffers);
    } catch {
      silent(); // the connection is closed
    }
  };
  const hello = (attempt) => {
    const wait = helloWait(attempt);
    if (wait === null) return silent();
    timer = setTimeout(hello, wait, attempt + 1);
    send({ kind: "hello" });
  };
  const hand = () => {
    const typed = new TextEncoder().encode(view.box.value.trim());
    view.box.value = "";
    view.use.disabled = true;
    if (!typed.length) return;
    clearTimeout(timer);
    timer = setTimeout(silent, PATIENCE);
    show("sent", WORDS.sent);
    send({ kind: "token" }, [typed.buffer]);
  };
  const onMessage = (message) => {
    if (message?.kind !== "state") return;
    clearTimeout(timer);
    show(message.error ? "failed" : message.held ? "held" : "empty", sentence(message));
  };
  // JupyterLab 4 takes Enter away from boxes in cells, so no form would hear of it.
  const onKey = (event) => {
    if (!isEnter(event)) return;
    event.preventDefault();
    hand();
  };

  view.box.addEventListener("input", () => (view.use.disabled = !view.box.value.trim()));
  view.box.addEventListener("keydown", onKey);
  view.use.addEventListener("click", () => {
    hand();
    view.box.focus(); // the button is disabled now, and the focus would be lost
  });
  model.on("msg:custom", onMessage);
  model.on("change:label", setLabel);
  setLabel();
  show("empty", WORDS.empty);
  hello(0);
  return () => {
    clearTimeout(timer);
    view.box.value = "";
    model.off("msg:custom", onMessage);
    model.off("change:label", setLabel);
  };
}

export default { render };
