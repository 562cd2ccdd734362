// The view of gqlnb.SchemaView: a search box, a trail, and one page of a schema. What the kernel
// sends is text and becomes text nodes; descriptions show a small part of Markdown, made of
// elements, never of HTML.
import { connect, grouped, isEnter, keepKeys, make, restFarAway, unique } from "./common.js";

const SPANS =
  /(`+)([^`]+?)\1|\*\*([^*\n]+)\*\*|\[([^\]\n]{1,300})\]\((https?:\/\/[^\s()<>"]{1,1000})\)|(?<![\w*])\*([^\s*][^*\n]*)\*(?![\w*])/g;

/** Return a line of Markdown as pieces: text, code, strong, em, links to pages of the web. */
export function spans(line) {
  const found = [];
  let end = 0;
  for (const match of line.matchAll(SPANS)) {
    const [whole, , code, strong, link, href, em] = match;
    if (match.index > end) found.push({ kind: "text", text: line.slice(end, match.index) });
    if (code !== undefined) found.push({ kind: "code", text: code.trim() || code });
    else if (strong !== undefined) found.push({ kind: "strong", text: strong });
    else if (link !== undefined) found.push({ kind: "link", text: link, href });
    else found.push({ kind: "em", text: em });
    end = match.index + whole.length;
  }
  if (end < line.length) found.push({ kind: "text", text: line.slice(end) });
  return found;
}

/** Return a description as blocks: paragraphs, items of lists, code. */
export function blocks(text) {
  const found = [];
  let code = null;
  let open = null; // the paragraph or item that further lines belong to
  for (const line of text.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) {
      if (code !== null) found.push({ kind: "pre", text: code.join("\n") });
      code = code === null ? [] : null;
      open = null;
    } else if (code !== null) code.push(line);
    else if (!line.trim()) open = null;
    else {
      const item = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(line);
      const head = /^\s*#{1,6}\s+(.*)$/.exec(line);
      if (item || head || open === null) {
        open = { kind: item ? "li" : head ? "head" : "p", text: (item ?? head)?.[1] ?? line.trim() };
        found.push(open);
        if (head) open = null;
      } else open.text += ` ${line.trim()}`;
    }
  }
  if (code?.length) found.push({ kind: "pre", text: code.join("\n") });
  return found;
}

/** Where a person has been: what is ahead is forgotten when another way is taken. */
export function trail() {
  let places = [];
  let at = -1;
  return {
    go(place, top = 0) {
      if (at >= 0) places[at].top = top;
      if (at >= 0 && places[at].place === place) return;
      places = [...places.slice(0, at + 1), { place, top: 0 }].slice(-200);
      at = places.length - 1;
    },
    move(step, top = 0) {
      if (!places[at + step]) return null;
      places[at].top = top;
      at += step;
      return places[at];
    },
    back: () => at > 0,
    forward: () => at < places.length - 1,
    now: () => places[at] ?? null,
  };
}

/** Return the entry that an arrow key leads to, of `count`; -1 is none of them. */
export const moved = (at, key, count) =>
  key === "ArrowDown" ? (at + 1 >= count ? 0 : at + 1) : at <= 0 ? count - 1 : at - 1;

/** Return what a hit is called: the last name large, what it belongs to before it. */
export function parts(place) {
  const [, owner, rest] = /^([^.(]*)(.*)$/s.exec(place);
  return rest ? [owner, rest] : ["", owner];
}

/** Return a piece of a description as an element. */
function span({ kind, text, href }) {
  if (kind === "text") return text;
  if (kind === "link")
    return make("a", { href, target: "_blank", rel: "noopener noreferrer" }, text);
  return make(kind, {}, text);
}

/** Return a description as elements. */
function described(text) {
  const root = make("div", { class: "gqlnb-about" });
  let list = null;
  for (const { kind, text: inner } of blocks(text)) {
    if (kind !== "li") list = null;
    else if (list === null) root.append((list = make("ul")));
    if (kind === "li") list.append(make("li", {}, ...spans(inner).map(span)));
    else if (kind === "pre") root.append(make("pre", {}, inner));
    else if (kind === "head") root.append(make("p", {}, make("strong", {}, inner)));
    else root.append(make("p", {}, ...spans(inner).map(span)));
  }
  return root;
}

/** Build the elements of one view. */
function build(el) {
  const list = unique("hits");
  const button = (label, text) =>
    make("button", { type: "button", "aria-label": label, title: label, disabled: "" }, text);
  const back = button("Back (Alt+Left)", "‹");
  const forward = button("Forward (Alt+Right)", "›");
  const box = make("input", {
    type: "search",
    role: "combobox",
    "aria-label": "Search the schema",
    "aria-controls": list,
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Search names and descriptions  ( / )",
  });
  const crumbs = make("ol");
  const spoken = make("span", { class: "gqlnb-spoken", role: "status" });
  const hits = make("div", { id: list, role: "listbox", "aria-label": "Hits", class: "gqlnb-hits" });
  const sheet = make("div", { class: "gqlnb-sheet" });
  const body = make("div", { class: "gqlnb-body", role: "region", "aria-label": "Schema", tabindex: "0" }, hits, sheet);
  hits.hidden = true;
  const bar = make("div", { class: "gqlnb-bar" }, back, forward, box, spoken);
  const where = make("nav", { "aria-label": "Where you are" }, crumbs);
  const root = make("div", { class: "gqlnb-widget gqlnb-schema" }, bar, where, body);
  el.append(root);
  keepKeys(root);
  return { root, back, forward, box, crumbs, spoken, hits, sheet, body };
}

function render({ model, el }) {
  const view = build(el);
  const been = trail();
  let typed = ""; // what the box was last asked with
  let searching = false;
  let hits = { rows: [], total: 0 };
  let active = -1;
  let top = 0; // how far the page was scrolled when hits took its place
  let waiting = false; // Enter was pressed before the hits for the text were there
  let turn = 0; // of what was opened: a late answer must not show over a later one

  const kernel = connect(model, view.root, {
    state: ({ sheet }) => {
      if (been.now()) return; // another view said hello
      been.go(sheet.place);
      showSheet(sheet);
    },
  });

  // -- going somewhere

  /** Return a button that leads to a place. */
  const link = (text, place) => {
    const made = make("button", { type: "button", class: "gqlnb-link" }, text);
    made.addEventListener("click", () => open(place));
    return made;
  };
  const pieces = (code) =>
    make("code", {}, ...code.map(([text, place]) => (place === undefined ? text : link(text, place))));

  const load = async (place, { top = 0, focus = true } = {}) => {
    const mine = (turn += 1);
    try {
      const { sheet } = await kernel.ask({ kind: "open", place });
      if (mine === turn) showSheet(sheet, { top, focus });
    } catch (error) {
      if (mine === turn) showFailure(error.message);
    }
  };
  const open = (place) => {
    clear(); // the page is back where it was
    been.go(place, view.body.scrollTop);
    load(place);
  };
  const step = (by) => {
    const found = been.move(by, view.body.scrollTop);
    if (!found) return;
    clear();
    load(found.place, found);
  };

  // -- a page

  // `== null`, since Pyodide sends undefined for None.
  const row = ({ place, code, about, deprecated }) => {
    const made = make("li", { class: deprecated == null ? "gqlnb-row" : "gqlnb-row gqlnb-old" }, pieces(code));
    made.dataset.place = place;
    const said = make("div", { class: "gqlnb-beside" });
    if (about) said.append(described(about));
    if (deprecated != null)
      said.append(make("p", { class: "gqlnb-deprecated" }, make("b", {}, "Deprecated "), deprecated));
    if (said.childNodes.length) made.append(said);
    return made;
  };
  /** Fill a list with its first rows, and ask for the others when they are wanted. */
  const fill = (list, rows, total, toRow, ask) => {
    list.append(...rows.map(toRow));
    const more = make("button", { type: "button", class: "gqlnb-more" });
    const left = () => {
      const count = total - list.childElementCount;
      more.textContent = `${grouped(count)} more`;
      more.hidden = count <= 0;
    };
    more.addEventListener("click", async () => {
      more.disabled = true;
      try {
        const at = list.childElementCount;
        const { rows: further } = await kernel.ask({ ...ask, at });
        list.append(...further.map(toRow));
        (list.children[at]?.querySelector("button") ?? view.body).focus();
      } catch (error) {
        showFailure(error.message);
      }
      more.disabled = false;
      left();
    });
    left();
    return more;
  };
  const section = (sheet, { name, total, rows, marked }) => {
    const list = make("ul", { class: "gqlnb-rows" });
    const more = fill(list, rows, total, row, { kind: "rows", place: sheet.place, section: name });
    const count = make("span", { class: "gqlnb-count" }, grouped(total));
    const head = make("h4", {}, `${name} `, count);
    const found = make("section", {}, head);
    if (marked.length) found.append(make("ul", { class: "gqlnb-rows" }, ...marked.map(row)));
    found.append(list, more);
    return found;
  };
  const side = (sheet, key, name) => {
    const { total, rows } = sheet.links[key];
    const list = make("ul");
    const linked = ({ place, via }) =>
      make("li", {}, link(place, place), make("span", { class: "gqlnb-via" }, via));
    const more = fill(list, rows, total, linked, { kind: "links", place: sheet.place, side: key });
    const head = make("h4", {}, `${name} `, make("span", { class: "gqlnb-count" }, grouped(total)));
    if (!total) list.append(make("li", { class: "gqlnb-via" }, "nothing"));
    return make("section", {}, head, list, more);
  };
  const showSheet = (sheet, { top = 0, focus = false } = {}) => {
    const title = make("h3", { tabindex: "-1" }, make("span", { class: "gqlnb-kind" }, sheet.kind), " ");
    if (sheet.code.length) title.append(pieces(sheet.code));
    else title.append(make("code", {}, sheet.title));
    const made = [title];
    if (sheet.deprecated != null)
      made.push(make("p", { class: "gqlnb-deprecated" }, make("b", {}, "Deprecated "), sheet.deprecated));
    if (sheet.about) made.push(described(sheet.about));
    for (const note of sheet.notes) {
      const line = pieces(note);
      made.push(make("p", { class: "gqlnb-note" }, ...line.childNodes));
    }
    made.push(...sheet.sections.map((it) => section(sheet, it)));
    if (sheet.links)
      made.push(
        make(
          "div",
          { class: "gqlnb-links" },
          side(sheet, "from", "Leads here"),
          side(sheet, "to", "Leads to"),
        ),
      );
    view.sheet.replaceChildren(...made);
    view.crumbs.replaceChildren(
      ...sheet.crumbs.map(([text, place], at) => {
        const last = at === sheet.crumbs.length - 1;
        return make("li", {}, last ? make("span", { "aria-current": "page" }, text) : link(text, place));
      }),
    );
    view.back.disabled = !been.back();
    view.forward.disabled = !been.forward();
    view.body.scrollTop = top;
    const marked = sheet.mark && [...view.sheet.querySelectorAll("li")].find((it) => it.dataset.place === sheet.mark);
    if (marked) {
      marked.classList.add("gqlnb-marked");
      view.body.scrollTop = marked.offsetTop - view.body.clientHeight / 3;
    }
    if (focus) title.focus({ preventScroll: true });
  };
  const showFailure = (text) => {
    view.sheet.replaceChildren(make("p", { class: "gqlnb-said", role: "alert" }, text));
  };

  // -- searching

  const choose = (at) => {
    active = at;
    const options = view.hits.querySelectorAll("[role=option]");
    options.forEach((it, n) => it.setAttribute("aria-selected", String(n === at)));
    const chosen = options[at];
    if (chosen) {
      view.box.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else view.box.removeAttribute("aria-activedescendant");
  };
  const hit = ({ place, type, about }) => {
    const [owner, rest] = parts(place);
    const name = make("code", {}, make("span", { class: "gqlnb-via" }, owner), make("b", {}, rest));
    const made = make(
      "div",
      { id: unique("hit"), role: "option", "aria-selected": "false" },
      name,
      make("span", { class: "gqlnb-type" }, type),
      make("span", { class: "gqlnb-told" }, about),
    );
    made.addEventListener("click", () => open(place));
    return made;
  };
  const showHits = ({ text, rows, total, near }, further) => {
    if (view.hits.hidden) top = view.body.scrollTop;
    hits = { rows: further ? [...hits.rows, ...rows] : rows, total };
    const left = total - hits.rows.length;
    const said = total
      ? `${grouped(total)} ${total === 1 ? "hit" : "hits"}`
      : `Nothing about “${text}”.${near.length ? ` Did you mean ${near.join(" or ")}?` : ""}`;
    view.spoken.textContent = said;
    if (!further) view.hits.replaceChildren();
    else view.hits.lastElementChild?.remove();
    view.hits.append(...rows.map(hit));
    const line = make("p", { class: "gqlnb-count", role: "presentation" }, left > 0 ? `${said}, the first ${grouped(hits.rows.length)} are shown` : said);
    view.hits.append(line);
    view.hits.hidden = false;
    view.sheet.hidden = true;
    view.box.setAttribute("aria-expanded", "true");
    view.root.dataset.found = text;
    if (further) return;
    view.body.scrollTop = 0;
    choose(rows.length ? 0 : -1);
    if (waiting && text === view.box.value && rows.length) open(rows[0].place);
  };
  /** Ask for what stands in the box; while an answer is on its way, only the last text waits. */
  const look = async () => {
    if (searching) return;
    searching = true;
    while (view.box.value.trim() && view.box.value !== typed) {
      typed = view.box.value;
      try {
        const found = await kernel.ask({ kind: "search", text: typed, at: 0 });
        if (view.box.value.trim()) showHits(found, false);
      } catch (error) {
        clear();
        showFailure(error.message);
      }
    }
    searching = false;
    if (!view.box.value.trim()) clear();
  };
  /** Ask for more hits: the person has scrolled near to the last of them. */
  const further = async () => {
    const left = hits.total - hits.rows.length;
    if (searching || left <= 0 || view.hits.hidden) return;
    searching = true;
    try {
      const text = typed;
      const found = await kernel.ask({ kind: "search", text, at: hits.rows.length });
      if (view.box.value === text) showHits(found, true);
    } finally {
      searching = false;
      look();
    }
  };
  const clear = () => {
    const shown = !view.hits.hidden;
    view.box.value = typed = "";
    waiting = false;
    view.hits.hidden = true;
    view.hits.replaceChildren();
    view.sheet.hidden = false;
    if (shown) view.body.scrollTop = top;
    view.box.setAttribute("aria-expanded", "false");
    view.spoken.textContent = "";
    delete view.root.dataset.found;
    choose(-1);
  };

  view.box.addEventListener("input", () => {
    waiting = false;
    look();
  });
  view.box.addEventListener("keydown", (event) => {
    const count = hits.rows.length;
    if (!view.hits.hidden && count && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      choose(moved(active, event.key, count));
    } else if (isEnter(event)) {
      event.preventDefault();
      // Only what this very text found: the hits of the one before may still be there.
      waiting = view.root.dataset.found !== view.box.value;
      if (!waiting && hits.rows[active]) open(hits.rows[active].place);
    } else if (event.key === "Escape" && view.box.value) {
      event.preventDefault();
      event.stopPropagation();
      clear();
    }
  });
  view.body.addEventListener("scroll", () => {
    if (view.body.scrollTop + 2 * view.body.clientHeight > view.body.scrollHeight) further();
  });
  view.back.addEventListener("click", () => step(-1));
  view.forward.addEventListener("click", () => step(1));
  view.root.addEventListener("keydown", (event) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (altKey && !ctrlKey && !metaKey && !shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) {
      event.preventDefault();
      step(key === "ArrowLeft" ? -1 : 1);
    } else if (key === "/" && !altKey && !ctrlKey && !metaKey && event.target !== view.box) {
      event.preventDefault();
      view.box.focus();
    }
  });
  const sight = restFarAway(el, view.root);
  kernel.hello();
  return () => {
    sight.close();
    kernel.close();
  };
}

export default { render };
