// The Explorer: workers that start late. What is shown is tested in the browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../../gqlnb/notebook/widgets/", import.meta.url);
const source = readFileSync(new URL("explorer.js", folder), "utf8");
const placed = source.replace("./common.js", new URL("common.js", folder).href);
const { LateWorker } = await import(`data:text/javascript;base64,${Buffer.from(placed).toString("base64")}`);

/** Return a worker that nobody uses yet, what starts it, and all that happened to the real ones. */
function late() {
  const made = [];
  const start = () => {
    const worker = { posted: [], postMessage: (...message) => worker.posted.push(message), terminate: () => (worker.ended = true) };
    made.push(worker);
    return worker;
  };
  let begin;
  const used = new Promise((resolve) => (begin = resolve));
  return { worker: new LateWorker(start, used), begin: async () => (begin(), await used), made };
}

test("A worker starts when it is used, and gets what was posted before", async () => {
  const { worker, begin, made } = late();
  worker.postMessage("first", []);
  await Promise.resolve();
  assert.deepEqual(made, []);
  await begin();
  worker.postMessage("second", []);
  assert.deepEqual(made[0].posted, [["first", []], ["second", []]]);
});

test("Its answers and errors arrive, and it can be terminated", async () => {
  const { worker, begin, made } = late();
  const told = [];
  worker.onmessage = ({ data }) => told.push(data);
  const onError = ({ type }) => told.push(type);
  worker.addEventListener("error", onError);
  await begin();
  made[0].onmessage({ data: "answer" });
  made[0].onerror(new Event("error"));
  assert.deepEqual(told, ["answer", "error"]);
  worker.terminate();
  assert.ok(made[0].ended);
});

test("A worker that is terminated unused never starts", async () => {
  const { worker, begin, made } = late();
  worker.postMessage("first");
  worker.terminate();
  worker.postMessage("second");
  await begin();
  assert.deepEqual(made, []);
});
