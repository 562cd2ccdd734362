#!/usr/bin/env bash
# EverShop: `currentPage` of a product collection always fails, and the whole answer with it.
#
# One would expect: `ProductCollection.currentPage`, an `Int!`, says which page came, as
# `currentFilters` is asked for it by `filters: [{key: "page", ...}]`.
# What happens: nothing resolves it, so that the answer is HTTP 500 without data. It is no answer of
# GraphQL either: the message is in `error`, and there is no `errors`. For page 2 `currentFilters`
# names two pages, 2 and 1.
# Versions: @evershop/evershop 2.2.1 with its own graphql 16, pgserver 0.1.4 (Postgres 16), Node 20,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
mkdir config
echo '{ "shop": { "homeUrl": "http://127.0.0.1" } }' >config/default.json
echo '{ "private": true, "type": "module" }' >package.json
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @evershop/evershop@2.2.1 concat-stream@2.0.0 >/dev/null
cat >main.js <<'JS'
import { createServer } from 'node:http';
import path from 'node:path';

Object.assign(process.env, {
  DB_HOST: process.argv[2],
  DB_NAME: 'postgres',
  DB_USER: 'postgres',
  DB_PASSWORD: 'none',
  DB_SSLMODE: 'disable',
  NODE_ENV: 'production',
  ALLOW_CONFIG_MUTATIONS: 'true',
});
// As the command `evershop start`, without its processes for events and jobs.
const load = (name) => import(path.resolve('node_modules/@evershop/evershop/dist/bin/lib', name));
const { createApp } = await load('app.js');
const { loadBootstrapScript } = await load('bootstrap/bootstrap.js');
const { migrate } = await load('bootstrap/migrate.js');
const { getCoreModules } = await load('loadModules.js');
const app = createApp();
const modules = getCoreModules();
for (const module of modules) {
  await loadBootstrapScript(module, { command: 'start', env: 'production', process: 'main' });
}
await migrate(modules);
const server = createServer(app);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/api/graphql`;
const ask = async (query) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return [answer.status, await answer.json()];
};
const [status, body] = await ask('{ products { total currentPage } }');
const filters = 'filters: [{ key: "page", operation: eq, value: "2" }]';
const [, { data }] = await ask(`{ products(${filters}) { currentFilters { key value } } }`);
const pages = data.products.currentFilters.filter(({ key }) => key === 'page');
const found = [
  `${status} ${Object.keys(body)} ${body.error?.message}`,
  pages.map(({ value }) => value).join(' '),
];
console.log(found.map((line) => `found: ${line}`).join('\n'));
const message = 'Cannot return null for non-nullable field ProductCollection.currentPage.';
process.exit(found.join() === `500 error ${message},2 1` ? 0 : 1);
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
done = subprocess.run(["node", "main.js", str(pathlib.Path("rows").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>&1 | grep '^found'
