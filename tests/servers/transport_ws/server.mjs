// subscriptions-transport-ws: the older WebSocket subprotocol "graphql-ws", and nothing else.
// Usage: node server.mjs '{"packages": FOLDER, "choose": false, "token": null, "keepAlive": 20}'
import { createServer } from "node:http";
import { createRequire } from "node:module";

const options = JSON.parse(process.argv[2]);
const load = createRequire(`${options.packages}/package.json`);
const { SubscriptionServer } = load("subscriptions-transport-ws");
const { buildSchema, execute, GraphQLError, subscribe } = load("graphql");
const WebSocket = load("ws");

const schema = buildSchema(`
  type Query { hello: String! }
  type Subscription { count(to: Int!): Int! quiet: Int! breaks: Int! who: String }
`);
const turn = () => new Promise((resolve) => setImmediate(resolve));
const never = new Promise(() => {});

async function* count({ to }) {
  for (let number = 0; number < to; number += 1) {
    await turn();
    yield { count: number };
  }
}

// Not a generator: one that waits cannot be ended from outside.
const quiet = () => {
  let first = true;
  return {
    [Symbol.asyncIterator]() { return this; },
    next: () => {
      const result = first ? Promise.resolve({ value: { quiet: 0 }, done: false }) : never;
      first = false;
      return result;
    },
    return: async () => {
      console.log("quiet ended");
      return { value: undefined, done: true };
    },
  };
};

const rootValue = {
  hello: "Hello world!",
  count,
  quiet,
  breaks: async function* () {
    yield { breaks: 0 };
    yield { breaks: new GraphQLError("It broke.") };
  },
  who: async function* (_, context) {
    yield { who: context.who };
  },
};

const server = createServer((_, response) => response.writeHead(404).end());
// Without handleProtocols the library ws chooses the first subprotocol that is offered.
const handleProtocols = (offered) => [...offered].includes("graphql-ws") && "graphql-ws";
const sockets = new WebSocket.Server({
  server,
  path: "/graphql",
  ...(options.choose ? { handleProtocols } : {}),
});
SubscriptionServer.create(
  {
    schema,
    rootValue,
    execute,
    subscribe,
    keepAlive: options.keepAlive ?? undefined,
    onConnect: (params) => {
      if (options.token && params?.Authorization !== `Bearer ${options.token}`) {
        throw new Error("Missing auth token!");
      }
      return { who: params?.who ?? "nobody" };
    },
  },
  sockets,
);

// The process ends with the one that started it.
process.stdin.resume().on("end", () => process.exit());
server.listen(0, "127.0.0.1", () => console.log(`listening on port ${server.address().port}`));
