// The page with GraphiQL: how a request is sent and what comes of it. What is shown is tested in the
// browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const source = readFileSync(new URL("../../../gqlnb/server/static/explore.js", import.meta.url), "utf8");
// A data: URL has no neighbours, and the page asks for its own address by them.
const placed = source.replaceAll("import.meta.url", '"http://127.0.0.1:4000/graphql/assets/explore.js"');
const page = await import(`data:text/javascript;base64,${Buffer.from(placed).toString("base64")}`);

const streamed = (...pieces) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

async function all(iterable) {
  const found = [];
  for await (const each of iterable) found.push(each);
  return found;
}

/** Run a request against an answer, and return what was sent and told. */
async function asked(request, response) {
  const told = [];
  let sent;
  globalThis.fetch = async (url, options) => {
    sent = { url: String(url), ...options };
    if (response instanceof Error) throw response;
    return response;
  };
  await new Promise((over) => {
    const end = (word) => (text) => {
      told.push(text === undefined ? word : `${word}: ${text}`);
      if (word !== "next") over();
    };
    page.run(
      { query: "{ a }", variables: "", operationName: null, subscription: false, ...request },
      { next: end("next"), error: end("error"), complete: end("complete") },
    );
  });
  return { sent, told };
}

test("events are read however they are cut", async () => {
  const text = 'event: next\ndata: {"a":"ü"}\n\n:\n\nevent: complete\ndata:\n\n';
  const wanted = [
    { name: "next", data: '{"a":"ü"}' },
    { name: "complete", data: "" },
  ];
  assert.deepEqual(await all(page.events(streamed(text))), wanted);
  assert.deepEqual(await all(page.events(streamed(...text))), wanted);
  assert.deepEqual(await all(page.events(streamed(text.replaceAll("\n", "\r\n")))), wanted);
});

test("variables are sent as they are typed", async () => {
  const typed = '{"n": 18446744073709551617}';
  const response = new Response('{"data":{}}', { headers: { "content-type": "application/json" } });
  const { sent, told } = await asked({ variables: typed }, response);
  assert.equal(sent.url, "http://127.0.0.1:4000/graphql");
  assert.equal(sent.body, `{"query":"{ a }","operationName":null,"variables":${typed}}`);
  assert.deepEqual(told, ['next: {"data":{}}', "complete"]);
});

test("a subscription is asked for as events, up to its end", async () => {
  const body = streamed("event: next\ndata: 1\n\nevent: next\ndata: 2\n\nevent: complete\ndata:\n\n");
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const { sent, told } = await asked({ subscription: true }, response);
  assert.equal(sent.headers.accept, "text/event-stream");
  assert.deepEqual(told, ["next: 1", "next: 2", "complete"]);
});

test("what is wrong is told in words", async () => {
  const gone = await asked({}, new TypeError("Failed to fetch"));
  assert.match(gone.told[0], /^error: The server does not answer/);
  const other = await asked({}, new Response("<b>", { status: 502 }));
  assert.match(other.told[0], /HTTP 502/);
});

test("what is stopped says nothing more", async () => {
  let aborted = false;
  globalThis.fetch = (_url, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        aborted = true;
        reject(new DOMException("stopped", "AbortError"));
      });
    });
  const told = [];
  const stop = page.run(
    { query: "{ a }", variables: "", operationName: null },
    { next: () => told.push(1), error: () => told.push(2), complete: () => told.push(3) },
  );
  stop();
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(aborted);
  assert.deepEqual(told, []);
});
