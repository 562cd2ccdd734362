#!/usr/bin/env bash
# apollo-cursor-pagination: without `first` a connection has no rows, and says that none follow.
#
# One would expect: all 30 rows, or a first page, or an error, as `first` and `last` are optional
# arguments in the connection of its README.
# What happens: without both, no row is read: `edges` is empty and `hasNextPage` false, beside
# `totalCount: 30`. So it is with `first: 0`, and with `after` alone. Where the count is not
# requested, it looks like an empty table.
# Versions: apollo-cursor-pagination 0.9.1, knex 3.1.0, knex-pglite 0.14.0, PGlite 0.3.10 (Postgres
# 17), graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  apollo-cursor-pagination@0.9.1 knex@3.1.0 pg@8.16.3 knex-pglite@0.14.0 \
  @electric-sql/pglite@0.3.10 graphql@16.11.0 >/dev/null
cat >main.mjs <<'JS'
import cursors from 'apollo-cursor-pagination';
import { buildSchema, graphql } from 'graphql';
import knexLibrary from 'knex';
import ClientPGLite from 'knex-pglite';

const knex = knexLibrary({ client: ClientPGLite, dialect: 'postgres', connection: {} });
await knex.schema.createTable('cats', (table) => table.integer('id').primary());
await knex('cats').insert(Array.from({ length: 30 }, (_, index) => ({ id: index + 1 })));
const schema = buildSchema(`
  type Query { cats(first: Int, last: Int, before: String, after: String): Cats! }
  type Cats { totalCount: Int! pageInfo: PageInfo! edges: [Edge!]! }
  type PageInfo { hasNextPage: Boolean! }
  type Edge { cursor: String! node: Cat! } type Cat { id: Int! }`);
const rootValue = { cats: (args) => cursors.knexPaginator(knex('cats'), args) };
const ask = async (given) => {
  const source = `{ cats${given} { totalCount pageInfo { hasNextPage } edges { cursor } } }`;
  const { data } = await graphql({ schema, source, rootValue });
  const { totalCount, pageInfo, edges } = data.cats;
  console.log(`${given || '-'}: ${edges.length} of ${totalCount}, ${pageInfo.hasNextPage}`);
  return [edges.length, totalCount, pageInfo.hasNextPage].join(' ');
};
console.log('arguments: rows of totalCount, hasNextPage');
const after = JSON.stringify(Buffer.from('10_*_10').toString('base64'));
const found = [
  await ask('(first: 10)'),
  await ask(`(first: 10, after: ${after})`),
  await ask(''),
  await ask('(first: 0)'),
  await ask(`(after: ${after})`),
];
await knex.destroy();
const none = '0 30 false';
process.exit(found.join() === ['10 30 true', '10 30 true', none, none, none].join() ? 0 : 1);
JS
node main.mjs
