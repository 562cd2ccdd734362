#!/usr/bin/env bash
# Mirage JS GraphQL: after a row that is gone the list begins again; `first: 0` says "no more".
#
# One would expect: a cursor whose row was deleted is refused, or the rows behind its place come;
# and a page of no rows has `hasNextPage: true` beside nine rows.
# What happens: an unknown cursor is ignored, so that the first page comes again, which looks like a
# next page: a client that deletes what it reads, or reads while others delete, gets rows twice. Any
# text is taken so. An empty page has `hasNextPage: false`.
# Versions: @miragejs/graphql 0.1.13, miragejs 0.1.48, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @miragejs/graphql@0.1.13 miragejs@0.1.48 graphql@16.15.0 >/dev/null
cat >main.js <<'JS'
const { createGraphQLHandler } = require('@miragejs/graphql');
const { createServer } = require('miragejs');

const sdl = `
  type Query { rows(first: Int, after: String): RowConnection }
  type RowConnection { edges: [RowEdge] pageInfo: PageInfo! }
  type RowEdge { cursor: String! node: Row }
  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
  }
  type Row { id: ID! name: String }`;
const server = createServer({ environment: 'test' });
const handle = createGraphQLHandler(sdl, server.schema);
for (let number = 1; number <= 9; number += 1) server.create('row', { name: `row ${number}` });
const ask = async (query) =>
  (await handle(server.schema, { requestBody: JSON.stringify({ query }) })).data;
const read = async (given) => {
  const fields = 'edges { node { id } } pageInfo { hasNextPage endCursor }';
  const { edges, pageInfo } = (await ask(`{ rows(${given}) { ${fields} } }`)).rows;
  console.log(edges.map((edge) => edge.node.id).join(' '), pageInfo.hasNextPage);
  return pageInfo.endCursor;
};
(async () => {
  const cursor = await read('first: 3');
  await read(`first: 3, after: "${cursor}"`);
  server.schema.rows.find(3).destroy();
  await read(`first: 3, after: "${cursor}"`);
  await read('first: 0');
})();
JS
found=$(node main.js 2>/dev/null)
echo "$found"
[ "$found" = "1 2 3 true
4 5 6 true
1 2 4 true
 false" ]
