// The plain functions of the view of SchemaView. What touches the page is tested in the browser.

import assert from "node:assert/strict";
import test from "node:test";

import * as view from "../../../gqlnb/notebook/widgets/schema_view.js";

test("a line is text, code, emphasis and links to the web", () => {
  assert.deepEqual(view.spans("Use `a*b` or **this**, *not* [that](https://x.y/z?a=1)."), [
    { kind: "text", text: "Use " },
    { kind: "code", text: "a*b" },
    { kind: "text", text: " or " },
    { kind: "strong", text: "this" },
    { kind: "text", text: ", " },
    { kind: "em", text: "not" },
    { kind: "text", text: " " },
    { kind: "link", text: "that", href: "https://x.y/z?a=1" },
    { kind: "text", text: "." },
  ]);
});

test("what is no Markdown of ours stays text, whole and in order", () => {
  for (const text of [
    "",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,y)",
    '[x](https://a" onclick="b)',
    "2 * 3 * 4",
    "snake_case_name",
    "**",
    "``",
    "![x](picture.png)",
    "&lt;b&gt;",
  ])
    assert.deepEqual(view.spans(text), text ? [{ kind: "text", text }] : []);
});

test("lines are paragraphs, items, headings and code", () => {
  const text = "One\ntwo.\n\n## Head\n- a\n  more\n* b\n1. c\n\n```js\nx  = 1\n\ny\n```\nend";
  assert.deepEqual(view.blocks(text), [
    { kind: "p", text: "One two." },
    { kind: "head", text: "Head" },
    { kind: "li", text: "a more" },
    { kind: "li", text: "b" },
    { kind: "li", text: "c" },
    { kind: "pre", text: "x  = 1\n\ny" },
    { kind: "p", text: "end" },
  ]);
  assert.deepEqual(view.blocks("```\nleft open"), [{ kind: "pre", text: "left open" }]);
  assert.deepEqual(view.blocks(""), []);
});

test("text that is hard to read is read in no time", () => {
  const begun = performance.now();
  for (const text of ["*".repeat(4000), "`".repeat(4000), "[".repeat(4000), "**a".repeat(1300), "[a](https://".repeat(330)])
    view.blocks(text).forEach((it) => view.spans(it.text));
  assert.ok(performance.now() - begun < 2000);
});

test("a trail goes back and forth, and forgets what was ahead of another way", () => {
  const been = view.trail();
  assert.equal(been.now(), null);
  assert.equal(been.move(-1), null);
  for (const place of ["", "A", "A", "B"]) been.go(place, 5);
  assert.deepEqual([been.back(), been.forward()], [true, false]);
  assert.equal(been.move(-1, 7).place, "A");
  assert.equal(been.move(1).top, 7);
  been.move(-1);
  been.go("C");
  assert.equal(been.forward(), false);
  assert.equal(been.move(-1).place, "A");
  assert.equal(been.move(-1).place, "");
  assert.equal(been.back(), false);
});

test("arrows go through the hits and round", () => {
  assert.equal(view.moved(0, "ArrowDown", 3), 1);
  assert.equal(view.moved(2, "ArrowDown", 3), 0);
  assert.equal(view.moved(0, "ArrowUp", 3), 2);
  assert.equal(view.moved(-1, "ArrowDown", 1), 0);
});

test("a hit is called by what it belongs to and its own name", () => {
  assert.deepEqual(view.parts("User.login"), ["User", ".login"]);
  assert.deepEqual(view.parts("User"), ["", "User"]);
  assert.deepEqual(view.parts("Query.users(first)"), ["Query", ".users(first)"]);
  assert.deepEqual(view.parts("@cost(points)"), ["@cost", "(points)"]);
});
