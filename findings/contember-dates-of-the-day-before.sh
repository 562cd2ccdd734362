#!/usr/bin/env bash
# Contember: a server east of Greenwich answers a date with a time of the day before.
#
# One would expect: the date 2000-01-01 is answered as that, wherever the server stands, and a filter
# with a value from an answer finds its row.
# What happens: a column of type Date is answered as a time in UTC, the server's midnight: in Prague
# 1999-12-31T23:00:00.000Z, of which the date is the day before. As a filter that text is read as
# this day, and finds the row of the day before its own, or none.
# Versions: @contember/engine-server 2.0.8, @contember/schema-definition 2.0.8, pgserver 0.1.4
# (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @contember/engine-server@2.0.8 @contember/schema-definition@2.0.8 \
  @contember/schema-migrations@2.0.8 @contember/schema-utils@2.0.8 >/dev/null
cat >main.mjs <<'JS'
import { c, createSchema } from '@contember/schema-definition';
import {
  ModificationHandlerFactory, SchemaDiffer, SchemaMigrator, VERSION_LATEST,
} from '@contember/schema-migrations';
import { emptySchema } from '@contember/schema-utils';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

class Row {
  day = c.dateColumn();
}
const factory = new ModificationHandlerFactory(ModificationHandlerFactory.defaultFactoryMap);
const differ = new SchemaDiffer(new SchemaMigrator(factory));
const modifications = differ.diffSchemas(emptySchema, createSchema({ Row }));
const other = createServer();
await new Promise((resolve) => { other.listen(0, resolve); });
const { port } = other.address();
await new Promise((resolve) => { other.close(resolve); });
const token = '0'.repeat(40);
const env = {
  ...process.env,
  TZ: 'Europe/Prague',
  NODE_ENV: 'production',
  DEFAULT_DB_HOST: process.argv[2],
  DEFAULT_DB_USER: 'postgres',
  DEFAULT_DB_PASSWORD: 'none',
  TENANT_DB_NAME: 'tenant',
  CONTEMBER_PORT: `${port}`,
  CONTEMBER_ROOT_TOKEN: token,
  CONTEMBER_LOGIN_TOKEN: '1'.repeat(40),
  CONTEMBER_ENCRYPTION_KEY: '0'.repeat(64),
};
const start = 'node_modules/@contember/engine-server/dist/production/start.js';
const server = spawn('node', [start], { env, stdio: 'ignore' });
const ask = async (path, query, variables) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return (await answer.json()).data;
};
const create = 'mutation { createProject(projectSlug: "app", config: {}) { ok } }';
let data = null;
for (let left = 60; left && !data?.createProject?.ok; left -= 1) {
  await new Promise((resolve) => { setTimeout(resolve, 500); });
  data = await ask('/tenant', create).catch(() => null);
}
const version = '2026-01-01-000000';
const schemaMigration = { formatVersion: VERSION_LATEST, modifications };
const migration = { version, name: `${version}-init`, type: 'SCHEMA', schemaMigration };
const migrate = 'mutation($m: [Migration!]!) { migrate(migrations: $m) { ok } }';
await ask('/system/app', migrate, { m: [migration] });
const rows = '/content/app/live';
for (const day of ['1999-12-31', '2000-01-01']) {
  await ask(rows, `mutation { createRow(data: {day: "${day}"}) { ok } }`);
}
const found = [];
const answered = '1999-12-31T23:00:00.000Z';
for (const day of ['2000-01-01', answered]) {
  const { listRow } = await ask(rows, `{ listRow(filter: {day: {eq: "${day}"}}) { day } }`);
  found.push(`found: ${day}: ${listRow.map((row) => row.day).join(' ')}`);
}
server.kill();
console.log(found.join('\n'));
const expected = [
  `found: 2000-01-01: ${answered}`, `found: ${answered}: 1999-12-30T23:00:00.000Z`,
];
process.exit(found.join() === expected.join() ? 0 : 1);
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
done = subprocess.run(["node", "main.mjs", str(pathlib.Path("rows").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>&1 | grep '^found'
