// Servers of JavaScript with one schema: what differs between them is the library.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:http";

const { name, packages, data } = JSON.parse(process.argv[2]);
const load = createRequire(`${packages}/index.js`); // a module, also one of the newer form
const rows = JSON.parse(readFileSync(data));

const CAP = 200; // of `rows`, without a sign
const MOST = 100; // of `stars`, refused above it
const SDL = `
scalar Date scalar LocalDateTime scalar DateTime scalar Decimal scalar BigInt scalar JSON
type Part { id: ID! label: String! }
type Row {
  id: ID! name: String! day: Date local: LocalDateTime moment: DateTime price: Decimal big: BigInt
  ratio: Float extra: JSON parts(limit: Int = 30): [Part!]!
}
type Rows { items: [Row!]! total: Int! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type StarEdge { cursor: String! node: Row! }
type Stars { edges: [StarEdge!]! pageInfo: PageInfo! totalCount: Int! }
type Query {
  rows(limit: Int = 50, offset: Int = 0, since: Date): Rows!
  stars(first: Int = 20, after: String, above: BigInt): Stars!
  sheet(page: Int = 1, perPage: Int = 25, below: Decimal): [Row!]!
  nan: Float
}
type Mutation { touch: Boolean }`;

function readCursor(after) {
  const place = after == null ? 0 : Number(Buffer.from(after, "base64").toString());
  if (!Number.isInteger(place)) throw new Error("The cursor is not valid.");
  return place;
}

const resolvers = {
  rows: ({ limit, offset }) => ({ items: rows.slice(offset, offset + Math.min(limit, CAP)), total: rows.length }),
  stars({ first, after }) {
    if (first > MOST) throw new Error(`first may be at most ${MOST}.`);
    const begin = readCursor(after);
    const found = rows.slice(begin, begin + first);
    const edges = found.map((node, at) => ({ node, cursor: Buffer.from(String(begin + at + 1)).toString("base64") }));
    const pageInfo = { hasNextPage: begin + first < rows.length, endCursor: edges.at(-1)?.cursor ?? null };
    return { edges, pageInfo, totalCount: rows.length };
  },
  sheet: ({ page, perPage }) => rows.slice((page - 1) * perPage, page * perPage),
  nan: () => NaN,
};

function makeSchema({ buildSchema }) {
  const schema = buildSchema(SDL);
  for (const [field, resolve] of Object.entries(resolvers)) {
    schema.getQueryType().getFields()[field].resolve = (_, args) => resolve(args);
  }
  schema.getType("Row").getFields().parts.resolve = (row, { limit }) => row.parts.slice(0, limit);
  return schema;
}

function listen(handler) {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1", () => ready(server.address().port));
}

function ready(port) {
  process.stdout.write(`listening on port ${port}\n`);
  process.stdin.resume().on("end", () => process.exit());
}

const starts = {
  async "apollo"() {
    const { ApolloServer } = load("@apollo/server");
    const { startStandaloneServer } = load("@apollo/server/standalone");
    const server = new ApolloServer({ schema: makeSchema(load("graphql")) });
    const { url } = await startStandaloneServer(server, { listen: { port: 0, host: "127.0.0.1" } });
    ready(new URL(url).port);
  },
  async "apollo-server-3"() {
    const { ApolloServer } = load("apollo-server");
    const server = new ApolloServer({ schema: makeSchema(load("graphql")) });
    ready((await server.listen({ port: 0, host: "127.0.0.1" })).port);
  },
  async "yoga"() {
    const { createYoga } = load("graphql-yoga");
    const plugins = [load("@graphql-yoga/plugin-defer-stream").useDeferStream()];
    listen(createYoga({ schema: makeSchema(load("graphql")), logging: false, plugins }));
  },
  async "mercurius"() {
    const app = load("fastify")();
    app.register(load("mercurius"), { schema: makeSchema(load("graphql")) });
    await app.listen({ port: 0, host: "127.0.0.1" });
    ready(app.server.address().port);
  },
  async "graphql-http"() {
    const { createHandler } = load("graphql-http/lib/use/http");
    listen(createHandler({ schema: makeSchema(load("graphql")) }));
  },
  async "express-graphql"() {
    const app = load("express")();
    app.use("/graphql", load("express-graphql").graphqlHTTP({ schema: makeSchema(load("graphql")) }));
    listen(app);
  },
};
await starts[{ "graphql-http-16": "graphql-http", "graphql-http-17": "graphql-http" }[name] ?? name]();
