#!/usr/bin/env bash
# gatsby-graphql-source-toolkit: of a connection in a node only the rows of the last pages are kept.
#
# One would expect: an author whose 250 posts the toolkit reads by `$first` and `$after`, 100 a page,
# has 250 edges, as it has 250 posts where it reads them by `$limit` and `$offset`.
# What happens: the edges of each page take the places of those before, as the lists are joined like
# objects. 100 edges remain: the last 50 posts, and behind them the second half of page 2. The first
# page is gone, without an error, and `edges` is no list any more but an object with keys 0 to 99.
# Versions: gatsby-graphql-source-toolkit 2.0.4, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  gatsby-graphql-source-toolkit@2.0.4 chalk@4.1.2 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql, parse } = require('graphql');
const toolkit = require('gatsby-graphql-source-toolkit');

const schema = buildSchema(`
  type Post { id: ID! }
  type Edge { cursor: String! node: Post! }
  type PageInfo { hasNextPage: Boolean! }
  type Posts { edges: [Edge!]! pageInfo: PageInfo! }
  type Author {
    id: ID!
    list(limit: Int!, offset: Int!): [Post!]!
    posts(first: Int!, after: String): Posts!
  }
  type Query { authors(limit: Int!, offset: Int!): [Author!]! author(id: ID!): Author }
`);
const all = Array.from({ length: 250 }, (_, number) => ({ id: String(number + 1) }));
const author = {
  id: '1',
  list: ({ limit, offset }) => all.slice(offset, offset + limit),
  posts: ({ first, after }) => {
    const start = Number(after ?? 0);
    const edges = all.slice(start, start + first).map((node) => ({ cursor: node.id, node }));
    return { edges, pageInfo: { hasNextPage: start + first < all.length } };
  },
};
const rootValue = { author, authors: ({ offset }) => [author].slice(offset) };
const document = parse(`
  query LIST_AUTHORS($limit: Int!, $offset: Int!) {
    authors(limit: $limit, offset: $offset) { ..._AuthorId_ }
  }
  fragment _AuthorId_ on Author { remoteTypeName: __typename remoteId: id }
  query NODE_FIELD_LIST($id: ID!, $limit: Int!, $offset: Int!) {
    author(id: $id) { list(limit: $limit, offset: $offset) { id } }
  }
  query NODE_FIELD_POSTS($id: ID!, $first: Int!, $after: String) {
    author(id: $id) {
      posts(first: $first, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage } }
    }
  }
`);
const definition = {
  remoteTypeName: 'Author',
  document,
  nodeQueryVariables: ({ remoteId }) => ({ id: remoteId }),
};
const context = toolkit.createSourcingContext({
  gatsbyApi: {},
  schema,
  execute: ({ query, variables, operationName }) =>
    graphql({ schema, rootValue, source: query, variableValues: variables, operationName }),
  gatsbyTypePrefix: 'My',
  gatsbyNodeDefs: new Map([['Author', definition]]),
});
const describe = (rows) => {
  const ids = Object.values(rows).map((row) => (row.node ?? row).id);
  return `${Array.isArray(rows) ? 'list' : 'object'} of ${ids.length}, ids ${ids[0]} and ${ids[50]}`;
};
(async () => {
  const found = [];
  for await (const node of toolkit.fetchNodeList(context, 'Author', 'LIST_AUTHORS')) {
    found.push(describe(node.list), describe(node.posts.edges));
  }
  console.log(`posts by limit and offset: ${found[0]} ...; by first and after: ${found[1]} ...`);
  const expected = ['list of 250, ids 1 and 51', 'object of 100, ids 201 and 151'];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
node main.cjs
