#!/usr/bin/env bash
# GraphQL Mesh: an int64 of a REST source is BigInt, sent as text, and rounded before.
#
# One would expect: `format: int64` in an OpenAPI document becomes BigInt so that all 64 bits come
# through, and text in JSON says that they did; the source sends 1152921504606846977.
# What happens: the source's answer is read into doubles, and then written as text. The numbers that
# end in 6977 and 6978 both come as "1152921504606846976", so two keys become one. What a double
# holds comes as a number, larger ones as text: exactly those that were rounded look exact.
# Versions: @omnigraph/openapi 0.112.4, @graphql-mesh/compose-cli 1.8.2, Hive Gateway 2.15.1,
# graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @omnigraph/openapi@0.112.4 @graphql-mesh/compose-cli@1.8.2 @graphql-hive/gateway@2.15.1 \
  graphql@16.15.0 >/dev/null
cat >openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "rows", "version": "1" },
  "paths": { "/rows": { "get": { "operationId": "rows", "responses": { "200": {
    "description": "all rows",
    "content": { "application/json": { "schema": { "type": "array", "items": {
      "type": "object", "title": "Row",
      "properties": { "big": { "type": "integer", "format": "int64" } }
    } } } }
  } } } } }
}
JSON
cat >main.mjs <<'JS'
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const listen = async (server) => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
};
const body = '[{"big": 7}, {"big": 1152921504606846977}, {"big": 1152921504606846978}]';
const source = createServer((_, response) => {
  response.setHeader('content-type', 'application/json').end(body);
});
const endpoint = `http://127.0.0.1:${await listen(source)}`;
writeFileSync('mesh.config.mjs', `
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';
const sourceHandler = loadOpenAPISubgraph('Rows', {
  source: './openapi.json', endpoint: '${endpoint}',
});
export const composeConfig = defineConfig({ subgraphs: [{ sourceHandler }] });
`);
const compose = ['-c', 'mesh.config.mjs', '-o', 'supergraph.graphql'];
execFileSync('node_modules/.bin/mesh-compose', compose, { stdio: 'ignore' });
const free = createServer();
const port = await listen(free);
free.close();
const given = ['supergraph', 'supergraph.graphql', '--host', '127.0.0.1', '--port', `${port}`];
const gateway = spawn('node_modules/.bin/hive-gateway', given, { stdio: 'ignore' });
const ask = async () => {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ rows { big } }' }),
  });
  return JSON.stringify((await response.json()).data.rows.map((row) => row.big));
};
let found;
for (let left = 120; left && found === undefined; left -= 1) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  found = await ask().catch(() => undefined);
}
console.log(`the source: ${body}\nthe gateway: ${found}`);
gateway.kill();
source.close();
const isSame = found === '[7,"1152921504606846976","1152921504606846976"]';
process.exit(isSame ? 0 : 1);
JS
node main.mjs
