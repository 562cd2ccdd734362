// The plain functions of the view of StarSearch. What touches the page is tested in the browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

// By its text: its name ends in .js, which Node before 22.7 takes for a script, not a module.
const source = readFileSync(new URL("../../../gqlnb/notebook/widgets/star_search.js", import.meta.url));
const view = await import(`data:text/javascript;base64,${source.toString("base64")}`);

test("numbers get separators between thousands", () => {
  assert.equal(view.grouped(1234567), "1,234,567");
  assert.equal(view.grouped(0), "0");
});

test("what is no number has no digits", () => {
  for (const value of [null, undefined, NaN, Infinity, "12"]) assert.equal(view.grouped(value), "");
});

test("a cell shows text as it is, numbers grouped, nothing for null", () => {
  assert.equal(view.cellText("<b>"), "<b>");
  assert.equal(view.cellText(1000), "1,000");
  assert.equal(view.cellText(null), "");
});

test("a click sends both texts without the blanks around them", () => {
  assert.deepEqual(view.request(" >= 10 ", " 5"), { kind: "run", query: ">= 10", limit: "5" });
});

test("no limit is an empty box", () => {
  assert.equal(view.limitText(null), "");
  assert.equal(view.limitText(100), "100");
});

test("the part done is unknown until a page and the number wanted are known", () => {
  assert.equal(view.fraction({ got: 0, wanted: 100 }), null);
  assert.equal(view.fraction({ got: 10, wanted: null }), null);
  assert.equal(view.fraction({}), null);
});

test("the part done stays between nothing and all", () => {
  assert.equal(view.fraction({ got: 50, wanted: 200 }), 0.25);
  assert.equal(view.fraction({ got: 300, wanted: 200 }), 1);
});

test("hello is said again after longer and longer waits, and then no more", () => {
  const waits = [];
  for (let wait = view.helloWait(0); wait !== null; wait = view.helloWait(waits.length)) waits.push(wait);
  assert.ok(waits.length > 1);
  assert.deepEqual(waits, [...waits].sort((a, b) => a - b));
});

test("only a bare Enter searches", () => {
  assert.ok(view.isEnter({ key: "Enter" }));
  for (const other of ["isComposing", "shiftKey", "ctrlKey", "altKey", "metaKey"])
    assert.ok(!view.isEnter({ key: "Enter", [other]: true }));
  assert.ok(!view.isEnter({ key: "a" }));
});

test("the module gives anywidget a render function", () => {
  assert.equal(typeof view.default.render, "function");
});
