#!/usr/bin/env bash
# @urql/exchange-graphcache: of edges to one object only the first is kept, and pages change places.
#
# Guessed before: `relayPagination` joins the edges of all pages, and `simplePagination` the rows of
# all pages in the order of their offsets, in whichever order they were requested.
# What happens: an edge whose object stands in an edge before it is left out with all that it says: of
# the six shifts of three people, with the hours of each, three come, 14 hours of 34, beside
# `totalCount: 6` and `hasNextPage: false`. Within one page they are lost, too, and so are edges whose
# object is null. Rows at the offsets 0, 20 and then 10 stand in the order 10, 0, 20. No sign says so.
# Versions: @urql/exchange-graphcache 9.0.2, @urql/core 6.0.3, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @urql/exchange-graphcache@9.0.2 @urql/core@6.0.3 graphql@16.11.0 >/dev/null
cat >main.mjs <<'JS'
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination, simplePagination } from '@urql/exchange-graphcache/extras';
import { buildSchema, graphql } from 'graphql';

const schema = buildSchema(`
  type Query { shifts(first: Int!, after: String): Shifts! people(skip: Int!, limit: Int!): [Person!]! }
  type Shifts { totalCount: Int! edges: [Shift!]! pageInfo: PageInfo! }
  type Shift { cursor: String! hours: Int! node: Person }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Person { id: ID! }`);
const workers = ['ann', 'bob', 'ann', 'cyn', 'bob', 'ann'];
const hours = [3, 4, 5, 7, 7, 8];
const rootValue = {
  shifts: ({ first, after }) => {
    const start = after ? Number(after) + 1 : 0;
    const all = workers.map((id, index) => ({ cursor: String(index), hours: hours[index], node: { id } }));
    const edges = all.slice(start, start + first);
    const pageInfo = { hasNextPage: start + first < all.length, endCursor: edges.at(-1)?.cursor };
    return { totalCount: all.length, edges, pageInfo };
  },
  people: ({ skip, limit }) => Array.from({ length: limit }, (_, index) => ({ id: skip + index })),
};
const build = (cached) => {
  const extras = { shifts: relayPagination(), people: simplePagination() };
  const keys = { Shifts: () => null, Shift: () => null, PageInfo: () => null };
  const cache = cacheExchange({ keys, resolvers: { Query: extras } });
  return new Client({
    url: 'http://127.0.0.1/graphql',
    preferGetMethod: false,
    exchanges: [...(cached ? [cache] : []), fetchExchange],
    fetch: async (...request) => {
      const { query: source, variables: variableValues } = await new Request(...request).json();
      return Response.json(await graphql({ schema, source, variableValues, rootValue }));
    },
  });
};
const SHIFTS = `query ($first: Int!, $after: String) { shifts(first: $first, after: $after) {
  totalCount edges { cursor hours node { id } } pageInfo { hasNextPage endCursor } } }`;
const PEOPLE = 'query ($skip: Int!) { people(skip: $skip, limit: 2) { id } }';
const found = [];
const show = (text, { shifts: { totalCount, edges, pageInfo } }) => {
  const sum = edges.reduce((all, edge) => all + edge.hours, 0);
  found.push(`${edges.length} of ${totalCount} edges, ${sum} hours, ${pageInfo.hasNextPage}`);
  console.log(`${text}: ${found.at(-1)}`);
};
show('without the cache', (await build(false).query(SHIFTS, { first: 6 })).data);
show('one page', (await build(true).query(SHIFTS, { first: 6 })).data);
const client = build(true);
let after = null;
for (const name of ['page 1', 'page 2', 'page 3']) {
  const { data } = await client.query(SHIFTS, { first: 2, after });
  show(name, data);
  after = data.shifts.pageInfo.endCursor;
}
let people;
for (const skip of [0, 20, 10]) ({ people } = (await client.query(PEOPLE, { skip })).data);
found.push(people.map((row) => row.id).join(' '));
console.log(found.at(-1));
const expected = [
  ...['6 of 6 edges, 34 hours, false', '3 of 6 edges, 14 hours, false'],
  ...['2 of 6 edges, 7 hours, true', '3 of 6 edges, 14 hours, true'],
  ...['3 of 6 edges, 14 hours, false', '10 11 0 1 20 21'],
];
process.exit(found.join() === expected.join() ? 0 : 1);
JS
node main.mjs
