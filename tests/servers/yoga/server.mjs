// GraphQL Yoga: `node(id:)`, a scalar for cursors, @defer and @stream, files by multipart, and
// subscriptions as server-sent events.
import { createServer } from "node:http";
import { byId, data, load, options, ready, resolvers, scalarResolvers, TOKEN, typeDefs } from "../node/library.mjs";

const { createSchema, createYoga } = load("graphql-yoga");
const { useDeferStream } = load("@graphql-yoga/plugin-defer-stream");
const { GraphQLError } = load("graphql");

const extra = `
scalar File
type FileInfo { name: String! type: String! size: Int! text: String! }
type Slow { quick: String! slow: String! fails: String }
type Subscription { count(to: Int!): Int! addedBooks(first: Int!): Book! breaks: Int! quiet: Int! }
extend type Query {
  node(id: ID!): Node
  slow: Slow!
  streamed(count: Int!): [Int!]!
  streamedBooks(limit: Int!): [Book!]!
}
extend type Mutation { readFile(file: File!): FileInfo! readFiles(files: [File!]!): [FileInfo!]! }`;

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function info(file) {
  return { name: file.name, type: file.type, size: file.size, text: await file.text() };
}

async function* first(items) {
  for (const item of items) {
    await turn();
    yield item;
  }
}

const schema = createSchema({
  typeDefs: typeDefs(extra),
  resolvers: {
    ...resolvers,
    ...scalarResolvers(),
    Query: {
      ...resolvers.Query,
      node: (_, { id }) => byId.get(id) ?? null,
      slow: () => ({
        quick: "quick",
        slow: () => turn().then(() => "slow"),
        fails: () => turn().then(() => Promise.reject(new GraphQLError("It is too slow."))),
      }),
      streamed: (_, { count }) => first(Array(count).keys()),
      streamedBooks: (_, { limit }) => first(data.books.slice(0, limit)),
    },
    Mutation: {
      ...resolvers.Mutation,
      readFile: (_, { file }) => info(file),
      readFiles: (_, { files }) => Promise.all(files.map(info)),
    },
    Subscription: {
      count: {
        async *subscribe(_, { to }) {
          for (let number = 0; number < to; number += 1) {
            await turn();
            yield { count: number };
          }
        },
      },
      addedBooks: {
        subscribe: (_, args) => first(data.books.slice(0, args.first).map((addedBooks) => ({ addedBooks }))),
      },
      breaks: {
        async *subscribe() {
          yield { breaks: 0 };
          throw new GraphQLError("The subscription broke.");
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
});

const yoga = createYoga({
  schema,
  plugins: [useDeferStream()],
  batching: true,
  logging: false,
  maskedErrors: false,
  context: ({ request }) => {
    const trusted = request.headers.get("authorization") === `Bearer ${TOKEN}`;
    if (request.headers.has("x-private") && !trusted) {
      const extensions = { code: "UNAUTHENTICATED", http: { status: 401 } };
      throw new GraphQLError("This endpoint needs a token.", { extensions });
    }
    return { trusted };
  },
});

const server = createServer(yoga);
server.listen(options.port, "127.0.0.1", () => ready(server.address().port));
