// Run PostGraphile 4 on free ports of 127.0.0.1, one port for each variant of its options.
//
// node server.js FOLDER CONNECTION_STRING VARIANTS
//   FOLDER    where `npm ci` installed the packages
//   VARIANTS  names separated by commas
//
// Prints {"NAME": "http://127.0.0.1:PORT/graphql", ...} when all of them listen. The requests that a
// variant has received are at /requests beside /graphql.
"use strict";
const http = require("node:http");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { recordRequests } = require("../requests.js");

const [folder, connection, names] = process.argv.slice(2);
const requireInstalled = createRequire(join(folder, "package.json"));
const {
  enhanceHttpServerWithSubscriptions,
  makePluginHook,
  postgraphile,
} = requireInstalled("postgraphile");
const { NodePlugin } = requireInstalled("graphile-build");
const PgPubsub = requireInstalled("@graphile/pg-pubsub").default;
const { gql, makeExtendSchemaPlugin } = requireInstalled("graphile-utils");

// A subscription whose events need no database: it counts to `top`, then completes.
const CountPlugin = makeExtendSchemaPlugin(() => ({
  typeDefs: gql`
    extend type Subscription {
      count(top: Int!): Int!
    }
  `,
  resolvers: {
    Subscription: {
      count: {
        async *subscribe(_root, { top }) {
          for (let number = 1; number <= top; number++) yield { count: number };
        },
        resolve: (event) => event.count,
      },
    },
  },
}));

const VARIANTS = {
  // Every connection as a Relay connection only; JSON as text; ids `nodeId`.
  plain: {},
  // Lists with `first` and `offset` beside the connections; JSON as values.
  lists: { simpleCollections: "both", dynamicJson: true },
  // No connections at all, lists only.
  only: { simpleCollections: "only" },
  // Relay's classic names: `id` is the global id, `rowId` the column.
  classic: { classicIds: true },
  // No global ids: an object can only be fetched again by its key, `authorById(id:)`.
  keys: { skipPlugins: [NodePlugin], simpleCollections: "both" },
  // Subscriptions by the older WebSocket subprotocol `graphql-ws` alone.
  older: { websockets: ["v0"] },
};

const COMMON = {
  appendPlugins: [CountPlugin],
  disableQueryLog: true,
  enableQueryBatching: true,
  extendedErrors: ["hint", "errcode"],
  graphqlRoute: "/graphql",
  pluginHook: makePluginHook([PgPubsub]),
  simpleSubscriptions: true,
  subscriptions: true,
};

function listen(name) {
  const options = { ...COMMON, ...VARIANTS[name], ownerConnectionString: connection };
  const middleware = postgraphile(connection, "forum", options);
  const server = http.createServer(recordRequests(middleware));
  enhanceHttpServerWithSubscriptions(server, middleware);
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () =>
      resolve([name, `http://127.0.0.1:${server.address().port}/graphql`]),
    );
  });
}

process.on("SIGTERM", () => process.exit(0));
process.stdin.resume().on("end", () => process.exit(0)); // so it ends with who started it
Promise.all(names.split(",").map(listen)).then((urls) =>
  console.log(JSON.stringify(Object.fromEntries(urls))),
);
