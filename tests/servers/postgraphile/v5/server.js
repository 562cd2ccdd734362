// Run PostGraphile 5 on free ports of 127.0.0.1, one port for each variant of its presets.
//
// Arguments and output are those of ../v4/server.js.
"use strict";
const http = require("node:http");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { recordRequests } = require("../requests.js");

const [folder, connection, names] = process.argv.slice(2);
const requireInstalled = createRequire(join(folder, "package.json"));
const { postgraphile } = requireInstalled("postgraphile");
const { makePgService } = requireInstalled("postgraphile/adaptors/pg");
const { context, lambda, listen } = requireInstalled("postgraphile/grafast");
const { grafserv } = requireInstalled("postgraphile/grafserv/node");
const { PostGraphileAmberPreset } = requireInstalled("postgraphile/presets/amber");
const { makeV4Preset } = requireInstalled("postgraphile/presets/v4");
const { extendSchema } = requireInstalled("postgraphile/utils");

// Sends the payload of each notification that PostgreSQL sends on a channel.
const NotificationPlugin = extendSchema({
  typeDefs: `
    extend type Subscription {
      notification(channel: String!): String!
    }
  `,
  objects: {
    Subscription: {
      plans: {
        notification: {
          subscribePlan: (_root, { $channel }) => listen(context().get("pgSubscriber"), $channel),
          plan: (event) => lambda(event, String),
        },
      },
    },
  },
});

const VARIANTS = {
  // The names and behaviours of version 4, with plain lists beside the connections.
  compatible: { extends: [makeV4Preset({ simpleCollections: "both", dynamicJson: true })] },
  // Version 5's own defaults: ids `id`, columns `rowId`, connections only.
  amber: { extends: [PostGraphileAmberPreset] },
};

function start(name) {
  const preset = {
    extends: VARIANTS[name].extends,
    plugins: [NotificationPlugin],
    pgServices: [makePgService({ connectionString: connection, schemas: ["forum"], pubsub: true })],
    grafserv: { graphqlPath: "/graphql", websockets: true, watch: false },
  };
  const server = http.createServer();
  const serv = postgraphile(preset).createServ(grafserv);
  return Promise.resolve(serv.addTo(server)).then(
    () =>
      new Promise((resolve) => {
        const handlers = server.listeners("request");
        server.removeAllListeners("request");
        server.on(
          "request",
          recordRequests((request, response) => {
            for (const handle of handlers) handle(request, response);
          }),
        );
        server.listen(0, "127.0.0.1", () =>
          resolve([name, `http://127.0.0.1:${server.address().port}/graphql`]),
        );
      }),
  );
}

process.on("SIGTERM", () => process.exit(0));
process.stdin.resume().on("end", () => process.exit(0)); // so it ends with who started it
Promise.all(names.split(",").map(start)).then((urls) =>
  console.log(JSON.stringify(Object.fromEntries(urls))),
);
