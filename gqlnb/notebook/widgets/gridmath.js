// The arithmetic of the grid, without a page: what is seen where, and where a key leads.

export const ROW = 26; // px
export const BLOCK = 200; // rows of one request
export const WIDE = 24; // columns of one request
const TALLEST = 8_000_000; // px; browsers cap an element somewhere between 17 and 33 millions
const NARROW = 44; // px of a column
const BROAD = 340; // px at which a column no longer makes others scroll out of sight
const READABLE = 110; // px of a text that is cut
const STRETCH = 1.5; // times its content that a column grows to: further apart, a row is hard to follow
const LETTER = 7.4; // px of a character, about
const DIGIT = 8.3; // and of one in a number

/** Return the height of the space that scrolls, in px: all rows, or as many as an element can hold. */
export const spaceOf = (rows) => Math.min(rows * ROW, TALLEST);

/** Return how far down the rows a scroll position is, in px; `view` is the height that is seen. */
export function topOf(scroll, rows, view) {
  const all = rows * ROW;
  const space = spaceOf(rows);
  if (space === all) return scroll;
  return Math.min(1, Math.max(0, scroll / (space - view))) * (all - view);
}

/** Return the scroll position for a place in the rows: the other way round. */
export function scrollOf(top, rows, view) {
  const all = rows * ROW;
  const space = spaceOf(rows);
  return space === all ? top : (top / (all - view)) * (space - view);
}

/** Return the place from where a row is seen: unchanged if it is, else as near as can be. */
export function revealed(row, top, rows, view) {
  const least = (row + 1) * ROW - view;
  const most = row * ROW;
  const last = Math.max(0, rows * ROW - view);
  return Math.min(last, Math.max(0, Math.min(most, Math.max(least, top))));
}

/** Return the rows that are seen, one half hidden included: from, to (excluded). */
export function rowsSeen(top, rows, view) {
  const from = Math.max(0, Math.min(rows, Math.floor(top / ROW)));
  return [from, Math.min(rows, Math.ceil((top + view) / ROW))];
}

/** Return the columns between two places, given where each begins and the last ends. */
export function columnsSeen(lefts, from, to) {
  const last = lefts.length - 1;
  let first = 0;
  while (first < last && lefts[first + 1] <= from) first += 1;
  let end = first;
  while (end < last && lefts[end] < to) end += 1;
  return [first, end];
}

/** Tell the index that only counts the rows; its dtype says nothing. */
export const isPlain = ({ name, index }) => Boolean(index && !name);

/** Return the width that shows all of a column: its name, its dtype and its values. */
export function widthOf(column) {
  const { name, dtype, chars, kind } = column;
  const head = isPlain(column) ? 0 : Math.max((name.length + 2.5) * LETTER, dtype.length * 6.4);
  return Math.round(Math.max(NARROW, 26 + Math.max(chars * (kind === "text" ? LETTER : DIGIT), head)));
}

/** Return the least width of a column: a number or a time is not cut, only its name. */
function leastOf(column) {
  const least = column.kind === "text" ? READABLE : Math.round(26 + column.chars * DIGIT);
  return Math.min(widthOf(column), Math.max(NARROW, least));
}

/** Share `room` among columns, each by what it wants and no more than that. */
function shared(widths, wanted, room) {
  const wants = widths.map((width, at) => Math.max(0, wanted[at] - width));
  const all = wants.reduce((sum, want) => sum + want, 0);
  const part = all ? Math.min(1, room / all) : 0;
  return widths.map((width, at) => Math.floor(width + part * wants[at]));
}

/**
 * Return the widths of columns in a view `room` px wide (0: not known). Where there is too little,
 * texts are cut, as far as that keeps all columns in sight; where there is more, long texts get it
 * first, and what is left goes to all columns but those of the index.
 */
export function fitted(columns, room) {
  const natural = columns.map(widthOf);
  const usual = natural.map((width) => Math.min(BROAD, width));
  if (!room) return usual;
  const least = columns.map(leastOf);
  const sum = (widths) => widths.reduce((all, width) => all + width, 0);
  const bound = Math.max(READABLE, 0.8 * room); // wider than the view, a cell is never seen whole
  if (sum(least) > room) return usual.map((width) => Math.round(Math.min(width, bound)));
  if (sum(usual) > room) return shared(least, usual, room - sum(least));
  const whole = shared(usual, natural, room - sum(usual));
  const stretched = whole.map((width, at) => (columns[at].index ? width : width * STRETCH));
  return shared(whole, stretched, room - sum(whole));
}

/** Return where the columns begin, and where the last one ends. */
export function leftsOf(widths) {
  const lefts = [0];
  for (const width of widths) lefts.push(lefts.at(-1) + width);
  return lefts;
}

/** Return the blocks that cover some rows and columns, as [start row, first column]. */
export function blocksOf([from, to], [first, end]) {
  const found = [];
  if (from === to) return found;
  for (let row = from - (from % BLOCK); row < to; row += BLOCK)
    for (let column = first - (first % WIDE); column < end; column += WIDE) found.push([row, column]);
  return found;
}

/**
 * Return where a key leads from a cell, or null for another key. Row -1 is that of the names.
 * `page` is how many rows are seen at once.
 */
export function moved({ row, column }, { key, ctrlKey, metaKey }, { rows, columns, page }) {
  const far = ctrlKey || metaKey;
  const steps = {
    ArrowDown: [far ? rows : 1, 0],
    ArrowUp: [far ? -row : -1, 0],
    ArrowRight: [0, far ? columns : 1],
    ArrowLeft: [0, far ? -columns : -1],
    PageDown: [page, 0],
    PageUp: [-page, 0],
    Home: [far ? -rows : 0, -columns],
    End: [far ? rows : 0, columns],
  };
  if (!(key in steps)) return null;
  const [down, right] = steps[key];
  const top = key === "ArrowUp" && !far ? -1 : Math.min(0, row);
  return {
    row: Math.min(rows - 1, Math.max(top, row + down)),
    column: Math.min(columns - 1, Math.max(0, column + right)),
  };
}

/** Return the rectangle between two cells: [top, bottom], [left, right], the ends excluded. */
export function between(one, other) {
  return [
    [Math.max(0, Math.min(one.row, other.row)), Math.max(one.row, other.row) + 1],
    [Math.min(one.column, other.column), Math.max(one.column, other.column) + 1],
  ];
}

/**
 * Return the sorting after a click on a name: upwards, downwards, then as the rows came; with
 * `more`, besides what it is sorted by already.
 */
export function sortedBy(sort, column, more) {
  const now = sort.find(([at]) => at === column);
  const next = now === undefined ? [[column, false]] : now[1] ? [] : [[column, true]];
  if (!more) return next;
  if (now === undefined) return [...sort, ...next];
  return sort.flatMap((it) => (it === now ? next : [it]));
}

/** Return how a column is sorted: null, or whether downwards and, of several, which it is. */
export function wayOf(sort, column) {
  const at = sort.findIndex(([sorted]) => sorted === column);
  return at < 0 ? null : { down: sort[at][1], order: sort.length > 1 ? at + 1 : null };
}

/** Return the words for the rows that pass the filters; `caption` also says which the kernel lacks. */
export function countOf(rows, total, caption) {
  const [some, every] = [rows, total].map((number) => number.toLocaleString("en-US"));
  const all = `${every} ${total === 1 ? "row" : "rows"}`;
  if (rows === total) return caption || all;
  return !caption || caption === all ? `${some} of ${all}` : `${some} found in ${caption}`;
}

/** Tell whether columns are those that were there before, though their values may have changed. */
export function sameColumns(columns, before) {
  const known = (list) => JSON.stringify(list.map(({ name, dtype, index }) => [name, dtype, index]));
  return known(columns) === known(before);
}
