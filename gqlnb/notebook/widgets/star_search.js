// The view of gqlnb.StarSearch. It shows what the kernel says and decides nothing: each click
// sends one message with all it needs, each answer is the whole state. Data become text nodes.

const HELLO_WAITS = [250, 500, 1000, 2000, 4000]; // ms; a hello sent too early waits for the cell
const PATIENCE = 8000; // ms from a click to the kernel's first word
const ROWS_AT_ONCE = 500; // about 10 ms of table building; more would make typing stutter
const SILENT = "The kernel does not answer. It is busy, or this cell has to be run again.";

/** Return a whole number with separators between thousands; nothing for no number. */
export const grouped = (number) => (Number.isFinite(number) ? number.toLocaleString("en-US") : "");

/** Return the text of one cell: grouped digits for numbers, nothing for null. */
export const cellText = (value) =>
  typeof value === "number" ? grouped(value) : value === null || value === undefined ? "" : String(value);

/** Return the one message of a click on Search, from the texts in the two boxes. */
export const request = (query, limit) => ({ kind: "run", query: query.trim(), limit: limit.trim() });

/** Return the text that the box for the count shows for a limit; no limit is an empty box. */
export const limitText = (limit) => (limit === null || limit === undefined ? "" : String(limit));

/** Return how much of a running search is done, from 0 to 1, or null while nobody knows. */
export const fraction = ({ got, wanted }) => (got > 0 && wanted > 0 ? Math.min(1, got / wanted) : null);

/** Tell a bare Enter, which is not the end of a word being composed (Chinese, accents). */
export const isEnter = ({ key, isComposing, shiftKey, ctrlKey, altKey, metaKey }) =>
  key === "Enter" && !(isComposing || shiftKey || ctrlKey || altKey || metaKey);

/** Return the milliseconds to wait before hello is said again, or null to stop. */
export const helloWait = (attempt) => HELLO_WAITS[attempt] ?? null;

/** Return an element with attributes and children; texts become text nodes, never HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Keep keys from JupyterLab while one of these has the focus: there Enter would edit the cell and
 * "dd" delete it. JupyterLab looks at the focused element before we hear of the key, so the mark
 * goes while Control or Command is held: saving and the like still work.
 */
function keepKeys(root, elements) {
  const mark = ({ ctrlKey, metaKey }) => {
    for (const element of elements)
      element.toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey));
  };
  for (const type of ["keydown", "keyup", "focusin"]) root.addEventListener(type, mark);
  mark({});
}

/** Build the elements of one view. Ids differ per view, for labels that belong to their box. */
function build(el) {
  const id = `gqlnb-${Math.random().toString(36).slice(2)}`;
  const box = (name, attributes) =>
    make("input", { id: `${id}-${name}`, autocomplete: "off", spellcheck: "false", ...attributes });
  const query = box("query", { class: "gqlnb-query", "aria-describedby": `${id}-hint` });
  const limit = box("limit", { class: "gqlnb-limit", inputmode: "numeric", placeholder: "all" });
  const run = make("button", { type: "submit", class: "gqlnb-run" }, "Search");
  const cancel = make("button", { type: "button", class: "gqlnb-cancel", disabled: "" }, "Cancel");
  const form = make(
    "form",
    { role: "search", "aria-label": "Search repositories by stars" },
    make("label", { for: query.id }, "Stars"),
    query,
    make("label", { for: limit.id }, "Rows"),
    limit,
    run,
    cancel,
    make("span", { id: `${id}-hint`, class: "gqlnb-hint" }, ">1000 · >=1000 · 1000..5000 · 1000 (exactly)"),
  );
  const fill = make("div", { class: "gqlnb-fill" });
  const bar = make(
    "div",
    { class: "gqlnb-bar", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 },
    fill,
  );
  const status = make("span", { class: "gqlnb-status" });
  const spoken = make("span", { class: "gqlnb-spoken", role: "status" });
  const alert = make("div", { class: "gqlnb-alert", role: "alert" });
  const head = make("tr");
  const body = make("tbody");
  const caption = make("caption", { class: "gqlnb-spoken" });
  const table = make("table", {}, caption, make("thead", {}, head), body);
  const rows = make("div", { class: "gqlnb-rows", role: "region", tabindex: "0", "aria-label": "Repositories" }, table);
  const source = make("p", { class: "gqlnb-source" });
  const progress = make("div", { class: "gqlnb-progress" }, bar, status, spoken);
  const root = make("div", { class: "gqlnb-stars" }, form, progress, alert, rows, source);
  rows.hidden = alert.hidden = true;
  el.append(root);
  keepKeys(root, [run, cancel, rows]);
  return { root, form, query, limit, run, cancel, bar, fill, status, spoken, alert, head, body, caption, rows, source };
}

/** Put rows into the table, a part at a time, and the caption below; return how to stop. */
function fillTable(view, { columns, rows, caption }) {
  const numeric = columns.map(({ values }) => values.some((value) => typeof value === "number"));
  const cell = (tag, i, text, attributes = {}) =>
    make(tag, numeric[i] ? { ...attributes, class: "gqlnb-number" } : attributes, text);
  view.head.replaceChildren(...columns.map(({ name }, i) => cell("th", i, name, { scope: "col" })));
  view.body.replaceChildren();
  view.rows.hidden = false;
  view.rows.scrollTop = 0;
  view.caption.textContent = view.source.textContent = caption;
  let row = 0;
  let timer = null;
  const part = () => {
    const made = [];
    for (const end = Math.min(row + ROWS_AT_ONCE, rows); row < end; row += 1)
      made.push(make("tr", {}, ...columns.map(({ values }, i) => cell("td", i, cellText(values[row])))));
    view.body.append(...made);
    timer = row < rows ? setTimeout(part, 0) : null;
  };
  part();
  return () => clearTimeout(timer);
}

/** Show a state without its rows: buttons, bar, sentence, error. */
function showState(view, state) {
  const running = state.phase === "running";
  const share = running ? fraction(state) : null;
  view.root.dataset.phase = state.phase;
  view.cancel.disabled = !running;
  view.rows.setAttribute("aria-busy", String(running));
  view.bar.classList.toggle("gqlnb-moving", running && share === null);
  view.fill.style.width = share === null ? "" : `${100 * share}%`;
  if (share === null) view.bar.removeAttribute("aria-valuenow");
  else view.bar.setAttribute("aria-valuenow", Math.round(100 * share));
  view.status.textContent = state.text;
  view.alert.hidden = !state.error;
  if (view.alert.textContent !== (state.error ?? "")) view.alert.textContent = state.error ?? "";
}

function render({ model, el }) {
  const view = build(el);
  const typed = { query: false, limit: false }; // since the last click: nobody may overwrite it
  let answered = false; // whether the kernel has ever answered this view
  let waiting = null; // the click made before it had
  let phase = null;
  let shown = 0; // number of the result in the table
  let stop = () => {};
  let timer = null;

  const send = (message) => {
    try {
      model.send(message);
    } catch {
      silent(); // the connection is closed
    }
  };
  const silent = () => showState(view, { phase: "idle", text: SILENT });
  const setBoxes = () => {
    if (!typed.query) view.query.value = model.get("query");
    if (!typed.limit) view.limit.value = limitText(model.get("limit"));
  };
  const hello = (attempt) => {
    const wait = helloWait(attempt);
    if (wait === null) return silent();
    timer = setTimeout(hello, wait, attempt + 1);
    send({ kind: "hello" });
  };
  const ask = (message) => {
    clearTimeout(timer);
    timer = setTimeout(silent, PATIENCE);
    send(message);
  };
  const onMessage = (message) => {
    if (message?.kind !== "state") return;
    clearTimeout(timer);
    answered = true;
    if (message.table && message.table.number !== shown) {
      stop();
      shown = message.table.number;
      stop = fillTable(view, message.table);
    }
    if (waiting !== null) {
      ask(waiting);
      waiting = null;
      return; // this state is older than that click
    }
    showState(view, message);
    // Not every page is said aloud: that would never end.
    if (message.phase !== phase) view.spoken.textContent = message.text;
    phase = message.phase;
  };
  const onSubmit = (event) => {
    event.preventDefault();
    typed.query = typed.limit = false;
    const message = request(view.query.value, view.limit.value);
    showState(view, { phase: "running", text: answered ? "Searching …" : "Waiting for the kernel …" });
    if (answered) ask(message);
    else waiting = message;
  };
  // JupyterLab 4 takes Enter away from boxes in cells, so the form never hears of it.
  const onKey = (event) => {
    if (!isEnter(event)) return;
    event.preventDefault();
    view.form.requestSubmit();
  };
  const onCancel = () => {
    if (answered) return ask({ kind: "cancel" });
    waiting = null;
    showState(view, { phase: "idle", text: "" });
  };

  view.query.addEventListener("input", () => (typed.query = true));
  view.limit.addEventListener("input", () => (typed.limit = true));
  view.query.addEventListener("keydown", onKey);
  view.limit.addEventListener("keydown", onKey);
  view.form.addEventListener("submit", onSubmit);
  view.cancel.addEventListener("click", onCancel);
  model.on("msg:custom", onMessage);
  model.on("change:query", setBoxes);
  model.on("change:limit", setBoxes);
  setBoxes();
  hello(0);
  return () => {
    clearTimeout(timer);
    stop();
    model.off("msg:custom", onMessage);
    model.off("change:query", setBoxes);
    model.off("change:limit", setBoxes);
  };
}

export default { render };
