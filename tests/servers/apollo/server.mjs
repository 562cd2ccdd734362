// Apollo Server with its standalone HTTP front end: no `node(id:)`, but `author(id:)`, `book(id:)`
// and `user(id:)`; arrays of requests; its protection against CSRF as it is by default.
import { byId, load, options, ready, resolvers, scalarResolvers, TOKEN, typeDefs } from "../node/library.mjs";

const { ApolloServer } = load("@apollo/server");
const { startStandaloneServer } = load("@apollo/server/standalone");
const { GraphQLError } = load("graphql");

const extra = `extend type Query {
  author(id: ID!): Author
  book(id: ID!): Book
  user(id: ID!): User
}`;
const find = (_, { id }) => byId.get(id) ?? null;

const server = new ApolloServer({
  typeDefs: typeDefs(extra, { cursor: "String" }),
  resolvers: {
    ...resolvers,
    ...scalarResolvers(),
    Query: { ...resolvers.Query, author: find, book: find, user: find },
  },
  allowBatchedHttpRequests: true,
  introspection: options.introspection ?? true,
  includeStacktraceInErrorResponses: false,
});

await startStandaloneServer(server, {
  listen: { host: "127.0.0.1", port: options.port },
  context: async ({ req }) => {
    const trusted = req.headers.authorization === `Bearer ${TOKEN}`;
    if (req.headers["x-private"] && !trusted) {
      const extensions = { code: "UNAUTHENTICATED", http: { status: 401 } };
      throw new GraphQLError("This endpoint needs a token.", { extensions });
    }
    return { trusted };
  },
}).then(({ url }) => ready(new URL(url).port));
