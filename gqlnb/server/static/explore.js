// GraphiQL on the page's own address: queries as JSON, subscriptions as server-sent events. What
// comes back is text until GraphiQL shows it.

const GONE = "The server does not answer. Is it still running?";
const BEGIN = "# Ctrl-Space completes, Ctrl-Enter runs.\n{\n  __typename\n}\n";
const WORKERS = { json: "json.worker.js", graphql: "graphql.worker.js" };

globalThis.MonacoEnvironment = {
  getWorker: (_, label) =>
    new Worker(new URL(WORKERS[label] ?? "editor.worker.js", import.meta.url)),
};

/** Return the body of a request. Variables are sent as they are typed: no number is rounded. */
const body = ({ query, variables, operationName }) =>
  `{"query":${JSON.stringify(query)},"operationName":${JSON.stringify(operationName)},` +
  `"variables":${variables.trim() || "null"}}`;

/** Yield the events of a stream: {name, data}. */
export async function* events(stream) {
  let rest = "";
  let [name, data] = ["message", []];
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
      else if (line === "") {
        if (data.length) yield { name, data: data.join("\n") };
        [name, data] = ["message", []];
      }
    }
  }
}

/** Send a request and hand out what comes; return what stops it. */
export function run(request, { next, error, complete }) {
  const stopping = new AbortController();
  const work = async () => {
    const response = await fetch(new URL("..", import.meta.url).href.replace(/\/$/, ""), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: request.subscription ? "text/event-stream" : "application/json",
      },
      body: body(request),
      signal: stopping.signal,
    });
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream")) {
      for await (const { name, data } of events(response.body)) {
        if (name === "complete") break;
        if (name === "next") next(data);
      }
    } else if (type.includes("json")) next(await response.text());
    else throw new Error(`The server answered HTTP ${response.status}, and no JSON.`);
    complete();
  };
  work().catch((reason) => {
    if (stopping.signal.aborted) return;
    error(reason instanceof TypeError ? GONE : reason.message);
  });
  return () => stopping.abort();
}

const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const theme = () => (dark.matches ? "dark" : "light");

async function show(place) {
  try {
    const { mount } = await import("./graphiql.js");
    const shown = mount(place, { run, theme: theme(), query: BEGIN });
    dark.addEventListener("change", () => shown.set({ theme: theme() }));
  } catch (error) {
    place.textContent = `GraphiQL cannot be shown: ${error.message}`;
  }
}

const place = globalThis.document?.getElementById("graphiql"); // not where only tests look
if (place) show(place);
