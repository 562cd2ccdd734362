// The plain functions of the view of TokenBox. What touches the page is tested in the browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

// By its text: its name ends in .js, which Node before 22.7 takes for a script, not a module.
const source = readFileSync(new URL("../../../gqlnb/notebook/widgets/token_box.js", import.meta.url));
const view = await import(`data:text/javascript;base64,${source.toString("base64")}`);

test("the sentence tells whether the kernel has a token, and what was wrong first", () => {
  assert.match(view.sentence({ held: false, error: "" }), /not in the notebook/);
  assert.match(view.sentence({ held: true, error: "" }), /^The kernel has it/);
  assert.equal(view.sentence({ held: true, error: "Wrong." }), "Wrong.");
});

test("hello is said again after longer and longer waits, and then no more", () => {
  const waits = [];
  for (let wait = view.helloWait(0); wait !== null; wait = view.helloWait(waits.length)) waits.push(wait);
  assert.ok(waits.length > 1);
  assert.deepEqual(waits, [...waits].sort((a, b) => a - b));
});

test("only a bare Enter hands the token over", () => {
  assert.ok(view.isEnter({ key: "Enter" }));
  for (const other of ["isComposing", "shiftKey", "ctrlKey", "altKey", "metaKey"])
    assert.ok(!view.isEnter({ key: "Enter", [other]: true }));
});

test("no value of the box goes into the model or into storage", () => {
  const text = source.toString();
  assert.ok(!/model\.(set|save_changes)|[sS]torage\b(?! a)|console\./.test(text.replace(/^\/\/.*$/gm, "")));
});

test("the module gives anywidget a render function", () => {
  assert.equal(typeof view.default.render, "function");
});
