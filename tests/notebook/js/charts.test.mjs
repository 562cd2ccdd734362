// The plain functions of the charts. What is drawn is looked at in the browser.

import assert from "node:assert/strict";
import test from "node:test";

import * as charts from "../../../gqlnb/notebook/widgets/charts.js";

test("numbers are short and say the same", () => {
  const said = { 0: "0", 999: "999", 1000: "1k", 12500: "12.5k", 31500: "31.5k", 1e6: "1M", 2.24e9: "2.24G", 1e14: "100T" };
  for (const [number, text] of Object.entries(said)) assert.equal(charts.compact(Number(number)), text);
});

test("an axis has few ticks, whole and evenly apart, up to the largest number", () => {
  for (const most of [1, 2, 5, 6, 37, 99, 100, 12345, 10 ** 9]) {
    const found = charts.ticks(most);
    assert.ok(found.length >= 2 && found.length <= 6, `${most}: ${found}`);
    assert.ok(found.every(Number.isInteger));
    assert.equal(found[0], 0);
    assert.ok(found.at(-1) <= most && most < found.at(-1) + found[1]);
  }
});

test("a text is cut to its width with a mark", () => {
  assert.equal(charts.cut("short", 200), "short");
  assert.equal(charts.cut("a".repeat(100), 64), `${"a".repeat(7)}…`);
});

test("a range of one number is that number", () => {
  assert.equal(charts.ranged({ low: 7, high: 7 }), "7");
  assert.equal(charts.ranged({ low: 1000, high: 1999 }), "1,000 to 1,999");
});

test("labels are left out where there is no room for all", () => {
  assert.equal(charts.every(10, 600, 52), 1);
  assert.equal(charts.every(40, 600, 52), 4);
  assert.equal(charts.every(5, 0, 52), 260);
});
