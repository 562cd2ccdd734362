// Bars and a histogram as SVG, drawn anew when their place changes its width. Each is a figure with a
// sentence that says what it shows and a table of the same numbers; colours are the theme's.

import { OUTWARD, draw, grouped, make, pageOf, unique } from "./common.js";

const ROW = 18; // px from bar to bar
const LETTER = 7.8; // px of a letter at 12 px, at most as a rule
const SLIM = 440; // px of a chart below which a name has a line of its own
const TALL = 250; // px of the histogram
const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Return a number in as few letters as do not change it: 12.5k, 1M, 999. */
export function compact(number) {
  const [size, letter] = UNITS.find(([size]) => number >= size) ?? [1, ""];
  return `${Number((number / size).toPrecision(4))}${letter}`;
}

/** Return the numbers beside an axis from 0 to `most`: whole, at most six, 1, 2 or 5 apart. */
export function ticks(most) {
  let step = 1;
  for (let i = 0; most / step > 5; i += 1) step *= i % 3 === 1 ? 2.5 : 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/** Cut a text to a width in px. */
export const cut = (text, width) =>
  text.length * LETTER <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / LETTER) - 1))}…`;

/** Return the words for the numbers of a range. */
export const ranged = ({ low, high }) => (low === high ? grouped(low) : `${grouped(low)} to ${grouped(high)}`);

/** Return every how many labels there is room for one. */
export const every = (count, width, room) => Math.max(1, Math.ceil((count * room) / Math.max(1, width)));

const text = (x, y, said, attributes = {}) => draw("text", { x, y, ...attributes }, said);
const tip = (said) => draw("title", {}, said);

/** Draw one bar below the other, names on the left or above, numbers behind the bars. */
function drawBars(svg, bars, width) {
  const slim = width < SLIM;
  const left = slim ? 0 : Math.min(260, width * 0.4);
  const room = Math.max(20, width - left - 76);
  const most = Math.max(1, ...bars.map(({ stars }) => stars));
  const high = slim ? 2 * ROW : ROW;
  svg.setAttribute("height", bars.length * high + 4);
  svg.replaceChildren(
    ...bars.map(({ name, stars }, i) => {
      const top = i * high + 2;
      const y = top + high - ROW;
      const long = Math.max(1, (stars / most) * room);
      const label = slim
        ? text(0, top + 14, cut(name, width))
        : text(left - 8, y + 12, cut(name, left - 8), { "text-anchor": "end" });
      return draw(
        "g",
        {},
        label,
        draw("rect", { x: left, y: y + 2, width: long, height: ROW - 5, rx: 1.5 }),
        text(left + long + 6, y + 12, grouped(stars), { class: "gqlnb-faint" }),
        tip(`${name}: ${grouped(stars)} stars`),
      );
    }),
  );
}

/** Draw a column for each range, equally wide, as the ranges are on a logarithmic scale. */
function drawBins(svg, bins, width) {
  const [left, right, above, below] = [46, 12, 18, 38];
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const tall = TALL - above - below;
  const wide = Math.max(1, width - left - right) / bins.length;
  const at = (count) => above + tall * (1 - count / most);
  const numbered = wide >= 34; // room for a number above each column
  const step = every(bins.length, width - left - right, 52);
  const lines = ticks(most).flatMap((tick) => [
    draw("line", { x1: left, x2: width - right, y1: at(tick), y2: at(tick) }),
    text(left - 8, at(tick) + 4, compact(tick), { "text-anchor": "end", class: "gqlnb-faint" }),
  ]);
  const hatch = unique("hatch");
  const columns = bins.map(({ low, high, count, held }, i) => {
    const x = left + i * wide;
    const heightOf = (number) => (number ? Math.max(1.5, (tall * number) / most) : 0);
    const height = heightOf(count);
    const column = (tallness, attributes) =>
      draw("rect", { x: x + 1, y: above + tall - tallness, width: Math.max(1, wide - 2), height: tallness, rx: 1.5, ...attributes });
    return draw(
      "g",
      {},
      ...(held < count ? [column(height, { class: "gqlnb-hatched", style: `fill: url(#${hatch})` })] : []),
      column(heightOf(held)),
      ...(numbered && count
        ? [text(x + wide / 2, above + tall - height - 4, grouped(count), { "text-anchor": "middle" })]
        : []),
      ...(i % step ? [] : [text(x + 1, above + tall + 15, compact(low), { class: "gqlnb-faint" })]),
      tip(`${ranged({ low, high })} stars: ${grouped(count)}${held < count ? `, ${grouped(held)} in the rows` : ""}`),
    );
  });
  const stripes = { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  svg.setAttribute("height", TALL);
  svg.replaceChildren(
    draw("pattern", stripes, draw("line", { class: "gqlnb-stripe", x1: 1, x2: 1, y1: 0, y2: 6 })),
    ...lines,
    ...columns,
    text(left + (width - left - right) / 2, TALL - 4, "stars, on a logarithmic scale", {
      "text-anchor": "middle",
      class: "gqlnb-faint",
    }),
  );
}

/** Return the name of a repository as a link, if its page is known. */
function linked(site, name) {
  const href = pageOf(site, ...name.split("/"));
  return href ? make("a", { href, ...OUTWARD }, name) : name;
}

/** Return a table of the same numbers, closed. */
function twin(names, rows) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));
  return make(
    "details",
    { class: "gqlnb-twin" },
    make("summary", {}, "As a table"),
    make(
      "table",
      {},
      make("thead", {}, row("th", names)),
      make("tbody", {}, ...rows.map((cells) => row("td", cells))),
    ),
  );
}

/** Make an empty figure; `set(name, said, paint, table)` fills it, `close()` stops watching it. */
function figure() {
  const svg = draw("svg", { role: "img", width: "100%" });
  const said = make("figcaption");
  const root = make("figure", { class: "gqlnb-chart" }, said, svg);
  let paint = () => {};
  let width = 0;
  const again = () => {
    const now = Math.floor(svg.getBoundingClientRect().width);
    if (now > 0) paint(svg, (width = now));
  };
  const watch = new ResizeObserver(() => {
    if (Math.floor(svg.getBoundingClientRect().width) !== width) again();
  });
  watch.observe(root);
  const set = (name, sentence, painter, table) => {
    svg.setAttribute("aria-label", `${name}. ${sentence}`);
    said.textContent = sentence;
    root.querySelector("details")?.remove();
    root.append(table);
    paint = painter;
    again();
  };
  return { root, set, close: () => watch.disconnect() };
}

/** Make the bars of the repositories with the most stars. */
export function barChart() {
  const { root, set, close } = figure();
  const show = ({ bars, said, site }) =>
    set(
      "Bar chart",
      said,
      (svg, width) => drawBars(svg, bars, width),
      twin(["Repository", "Stars"], bars.map(({ name, stars }) => [linked(site, name), grouped(stars)])),
    );
  return { root, show, close };
}

/** Make the histogram of how many have how many stars. */
export function histogram() {
  const { root, set, close } = figure();
  const show = ({ bins, said }) =>
    set(
      "Histogram",
      said,
      (svg, width) => bins.length && drawBins(svg, bins, width),
      twin(
        ["Stars", "Repositories", "In the rows"],
        bins.map((bin) => [ranged(bin), grouped(bin.count), grouped(bin.held)]),
      ),
    );
  return { root, show, close };
}
