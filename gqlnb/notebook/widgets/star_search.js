// The view of gqlnb.StarSearch. It shows what the kernel says and decides nothing: each click sends
// one message with all it needs, and the kernel reads what stands in the boxes.

import { barChart, histogram } from "./charts.js";
import { connect, copy, grouped, isEnter, keepKeys, make, pageOf, restFarAway, tabAt, unique } from "./common.js";
import { gridKeys, makeGrid } from "./grid.js";

const DECADE = 20; // steps of the slider
const LAST = 1 + 6 * DECADE; // a million; more than any repository has
const MARKS = ["1", "10", "100", "1k", "10k", "100k", "1M"];
const ORDERS = [
  ["", "Best match"],
  ["stars", "Most stars"],
  ["stars-asc", "Fewest stars"],
  ["forks", "Most forks"],
  ["forks-asc", "Fewest forks"],
  ["updated", "Recently updated"],
  ["updated-asc", "Least recently updated"],
];
const COUNT = String.raw`\d{1,3}(?:[,_]\d{3})+|\d+`;
const TYPED = new RegExp(String.raw`^\s*(>=?)?\s*(${COUNT})(?:\s*\.\.\s*(${COUNT}))?\s*$`);

/** Return the stars that a place of the slider means: none, then two digits, 20 to a power of ten. */
export const starsAt = (place) => (place < 1 ? 0 : Number((10 ** ((place - 1) / DECADE)).toPrecision(2)));

/** Return the place of the slider for a number of stars. */
export const placeOf = (stars) => (stars < 1 ? 0 : Math.min(LAST, 1 + Math.round(DECADE * Math.log10(stars))));

/** Return the number a threshold begins at, or null if it has none that can be read here. */
export function startOf(threshold) {
  const match = TYPED.exec(threshold);
  return match && Number(match[2].replaceAll(/[,_]/g, ""));
}

/** Return a threshold that begins elsewhere, and is of the same form as far as that fits. */
export function moved(threshold, stars) {
  const [, sign, , end] = TYPED.exec(threshold) ?? [];
  const last = end && Number(end.replaceAll(/[,_]/g, ""));
  return last >= stars ? `${stars}..${last}` : `${sign ?? ">"}${stars}`;
}

/** Return the parts of a search as the kernel writes it: threshold first, order last. */
export function parts(query) {
  const [, stars = "", rest] = /^(>=?\d+|\d+(?:\.\.\d+)?)?(?:\s+|$)?(.*)$/s.exec(query);
  const [, also, order = ""] = /^(.*?)(?:(?:^|\s)sort:([a-z-]+))?$/s.exec(rest);
  return { stars, also, order };
}

/** Return the search that the boxes mean. */
export const joined = ({ stars, also, order }) =>
  [stars.trim(), also.trim(), order && `sort:${order}`].filter(Boolean).join(" ");

/** Return the text that the box for the count shows for a limit; no limit is an empty box. */
export const limitText = (limit) => (limit == null ? "" : String(limit));

/** Return how much of a running search is done, from 0 to 1, or null while nobody knows. */
export const fraction = ({ got, wanted }) => (got > 0 && wanted > 0 ? Math.min(1, got / wanted) : null);

/** Build the boxes and buttons. */
function buildForm() {
  const field = (word, label, control) => {
    control.id = unique(word);
    return make("div", { class: `gqlnb-field gqlnb-of-${word}` }, make("label", { for: control.id }, label), control);
  };
  const box = (attributes) => make("input", { autocomplete: "off", spellcheck: "false", ...attributes });
  const slider = make("input", { type: "range", min: 0, max: LAST, step: 1, "aria-label": "Stars, on a logarithmic scale" });
  const scale = make("div", { class: "gqlnb-scale", "aria-hidden": "true" });
  MARKS.forEach((mark, i) => {
    const label = make("span", {}, mark);
    label.style.left = `${(100 * (1 + DECADE * i)) / LAST}%`;
    scale.append(label);
  });
  const hint = make("span", { id: unique("hint"), class: "gqlnb-spoken" }, ">1000, >=1000, 1000..5000, or 1000 for exactly 1000");
  const stars = box({ "aria-describedby": hint.id, placeholder: ">1000, 1000..5000" });
  const also = box({ placeholder: "language:python" });
  const order = make("select", {}, ...ORDERS.map(([value, said]) => make("option", { value }, said)));
  const limit = box({ inputmode: "numeric", placeholder: "all" });
  const run = make("button", { type: "submit", class: "gqlnb-main" }, "Search");
  const cancel = make("button", { type: "button", disabled: "" }, "Cancel");
  const form = make(
    "form",
    { role: "search", "aria-label": "Search repositories by stars" },
    make(
      "div",
      { class: "gqlnb-line" },
      field("stars", "Stars", stars),
      make("div", { class: "gqlnb-slide" }, slider, scale),
      hint,
    ),
    make(
      "div",
      { class: "gqlnb-line" },
      field("also", "Qualifiers", also),
      field("order", "Order", order),
      field("limit", "Rows", limit),
      make("div", { class: "gqlnb-buttons" }, run, cancel),
    ),
  );
  return { form, slider, stars, also, order, limit, run, cancel };
}

/** Build what says how far a search is. */
function buildProgress() {
  const fill = make("div", { class: "gqlnb-fill" });
  const bar = make(
    "div",
    { class: "gqlnb-bar", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 },
    fill,
  );
  const status = make("span", { class: "gqlnb-status" });
  const budget = make("span", { class: "gqlnb-budget" });
  const spoken = make("span", { class: "gqlnb-spoken", role: "status" });
  const alert = make("div", { class: "gqlnb-said", role: "alert", hidden: "" });
  const progress = make("div", { class: "gqlnb-progress" }, bar, status, budget, spoken);
  return { fill, bar, status, budget, spoken, alert, progress };
}

/** Build the part for a result: tabs over a table and two pictures, and what repeats the search. */
function buildResult() {
  const rows = make("div");
  const pictures = { top: barChart(), spread: histogram() };
  const pages = [
    ["Rows", rows],
    ["Most stars", pictures.top.root],
    ["Histogram", pictures.spread.root],
  ];
  const tabs = pages.map(([name]) => make("button", { type: "button", role: "tab", id: unique("tab") }, name));
  const panels = pages.map(([, content], i) => {
    const panel = make("div", { role: "tabpanel", id: unique("panel"), "aria-labelledby": tabs[i].id }, content);
    tabs[i].setAttribute("aria-controls", panel.id);
    return panel;
  });
  const show = (chosen) =>
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panels[i].hidden = i !== chosen;
    });
  const list = make("div", { role: "tablist", "aria-label": "Result" }, ...tabs);
  tabs.forEach((tab, i) => tab.addEventListener("click", () => show(i)));
  list.addEventListener("keydown", (event) => {
    const next = tabAt(event.key, tabs.indexOf(event.target), tabs.length);
    if (next === null) return;
    event.preventDefault();
    show(next);
    tabs[next].focus();
  });
  show(0);
  const copyText = make("button", { type: "button" }, "Copy query");
  const copyCode = make("button", { type: "button" }, "Copy code");
  const copied = make("span", { class: "gqlnb-copied", role: "status" });
  const bar = make("div", { class: "gqlnb-tabs" }, list, copied, copyText, copyCode);
  const byHand = make("textarea", { readonly: "", rows: 4, "aria-label": "To be copied by hand", hidden: "" });
  const source = make("p", { class: "gqlnb-source" });
  const result = make("div", { class: "gqlnb-result", hidden: "" }, bar, byHand, ...panels, source);
  return { result, rows, pictures, copyText, copyCode, copied, byHand, source };
}

/** Show a state without its result: buttons, bar, sentence, error. */
function showState(view, state) {
  const running = state.phase === "running";
  const share = running ? fraction(state) : null;
  view.root.dataset.phase = state.phase;
  view.cancel.disabled = !running;
  view.result.setAttribute("aria-busy", String(running));
  view.bar.hidden = !running;
  view.bar.classList.toggle("gqlnb-moving", running && share == null);
  view.fill.style.width = share == null ? "" : `${100 * share}%`;
  if (share == null) view.bar.removeAttribute("aria-valuenow");
  else view.bar.setAttribute("aria-valuenow", Math.round(100 * share));
  view.status.textContent = state.text;
  view.budget.textContent = state.budget ?? "";
  view.alert.hidden = !state.error;
  if (view.alert.textContent !== (state.error ?? "")) view.alert.textContent = state.error ?? "";
}

/** Put a text into the clipboard; where that is not allowed, show it to be copied by hand. */
async function handOver(view, text, what) {
  const done = await copy(text);
  view.copied.textContent = done ? `${what} copied` : "Copy it from here:";
  view.byHand.hidden = done;
  if (done) return;
  view.byHand.value = text;
  view.byHand.focus();
  view.byHand.select();
}

function render({ model, el }) {
  const view = { ...buildForm(), ...buildProgress(), ...buildResult() };
  view.root = make("div", { class: "gqlnb-widget gqlnb-stars" }, view.form, view.progress, view.alert, view.result);
  el.append(view.root);
  keepKeys(view.root, gridKeys);
  const boxes = { stars: view.stars, also: view.also, order: view.order, limit: view.limit };
  const typed = new Set(); // since the last click: nobody may overwrite it
  let answered = false; // whether the kernel has ever answered this view
  let waiting = null; // the click made before it had
  let phase = null;
  let found = null; // the result that is shown
  let grid = null;

  const silent = (text) => showState(view, { phase: "idle", text });
  const setSlider = () => {
    const stars = startOf(view.stars.value);
    if (stars === null) return;
    view.slider.value = placeOf(stars);
    view.slider.setAttribute("aria-valuetext", `${grouped(stars)} stars`);
  };
  const setBoxes = () => {
    const now = { ...parts(model.get("query")), limit: limitText(model.get("limit")) };
    for (const [name, box] of Object.entries(boxes)) if (!typed.has(name)) box.value = now[name];
    setSlider();
  };
  const showFound = (now) => {
    if (!now || now.number === found?.number) return;
    found = now;
    grid?.close();
    const link = (name, value) => name === "name" && pageOf(now.site, value("owner"), value("name"));
    grid = makeGrid((question) => kernel.ask({ kind: "grid", ...question }), "Repositories", link);
    view.rows.replaceChildren(grid.root);
    view.result.hidden = false;
    view.pictures.top.show({ ...now.top, site: now.site });
    view.pictures.spread.show(now.spread);
    view.source.textContent = now.caption;
    view.copied.textContent = "";
    view.byHand.hidden = true;
    grid.refresh();
  };
  const onState = (state) => {
    answered = true;
    showFound(state.found);
    if (waiting !== null) {
      ask(waiting);
      waiting = null;
      return; // this state is older than that click
    }
    showState(view, state);
    // Not every page is said aloud: that would never end.
    if (state.phase !== phase) view.spoken.textContent = state.text;
    phase = state.phase;
  };
  const kernel = connect(model, view.root, { state: onState, silent, failed: silent });
  const ask = (message) => kernel.ask(message).catch(({ message: text }) => silent(text));
  const onSubmit = (event) => {
    event.preventDefault();
    typed.clear();
    const stars = view.stars.value;
    const query = joined({ stars, also: view.also.value, order: view.order.value });
    const message = { kind: "run", query, stars, limit: view.limit.value.trim() };
    showState(view, { phase: "running", text: answered ? "Searching …" : "Waiting for the kernel …" });
    if (answered) ask(message);
    else waiting = message;
  };
  // JupyterLab 4 takes Enter away from boxes in cells, so the form never hears of it.
  const onKey = (event) => {
    if (!isEnter(event) || event.target.tagName === "BUTTON") return;
    event.preventDefault();
    view.form.requestSubmit();
  };
  const onCancel = () => {
    if (answered) return ask({ kind: "cancel" });
    waiting = null;
    showState(view, { phase: "idle", text: "" });
  };

  for (const [name, box] of Object.entries(boxes)) box.addEventListener("input", () => typed.add(name));
  view.stars.addEventListener("input", setSlider);
  view.slider.addEventListener("input", () => {
    typed.add("stars");
    view.stars.value = moved(view.stars.value, starsAt(Number(view.slider.value)));
    setSlider();
  });
  view.form.addEventListener("keydown", onKey);
  view.form.addEventListener("submit", onSubmit);
  view.cancel.addEventListener("click", onCancel);
  view.copyText.addEventListener("click", () => handOver(view, found.text, "Query"));
  view.copyCode.addEventListener("click", () => handOver(view, found.code, "Code"));
  model.on("change:query", setBoxes);
  model.on("change:limit", setBoxes);
  setBoxes();
  const sight = restFarAway(el, view.root);
  kernel.hello();
  return () => {
    sight.close();
    kernel.close();
    grid?.close();
    for (const picture of Object.values(view.pictures)) picture.close();
    model.off("change:query", setBoxes);
    model.off("change:limit", setBoxes);
  };
}

export default { render };
