// What the views of all widgets share, and the loader that links their modules.

import assert from "node:assert/strict";
import test from "node:test";

globalThis.document ??= { createElement: () => ({ setAttribute() {}, append() {}, remove() {} }) };
const { connect, debounced, grouped, helloWait, isEnter, tabAt } = await import(
  "../../../gqlnb/notebook/widgets/common.js"
);
const { linked } = await import("../../../gqlnb/notebook/widgets/loader.js");

/** Stands for the model: keeps what is sent, says what it is told to say. */
class Model {
  constructor() {
    this.sent = [];
    this.heard = new Set();
  }
  send(message) {
    if (this.closed) throw new Error("closed");
    this.sent.push(message);
  }
  on(_, listener) {
    this.heard.add(listener);
  }
  off(_, listener) {
    this.heard.delete(listener);
  }
  say(message, buffers) {
    for (const listener of this.heard) listener(message, buffers);
  }
}

const root = { prepend() {} };

test("an answer finds the question it is for, in whatever order", async () => {
  const model = new Model();
  const kernel = connect(model, root);
  const [one, two] = [kernel.ask({ kind: "x" }), kernel.ask({ kind: "x" })];
  const [a, b] = model.sent.map(({ id }) => id);
  model.say({ kind: "y", n: 2, id: b });
  model.say({ kind: "y", n: 1, id: a });
  assert.deepEqual([(await one).n, (await two).n], [1, 2]);
  kernel.close();
});

test("what went wrong with a question is its failure, in words", async () => {
  const model = new Model();
  const kernel = connect(model, root);
  const asked = kernel.ask({ kind: "x" });
  model.say({ kind: "failed", text: "Not so.", id: model.sent[0].id });
  await assert.rejects(asked, { message: "Not so." });
  kernel.close();
});

test("what another view asked is not heard", () => {
  const model = new Model();
  const heard = [];
  const kernel = connect(model, root, { state: (message) => heard.push(message), failed: (text) => heard.push(text) });
  for (const kind of ["state", "failed"]) model.say({ kind, text: "x", id: "of-another" });
  assert.deepEqual(heard, []);
  model.say({ kind: "failed", text: "to all" });
  model.say({ kind: "state", n: 1 });
  assert.deepEqual(heard, ["to all", { kind: "state", n: 1 }]);
  kernel.close();
});

test("a closed connection is told, and a closed view hears nothing", () => {
  const model = new Model();
  const told = [];
  const kernel = connect(model, root, { state: () => told.push("state"), silent: (text) => told.push(text) });
  model.closed = true;
  kernel.send({ kind: "x" });
  assert.match(told[0], /does not answer/);
  kernel.close();
  model.say({ kind: "state" });
  kernel.send({ kind: "x" });
  assert.equal(told.length, 1);
});

test("hello is said again after longer and longer waits, and then no more", () => {
  const waits = [];
  for (let wait = helloWait(0); wait !== null; wait = helloWait(waits.length)) waits.push(wait);
  assert.ok(waits.length > 1);
  assert.deepEqual(waits, [...waits].sort((a, b) => a - b));
});

test("numbers are grouped, what is none is nothing, and only a bare Enter is one", () => {
  assert.deepEqual([1234567, 0, null, NaN].map(grouped), ["1,234,567", "0", "", ""]);
  assert.ok(isEnter({ key: "Enter" }));
  for (const other of ["isComposing", "shiftKey", "ctrlKey", "altKey", "metaKey"])
    assert.ok(!isEnter({ key: "Enter", [other]: true }));
});

test("what is called again and again is done once", async () => {
  const done = await new Promise((resolve) => {
    const soon = debounced(resolve, 1);
    for (const n of [1, 2, 3]) soon(n);
  });
  assert.equal(done, 3);
});

test("texts become modules that import each other, once a page", async () => {
  const files = [
    { name: "b.js", hash: "1", text: "export const b = 41;" },
    { name: "a.js", hash: "2", text: 'import { b } from "./b.js";\nexport const a = b + 1;' },
  ];
  const known = new Map();
  const made = [];
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    made.push(blob);
    return `blob:${made.length}`;
  };
  try {
    assert.deepEqual(linked(files, known), { "b.js": "blob:1", "a.js": "blob:2" });
    assert.equal(await made[1].text(), 'import { b } from "blob:1";\nexport const a = b + 1;');
    linked(files, known);
    assert.equal(made.length, 2);
  } finally {
    URL.createObjectURL = createObjectURL;
  }
});

test("arrows lead from tab to tab and around", () => {
  assert.equal(tabAt("ArrowRight", 2, 3), 0);
  assert.equal(tabAt("ArrowLeft", 0, 3), 2);
  assert.equal(tabAt("Home", 2, 3), 0);
  assert.equal(tabAt("End", 0, 3), 2);
  assert.equal(tabAt("Tab", 0, 3), null);
});
