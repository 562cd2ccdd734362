#!/usr/bin/env bash
# Parse Server on PostgreSQL: a new class counts 0 rows, and its first page says that none follow.
#
# One would expect: `count` is 137, and of 137 rows the first 50 have `hasNextPage: true`.
# What happens: without a filter `count` is PostgreSQL's own estimate for the table, which is 0 (or
# what the last analysis found) until the table is analyzed, and `hasNextPage` is computed from it.
# Beside 50 rows stands `count: 0` with `hasNextPage: false`, and a client that pages by that flag
# ends with 50 of 137 rows. With a filter that all rows match, both are right.
# Versions: parse-server 9.10.0, its own graphql, pgserver 0.1.4 (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  parse-server@9.10.0 express@4.22.3 >/dev/null
cat >main.mjs <<'JS'
import express from 'express';
import { createServer } from 'node:http';
import net from 'node:net';
import { ParseGraphQLServer, ParseServer } from 'parse-server';

const listen = async (server) => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${server.address().port}`;
};
// Parse Server takes no address of a Unix socket, and this PostgreSQL has no other.
const relay = (socket) => socket.pipe(net.connect(process.argv[2])).pipe(socket);
const database = await listen(net.createServer(relay));
const app = express();
const url = `http://${await listen(createServer(app))}`;
const parse = new ParseServer({
  databaseURI: `postgres://postgres:none@${database}/postgres`,
  appId: 'rows',
  masterKey: 'none',
  serverURL: `${url}/parse`,
  allowClientClassCreation: true,
  silent: true,
});
await parse.start();
app.use('/parse', parse.app);
new ParseGraphQLServer(parse, { graphQLPath: '/graphql' }).applyGraphQL(app);

const headers = {
  'content-type': 'application/json',
  'X-Parse-Application-Id': 'rows',
  'X-Parse-Master-Key': 'none',
};
const post = async (path, body) =>
  (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
for (let number = 1; number <= 137; number += 1) {
  await post('/parse/classes/Entry', { number });
}
const ask = async (given) => {
  const query = `{ entries(${given}) { count pageInfo { hasNextPage } edges { cursor } } }`;
  const { entries } = (await post('/graphql', { query })).data;
  return [entries.edges.length, entries.count, entries.pageInfo.hasNextPage].join(' ');
};
const found = [
  await ask('first: 50'),
  await ask('first: 200'),
  await ask('first: 50, where: { number: { greaterThan: 0 } }'),
];
console.log(found.map((line) => `rows, count, hasNextPage: ${line}`).join('\n'));
const isSame = found.join() === ['50 0 false', '137 0 false', '50 137 true'].join();
process.exit(isSame ? 0 : 1);
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
server.psql("alter system set autovacuum = off")
server.psql("select pg_reload_conf()")
done = subprocess.run(["node", "main.mjs", str(pathlib.Path("rows/.s.PGSQL.5432").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>/dev/null | grep -v Deprecation
