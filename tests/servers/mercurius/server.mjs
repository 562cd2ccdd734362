// Mercurius on Fastify: `node(id:)`, loaders, arrays of requests, compiled queries, and
// subscriptions over WebSocket by both subprotocols; with `X-Legacy` by the older one alone.
import { byId, data, load, options, ready, resolvers, scalarResolvers, TOKEN, typeDefs } from "../node/library.mjs";

const fastify = load("fastify");
const mercurius = load("mercurius");
const { ErrorWithProps } = mercurius;

const extra = `
type Subscription { count(to: Int!): Int! addedBooks(first: Int!): Book! breaks: Int! quiet: Int! }
extend type Query { node(id: ID!): Node }`;

async function* events(name, items) {
  for (const item of items) yield { [name]: item };
}

const { author, ...book } = resolvers.Book;
const app = fastify();

app.addHook("onRequest", async (request, reply) => {
  const trusted = request.headers.authorization === `Bearer ${TOKEN}`;
  if (request.headers["x-private"] && !trusted) {
    return reply.code(401).send({ error: "Unauthorized", message: "This endpoint needs a token." });
  }
  const offered = request.headers["sec-websocket-protocol"];
  if (offered && request.headers["x-legacy"]) {
    const left = offered.split(/\s*,\s*/).filter((name) => name !== "graphql-transport-ws");
    request.raw.headers["sec-websocket-protocol"] = left.join(", ");
  }
});

app.register(mercurius, {
  schema: typeDefs(extra),
  resolvers: {
    ...resolvers,
    ...scalarResolvers(),
    Book: book,
    Node: { resolveType: resolvers.Node.__resolveType },
    Query: { ...resolvers.Query, node: (_, { id }) => byId.get(id) ?? null },
    Subscription: {
      count: { subscribe: (_, { to }) => events("count", Array(to).keys()) },
      addedBooks: { subscribe: (_, args) => events("addedBooks", data.books.slice(0, args.first)) },
      breaks: {
        async *subscribe() {
          yield { breaks: 0 };
          throw new ErrorWithProps("The subscription broke.");
        },
      },
      quiet: {
        async *subscribe() {
          yield { quiet: 0 };
          await new Promise(() => {});
        },
      },
    },
  },
  loaders: { Book: { author: async (queries) => queries.map(({ obj }) => author(obj)) } },
  allowBatchedQueries: true,
  subscription: true,
  jit: 1,
  context: (request) => ({ trusted: request.headers.authorization === `Bearer ${TOKEN}` }),
});

await app.listen({ host: "127.0.0.1", port: options.port });
ready(app.server.address().port);
