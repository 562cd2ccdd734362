// The arithmetic of the grid: what is seen where, and where a key leads.

import assert from "node:assert/strict";
import test from "node:test";

import * as math from "../../../gqlnb/notebook/widgets/gridmath.js";

const { ROW } = math;
const MANY = 10_000_000;

test("a short frame scrolls pixel by pixel", () => {
  assert.equal(math.spaceOf(100), 100 * ROW);
  assert.equal(math.topOf(333.5, 100, 260), 333.5);
  assert.equal(math.scrollOf(333.5, 100, 260), 333.5);
});

test("a long frame fits into an element, and both its ends are reached", () => {
  const space = math.spaceOf(MANY);
  assert.ok(space < 16_000_000);
  assert.equal(math.topOf(0, MANY, 260), 0);
  assert.equal(math.topOf(space - 260, MANY, 260), MANY * ROW - 260);
  assert.equal(math.topOf(space + 99, MANY, 260), MANY * ROW - 260);
  const top = 123_456_789;
  assert.ok(Math.abs(math.topOf(math.scrollOf(top, MANY, 260), MANY, 260) - top) < 1e-3);
});

test("the rows that are seen include halves, and never those that are not there", () => {
  assert.deepEqual(math.rowsSeen(0, 100, 2 * ROW), [0, 2]);
  assert.deepEqual(math.rowsSeen(1, 100, 2 * ROW), [0, 3]);
  assert.deepEqual(math.rowsSeen(99 * ROW, 100, 20 * ROW), [99, 100]);
  assert.deepEqual(math.rowsSeen(0, 0, 20 * ROW), [0, 0]);
});

test("revealing moves no more than it has to", () => {
  const view = 10 * ROW;
  assert.equal(math.revealed(5, 0, 100, view), 0);
  assert.equal(math.revealed(10, 0, 100, view), ROW);
  assert.equal(math.revealed(3, 5 * ROW, 100, view), 3 * ROW);
  assert.equal(math.revealed(99, 0, 100, view), 90 * ROW);
  assert.equal(math.revealed(2, 0, 3, view), 0);
});

test("the columns that are seen", () => {
  const lefts = math.leftsOf([100, 50, 200]);
  assert.deepEqual(lefts, [0, 100, 150, 350]);
  assert.deepEqual(math.columnsSeen(lefts, 0, 100), [0, 1]);
  assert.deepEqual(math.columnsSeen(lefts, 99, 151), [0, 3]);
  assert.deepEqual(math.columnsSeen(lefts, 100, 9999), [1, 3]);
  assert.deepEqual(math.columnsSeen([0], 0, 100), [0, 0]);
});

test("a column is as wide as what stands in it, within bounds", () => {
  const width = (chars, name = "n") => math.widthOf({ name, dtype: "str", chars, kind: "text" });
  assert.equal(width(0), width(3));
  assert.ok(width(20) > width(5));
  assert.ok(width(2, "a_rather_long_name") > width(2));
  const index = { name: "", dtype: "int64", chars: 2, kind: "number", index: true };
  assert.ok(math.widthOf(index) < math.widthOf({ ...index, name: "id" }), "no place for a dtype not shown");
});

const text = (chars) => ({ name: "name", dtype: "string", chars, kind: "text" });
const number = { name: "a_long_name_of_a_number", dtype: "Int64", chars: 7, kind: "number", right: true };
const counter = { name: "", dtype: "int64", chars: 2, kind: "number", right: true, index: true };
const sum = (widths) => widths.reduce((all, width) => all + width, 0);

test("long texts are cut before any column is out of sight, numbers are not", () => {
  const columns = [counter, text(60), text(60), number];
  const widths = math.fitted(columns, 480);
  assert.ok(sum(widths) <= 480 && sum(widths) > 470, `${widths}`);
  assert.ok(widths[3] >= 7 * 8.3 && widths[1] < math.widthOf(columns[1]));
  assert.ok(sum(math.fitted(columns, 200)) > 200, "no narrower than can be read");
});

test("room that is left goes to texts that are cut, then to all columns, within bounds", () => {
  const columns = [counter, text(150), text(10)];
  const natural = columns.map(math.widthOf);
  const [index, long, short] = math.fitted(columns, 1000);
  assert.equal(index, natural[0]);
  assert.ok(long > 800 && short >= natural[2]);
  const wide = math.fitted([counter, text(10), text(10)], 4000);
  assert.deepEqual(wide, [natural[0], ...[1, 2].map(() => Math.floor(natural[2] * 1.5))]);
  assert.equal(sum(math.fitted(columns, 1200)) <= 1200, true);
});

test("a view that is not measured yet gets the usual widths", () => {
  assert.deepEqual(math.fitted([text(10), text(200)], 0), [math.widthOf(text(10)), 340]);
});

test("blocks cover what is seen", () => {
  assert.deepEqual(math.blocksOf([0, 20], [0, 5]), [[0, 0]]);
  assert.deepEqual(math.blocksOf([190, 210], [20, 30]), [[0, 0], [0, 24], [200, 0], [200, 24]]);
  assert.deepEqual(math.blocksOf([5, 5], [0, 5]), []);
});

test("keys lead from cell to cell and stop at the edges", () => {
  const grid = { rows: 100, columns: 5, page: 10 };
  const from = (row, column, key, more = {}) => {
    const to = math.moved({ row, column }, { key, ...more }, grid);
    return to && [to.row, to.column];
  };
  assert.deepEqual(from(0, 0, "ArrowDown"), [1, 0]);
  assert.deepEqual(from(99, 4, "ArrowDown"), [99, 4]);
  assert.deepEqual(from(99, 4, "ArrowRight"), [99, 4]);
  assert.deepEqual(from(0, 1, "ArrowUp"), [-1, 1]);
  assert.deepEqual(from(-1, 1, "ArrowUp"), [-1, 1]);
  assert.deepEqual(from(-1, 1, "ArrowDown"), [0, 1]);
  assert.deepEqual(from(-1, 1, "ArrowLeft"), [-1, 0]);
  assert.deepEqual(from(5, 1, "PageUp"), [0, 1]);
  assert.deepEqual(from(95, 1, "PageDown"), [99, 1]);
  assert.deepEqual(from(50, 3, "Home"), [50, 0]);
  assert.deepEqual(from(50, 3, "End"), [50, 4]);
  assert.deepEqual(from(50, 3, "Home", { ctrlKey: true }), [0, 0]);
  assert.deepEqual(from(50, 3, "End", { metaKey: true }), [99, 4]);
  assert.deepEqual(from(50, 3, "ArrowUp", { ctrlKey: true }), [0, 3]);
  assert.equal(from(0, 0, "x"), null);
});

test("keys in an empty grid stay at the names", () => {
  const to = math.moved({ row: 0, column: 0 }, { key: "PageDown" }, { rows: 0, columns: 1, page: 10 });
  assert.deepEqual(to, { row: -1, column: 0 });
});

test("a selection has its corners wherever it was begun", () => {
  assert.deepEqual(math.between({ row: 5, column: 1 }, { row: 3, column: 2 }), [[3, 6], [1, 3]]);
  assert.deepEqual(math.between({ row: -1, column: 0 }, { row: 0, column: 0 }), [[0, 1], [0, 1]]);
});

test("a click sorts upwards, downwards, not at all; with more, besides the others", () => {
  assert.deepEqual(math.sortedBy([], 1, false), [[1, false]]);
  assert.deepEqual(math.sortedBy([[1, false]], 1, false), [[1, true]]);
  assert.deepEqual(math.sortedBy([[1, true]], 1, false), []);
  assert.deepEqual(math.sortedBy([[1, true]], 2, false), [[2, false]]);
  assert.deepEqual(math.sortedBy([[1, true]], 2, true), [[1, true], [2, false]]);
  assert.deepEqual(math.sortedBy([[1, false], [2, false]], 1, true), [[1, true], [2, false]]);
  assert.deepEqual(math.sortedBy([[1, true], [2, false]], 1, true), [[2, false]]);
});

test("how a column is sorted is told, with its turn where there are others", () => {
  assert.equal(math.wayOf([[1, true]], 2), null);
  assert.deepEqual(math.wayOf([[1, true]], 1), { down: true, order: null });
  assert.deepEqual(math.wayOf([[1, true], [2, false]], 2), { down: false, order: 2 });
});

test("the number of rows says which pass the filters, and which the kernel lacks", () => {
  const caption = "100 of 1,067 rows; --paginate fetches all";
  assert.equal(math.countOf(1, 1, ""), "1 row");
  assert.equal(math.countOf(12, 100_000, "100,000 rows"), "12 of 100,000 rows");
  assert.equal(math.countOf(100, 100, caption), caption);
  assert.equal(math.countOf(12, 100, caption), `12 found in ${caption}`);
});

test("columns stay the same while their values change", () => {
  const column = { name: "n", dtype: "int64", index: false, chars: 2 };
  assert.ok(math.sameColumns([{ ...column, chars: 9 }], [column]));
  assert.ok(!math.sameColumns([{ ...column, dtype: "str" }], [column]));
  assert.ok(!math.sameColumns([column, column], [column]));
});
