#!/usr/bin/env bash
# @octokit/plugin-paginate-graphql: read backwards, the pages come in the reverse of their order.
#
# Guessed before: `paginate` gives the nodes of all pages in the order of the list, in the
# documented backward direction too, where `last: 2, before: $cursor` gives each page in that order.
# What happens: pages are appended as they come, so that of 1 to 6 the result is 5 6 3 4 1 2. A list
# under an alias (`issues: nodes`) has the first page alone, beside a `pageInfo` of the last one.
# Versions: @octokit/plugin-paginate-graphql 6.0.0, @octokit/core 7.0.8, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @octokit/plugin-paginate-graphql@6.0.0 \
  @octokit/core@7.0.8 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { Octokit } from '@octokit/core';
import { paginateGraphQL } from '@octokit/plugin-paginate-graphql';
import { buildSchema, graphql } from 'graphql';

const schema = buildSchema(`
  type Info { hasNextPage: Boolean endCursor: String hasPreviousPage: Boolean startCursor: String }
  type Rows { nodes: [Int] pageInfo: Info }
  type Query { rows(first: Int, after: String, last: Int, before: String): Rows }
`);
const all = [1, 2, 3, 4, 5, 6];
const rows = ({ first, after, last, before }) => {
  const start = last ? Number(before ?? 7) - 1 - last : Number(after ?? 0);
  const nodes = all.slice(start, start + (first ?? last));
  const [startCursor, endCursor] = [nodes.at(0), nodes.at(-1)].map(String);
  const flags = { hasPreviousPage: start > 0, hasNextPage: nodes.at(-1) < 6 };
  return { nodes, pageInfo: { startCursor, endCursor, ...flags } };
};
const fetch = async (_url, { body }) => {
  const { query: source, variables: variableValues } = JSON.parse(body);
  const answer = await graphql({ schema, rootValue: { rows }, source, variableValues });
  return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
};
const octokit = new (Octokit.plugin(paginateGraphQL))({ request: { fetch } });
const read = async (page, list, info) =>
  (await octokit.graphql.paginate(
    `query ($cursor: String) { rows(${page}: $cursor) { ${list} pageInfo { ${info} } } }`,
  )).rows;
const found = [
  (await read('first: 2, after', 'nodes', 'hasNextPage endCursor')).nodes,
  (await read('last: 2, before', 'nodes', 'hasPreviousPage startCursor')).nodes,
  await read('first: 2, after', 'issues: nodes', 'hasNextPage endCursor'),
];
console.log(JSON.stringify(found));
const pageInfo = { hasNextPage: false, endCursor: '6' };
const expected = [all, [5, 6, 3, 4, 1, 2], { issues: [1, 2], pageInfo }];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node main.mjs
