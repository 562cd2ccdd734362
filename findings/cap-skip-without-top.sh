#!/usr/bin/env bash
# CAP: `skip` without `top` gives the first page again, and whole numbers of 64 bits are rounded.
#
# One would expect: of 1,350 rows `skip: 1300` gives the last 50; and `Int64`, a scalar of its own
# and not `Int` because 32 bits are too few, gives the number that is stored.
# What happens: `skip` alone is ignored, without an error: 1,000 rows from the first one come, as
# without any argument, so a client that moves on by `skip` reads the first page for ever. Beside
# `top` it is heeded. The stored 9007199254740993 comes as 9007199254740992.
# Versions: @cap-js/graphql 0.10.1, @sap/cds 8.9.10, @cap-js/postgres 1.14.0, pgserver 0.1.4
# (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
mkdir srv
cat >package.json <<'JSON'
{
  "private": true,
  "cds": {
    "protocols": { "graphql": { "path": "/graphql", "impl": "@cap-js/graphql" } },
    "requires": { "db": { "kind": "postgres", "impl": "@cap-js/postgres" } }
  }
}
JSON
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @sap/cds@8.9.10 @cap-js/graphql@0.10.1 @cap-js/postgres@1.14.0 express@4.22.1 >/dev/null
cat >srv/rows.cds <<'CDS'
entity Stored { key ID: Integer; big: Int64; }
@graphql service Rows { entity Entries as projection on Stored; }
CDS
cat >main.mjs <<'JS'
import { createRequire } from 'node:module';
import net from 'node:net';

// CAP takes no address of a Unix socket, and this PostgreSQL has no other.
const relay = net.createServer((socket) => socket.pipe(net.connect(process.argv[2])).pipe(socket));
await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
const cds = createRequire(import.meta.url)('@sap/cds');
const { port } = relay.address();
const user = { user: 'postgres', password: 'none', database: 'postgres' };
cds.env.requires.db.credentials = { host: '127.0.0.1', port, ...user };
await cds.plugins;
const database = await cds.connect.to('db');
await cds.deploy(await cds.load('srv'));
const rows = Array.from({ length: 1350 }, (_, ID) => ({ ID }));
await database.run(cds.ql.INSERT.into('Stored').entries(rows));
await database.run('update stored set big = 9007199254740993');
process.env.PORT = '0';
const listening = new Promise((resolve) => cds.once('listening', ({ url }) => resolve(url)));
await cds.exec('all');
const url = `${await listening}/graphql`;
const ask = async (given) => {
  const query = `{ Rows { Entries${given} { nodes { ID big } } } }`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const text = await answer.text();
  const { nodes } = JSON.parse(text).data.Rows.Entries;
  return `${nodes.length} rows from ${nodes[0].ID}, big: ${text.match(/"big":(\d+)/)[1]}`;
};
const found = [];
for (const given of ['', '(skip: 1300)', '(skip: 1300, top: 1000)']) found.push(await ask(given));
console.log(found.map((line) => `found: ${line}`).join('\n'));
const whole = '1000 rows from 0, big: 9007199254740992';
const expected = [whole, whole, '50 rows from 1300, big: 9007199254740992'];
process.exit(found.join() === expected.join() ? 0 : 1);
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
done = subprocess.run(["node", "main.mjs", str(pathlib.Path("rows/.s.PGSQL.5432").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>/dev/null | grep '^found'
