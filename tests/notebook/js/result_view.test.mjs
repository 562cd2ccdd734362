// The plain functions of the view of results and of its tree.

import assert from "node:assert/strict";
import test from "node:test";

import { gridKeys } from "../../../gqlnb/notebook/widgets/grid.js";
import view from "../../../gqlnb/notebook/widgets/result_view.js";
import { meaning, rangesOf } from "../../../gqlnb/notebook/widgets/tree.js";

test("few children stand by themselves", () => assert.deepEqual(rangesOf(0, 100), []));

test("many children are folded into ranges, very many into ranges of ranges", () => {
  assert.deepEqual(rangesOf(0, 250), [[0, 100], [100, 200], [200, 250]]);
  for (const count of [101, 10_000, 10_001, 1_000_000, 1_234_567]) {
    const ranges = rangesOf(0, count);
    assert.ok(ranges.length > 1 && ranges.length <= 100);
    assert.equal(ranges[0][0], 0);
    assert.equal(ranges.at(-1)[1], count);
    ranges.slice(1).forEach(([start], i) => assert.equal(start, ranges[i][1]));
  }
});

test("the ranges in a range are its own", () => {
  const [, second] = rangesOf(0, 25_000);
  assert.deepEqual(second, [10_000, 20_000]);
  assert.deepEqual(rangesOf(...second)[1], [10_100, 10_200]);
});

test("keys mean what they mean in every tree, and nothing with Control", () => {
  assert.equal(meaning({ key: "ArrowLeft" }), "out");
  assert.equal(meaning({ key: "Enter" }), "toggle");
  assert.equal(meaning({ key: "ArrowLeft", ctrlKey: true }), undefined);
  assert.equal(meaning({ key: "a" }), undefined);
});

test("the grid claims to copy and to select all, a box in it does not", () => {
  const grid = { getAttribute: () => "grid" };
  assert.ok(gridKeys({ key: "c", target: grid }) && gridKeys({ key: "A", target: grid }));
  assert.ok(!gridKeys({ key: "s", target: grid }));
  assert.ok(!gridKeys({ key: "c", target: { getAttribute: () => null } }));
});

test("the module gives the loader a render function", () => assert.equal(typeof view.render, "function"));
