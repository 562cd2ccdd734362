// The view of gqlnb.ResultView: a tab for each frame and for the data, made when it is first seen.

import { connect, keepKeys, make, restFarAway, tabAt, unique } from "./common.js";
import { gridKeys, makeGrid } from "./grid.js";
import { makeTree } from "./tree.js";

/** Build tabs with their panels; the panel of a tab is filled by `fill(tab, panel)` when first seen. */
function tabbed(tabs, fill) {
  const id = unique("tab");
  const panels = tabs.map((tab, at) =>
    make("div", { id: `${id}-p${at}`, role: "tabpanel", "aria-labelledby": `${id}-${at}`, hidden: "" }),
  );
  const names = tabs.map(({ label }, at) =>
    make("button", { type: "button", id: `${id}-${at}`, role: "tab", "aria-controls": `${id}-p${at}` }, label),
  );
  const list = make("div", { class: "gqlnb-tabs", role: "tablist", "aria-label": "Views of the result" }, ...names);
  if (tabs.length === 1) return { parts: panels.map(alone), show: () => fill(tabs[0], panels[0]) };
  const show = (chosen) => {
    names.forEach((name, at) => {
      name.setAttribute("aria-selected", String(at === chosen));
      name.tabIndex = at === chosen ? 0 : -1;
      panels[at].hidden = at !== chosen;
    });
    if (!panels[chosen].childElementCount) fill(tabs[chosen], panels[chosen]);
  };
  names.forEach((name, at) => name.addEventListener("click", () => show(at)));
  list.addEventListener("keydown", (event) => {
    const next = tabAt(event.key, names.indexOf(event.target), names.length);
    if (next === null) return;
    event.preventDefault();
    names[next].focus();
    show(next);
  });
  return { parts: [list, ...panels], show };
}

/** Make a panel that no tab leads to an ordinary part of the page. */
function alone(panel) {
  for (const name of ["role", "aria-labelledby", "hidden"]) panel.removeAttribute(name);
  return panel;
}

function render({ model, el }) {
  const root = make("div", { class: "gqlnb-widget gqlnb-result" });
  const made = [];
  const fill = ({ kind, tab, label }, panel) => {
    const ask = (question) => kernel.ask({ kind, tab, ...question });
    const part = kind === "tree" ? makeTree(ask, "result.data") : makeGrid(ask, label);
    made.push(part);
    panel.append(part.root);
    part.refresh();
  };
  const kernel = connect(model, root, {
    state({ tabs, errors }) {
      if (made.length) return;
      if (errors.length) root.append(make("div", { class: "gqlnb-errors", role: "note" }, errors.join("\n")));
      const { parts, show } = tabbed(tabs, fill);
      root.append(...parts);
      show(0);
    },
  });
  el.append(root);
  keepKeys(root, gridKeys);
  const sight = restFarAway(el, root);
  kernel.hello();
  return () => {
    sight.close();
    kernel.close();
    for (const part of made) part.close();
  };
}

export default { render };
