// The plain functions of the view of StarSearch. What touches the page is tested in the browser.

import assert from "node:assert/strict";
import test from "node:test";

import * as view from "../../../gqlnb/notebook/widgets/star_search.js";

test("the slider goes from none over one to a million in steps of two digits", () => {
  assert.deepEqual([0, 1, 21, 41, 61, 121].map(view.starsAt), [0, 1, 10, 100, 1000, 1_000_000]);
  assert.equal(view.starsAt(68), 2200);
});

test("each place of the slider is where its number is, from ten on", () => {
  for (let place = 21; place <= 121; place += 1) assert.equal(view.placeOf(view.starsAt(place)), place);
  for (const [stars, place] of [[0, 0], [1, 1], [10_000, 81], [10 ** 12, 121]]) assert.equal(view.placeOf(stars), place);
});

test("a threshold begins at its first number, however it is written", () => {
  for (const [text, stars] of [[">1000", 1000], [">= 1,000", 1000], ["1_000..5000", 1000], [" 7 ", 7]])
    assert.equal(view.startOf(text), stars);
  for (const text of ["", "many", "1 000", "> ", "..5", "-3"]) assert.equal(view.startOf(text), null);
});

test("the slider moves a threshold and keeps its form where that fits", () => {
  const cases = [[">1000", ">50"], [">=1,000", ">=50"], ["10..1,000", "50..1000"], ["10..20", ">50"], ["7", ">50"], ["?", ">50"]];
  for (const [before, after] of cases) assert.equal(view.moved(before, 50), after);
});

test("a search is taken apart and put together again", () => {
  for (const query of [
    ">1000",
    ">=1000 language:python",
    "10..20 language:\"objective c\" -user:google sort:forks-asc",
    "7 sort:updated",
    "stars:<5 vim",
    "language:python sort:stars",
  ])
    assert.equal(view.joined(view.parts(query)), query);
  assert.deepEqual(view.parts(">10 language:c sort:forks"), { stars: ">10", also: "language:c", order: "forks" });
  assert.deepEqual(view.parts("stars:<5 resort:x"), { stars: "", also: "stars:<5 resort:x", order: "" });
});

test("blanks around what stands in the boxes do not count", () => {
  assert.equal(view.joined({ stars: " >10 ", also: "  ", order: "" }), ">10");
});

test("no limit is an empty box", () => {
  assert.equal(view.limitText(null), "");
  assert.equal(view.limitText(undefined), ""); // Pyodide sends that for None
  assert.equal(view.limitText(100), "100");
});

test("the part done is unknown until a page and the number wanted are known, and never over all", () => {
  for (const state of [{ got: 0, wanted: 100 }, { got: 10, wanted: null }, {}]) assert.equal(view.fraction(state), null);
  assert.equal(view.fraction({ got: 50, wanted: 200 }), 0.25);
  assert.equal(view.fraction({ got: 300, wanted: 200 }), 1);
});
