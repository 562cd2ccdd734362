// The library of tests/servers/data.py for the servers that run on Node: the schema's text and its
// resolvers. Each server adds what is its own.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

/** What the one argument of a server says: the folder with its packages, the data, the port. */
export const options = JSON.parse(process.argv[2]);

/** Loads a package from the folder that npm installed it in. */
export const load = createRequire(`${options.packages}/package.json`);

export const data = JSON.parse(readFileSync(options.data, "utf8"));
const { GraphQLError } = load("graphql");
export const TOKEN = "open-sesame";

/** Say that requests are taken, and end when whoever started this process does. */
export function ready(port) {
  process.stdout.write(`listening on port ${port}\n`);
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
}

const encode = (position) => Buffer.from(`item:${position}`).toString("base64");

function position(cursor) {
  const text = Buffer.from(cursor, "base64").toString();
  if (!/^item:\d+$/.test(text)) throw refusal(`'${cursor}' is not a cursor.`);
  return Number(text.slice("item:".length));
}

function refusal(message, code = "BAD_USER_INPUT") {
  return new GraphQLError(message, { extensions: { code } });
}

/** A Relay connection of some items; `first` is 20 where nothing is given. */
function connect(items, { first, after, last, before }, totalCount = items.length) {
  for (const [name, value] of Object.entries({ first, last })) {
    if (value < 0) throw refusal(`${name} must not be negative.`);
  }
  let start = after == null ? 0 : position(after) + 1;
  let end = before == null ? items.length : Math.min(position(before), items.length);
  if (first == null && last == null) first = 20;
  if (first != null) end = Math.min(end, start + first);
  if (last != null) start = Math.max(start, end - last);
  const page = items.slice(start, end);
  return {
    totalCount,
    nodes: page,
    edges: page.map((node, index) => ({ node, cursor: encode(start + index) })),
    pageInfo: {
      hasNextPage: end < items.length,
      hasPreviousPage: start > 0,
      startCursor: page.length ? encode(start) : null,
      endCursor: page.length ? encode(start + page.length - 1) : null,
    },
  };
}

/** Each page begins with the last item of the one before. */
function overlap(items, args) {
  const after = args.after == null ? 0 : position(args.after);
  return connect(items, { ...args, after: after > 0 ? encode(after - 1) : null });
}

const grouped = (rows, key) => {
  const groups = new Map();
  for (const row of rows) groups.set(row[key], [...(groups.get(row[key]) ?? []), row]);
  return (of) => groups.get(of) ?? [];
};
const booksOf = grouped(data.books, "author");
const reviewsOfBook = grouped(data.reviews, "book");
const reviewsOfUser = grouped(data.reviews, "user");
export const byId = new Map(
  ["authors", "books", "users", "reviews"].flatMap((kind) => data[kind].map((row) => [row.id, row])),
);

function limited(args) {
  if (args.first > 100) throw refusal("'first' must be at most 100.");
  return connect(data.books, args);
}

function breaking(args) {
  if (args.after != null && position(args.after) >= 299) {
    throw refusal("The shelf broke down.", "INTERNAL_SERVER_ERROR");
  }
  return connect(data.books, args);
}

const cap = (size) => Math.min(size, 50);

export const resolvers = {
  Query: {
    hello: () => "Hello world!",
    echo: (_, { text, times }) => text.repeat(times),
    books: (_, args) => connect(data.books, args),
    authors: (_, args) => connect(data.authors, args),
    measurements: (_, args) => connect(data.measurements, args),
    limitedBooks: (_, args) => limited(args),
    cappedBooks: (_, { first, after }) => connect(data.books, { first: cap(first ?? 20), after }),
    users: () => data.users,
    genres: () => [...new Set(data.books.map((book) => book.genre))].map((genre) => ({ genre })),
    allBooks: () => data.books,
    booksByOffset: (_, { offset, limit, genre }) =>
      data.books.filter((book) => !genre || book.genre === genre).slice(offset, offset + limit),
    booksByFirst: (_, { offset, first }) => data.books.slice(offset, offset + first),
    booksBySkip: (_, { skip, take }) => data.books.slice(skip, skip + take),
    booksByPage: (_, { page, perPage }) => data.books.slice((page - 1) * perPage, page * perPage),
    cappedByOffset: (_, { offset, limit }) => data.books.slice(offset, offset + cap(limit)),
    topBooks: (_, { limit }) => data.books.slice(0, limit),
    bookPage: (_, { offset, limit }) => ({
      items: data.books.slice(offset, offset + limit),
      total: data.books.length,
      hasMore: offset + limit < data.books.length,
    }),
    overcounted: (_, args) => connect(data.books, args, data.books.length + 10),
    undercounted: (_, args) => connect(data.books, args, data.books.length - 10),
    overlapping: (_, args) => overlap(data.books, args),
    overlappingMarks: (_, args) => overlap(data.marks, args),
    looping: (_, { first }) => connect(data.books, { first }),
    breaking: (_, args) => breaking(args),
    fail: (_, { code, message }) => {
      throw refusal(message, code);
    },
    person: () => person(1),
    people: () => [person(1), null, person(0)],
    secret: (_, __, context) => {
      if (!context.trusted) throw refusal("Who are you?", "UNAUTHENTICATED");
      return "42";
    },
    scalars: () => data.scalars.apollo.rows,
    nullScalars: () => [{ number: 1 }, { number: 2 }],
  },
  Mutation: {
    addBook: (_, { title, pages }) => {
      return { id: "Book:0", number: 0, title, pages, genre: "NOVEL", inPrint: true, author: 1 };
    },
  },
  Author: { books: (author, args) => connect(booksOf(author.number), args) },
  Book: {
    author: (book) => data.authors[book.author - 1],
    reviews: (book, args) => connect(reviewsOfBook(book.number), args),
    ...(options.version === 2 && { pageCount: (book) => book.pages }),
  },
  Review: {
    book: (review) => data.books[review.book - 1],
    user: (review) => data.users[review.user - 1],
  },
  User: { reviews: (user, args) => connect(reviewsOfUser(user.number), args) },
  Person: {
    fails: () => {
      throw refusal("This person fails.", "PERSON_FAILED");
    },
  },
  GenreSummary: {
    books: ({ genre }, args) => connect(data.books.filter((book) => book.genre === genre), args),
  },
  Node: { __resolveType: (node) => node.id.split(":")[0] },
};

const person = (depth) => ({ name: `Person ${depth}`, nested: depth > 0 ? person(depth - 1) : null });

/** The schema's text: the shared part, the scalars, and `extra`; `version` 2 is after a change. */
export function typeDefs(extra, { cursor = "Cursor" } = {}) {
  let text = readFileSync(new URL("../library.graphql", import.meta.url), "utf8");
  if (cursor === "String") text = text.replace("scalar Cursor\n", "").replaceAll(/\bCursor\b/g, "String");
  if (options.version === 2) text = text.replace("pages: Int\n", "pageCount: Int\n");
  const { fields } = data.scalars.apollo;
  const own = new Set(["Int", "Float", "Boolean", "String", "ID"]);
  const types = new Set(Object.values(fields).filter((name) => !own.has(name)));
  const members = Object.entries(fields).map(([name, type]) => `${name}: ${type}`);
  return [
    text,
    ...[...types].map((name) => `scalar ${name}`),
    `type Scalars { number: Int! ${members.join(" ")} }`,
    "extend type Query { scalars: [Scalars!]! nullScalars: [Scalars!]! }",
    extra,
  ].join("\n");
}

/** The resolvers of those scalars, from graphql-scalars. */
export function scalarResolvers() {
  const known = load("graphql-scalars").resolvers;
  const names = Object.values(data.scalars.apollo.fields);
  return Object.fromEntries(names.filter((name) => known[name]).map((name) => [name, known[name]]));
}
