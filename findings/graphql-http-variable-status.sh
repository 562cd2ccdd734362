#!/usr/bin/env bash
# graphql-http: a variable that is refused has status 200, also in the newer media type.
#
# Guessed before: in `application/graphql-response+json` a request that is refused as a whole has
# status 400, whatever was wrong with it, so that its status tells whether anything was executed.
# What happens: a document that does not fit the schema has 400, a variable that does not fit its
# type has 200. Both bodies have errors and no `data`. A client that trusts the status of this media
# type looks for data in a request that never ran.
# Versions: graphql-http 1.23.1, graphql 17.1.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql-http@1.23.1 graphql@17.1.0 >/dev/null
cat >main.mjs <<'JS'
import http from 'node:http';
import { buildSchema } from 'graphql';
import { createHandler } from 'graphql-http/lib/use/http';

const schema = buildSchema('type Query { double(n: Int!): Int }');
const rootValue = { double: ({ n }) => 2 * n };
const server = http.createServer(createHandler({ schema, rootValue }));
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const accept = 'application/graphql-response+json';
const headers = { 'Content-Type': 'application/json', Accept: accept };
const ask = async (query, variables) => {
  const body = JSON.stringify({ query, variables });
  const url = `http://127.0.0.1:${server.address().port}/`;
  const response = await fetch(url, { method: 'POST', headers, body });
  const keys = Object.keys(await response.json()).join();
  return `${response.status} ${keys}`;
};
const query = 'query ($n: Int!) { double(n: $n) }';
const found = {
  'valid': await ask(query, { n: 2 }),
  'variable of another type': await ask(query, { n: 'x' }),
  'no variable': await ask(query, {}),
  'unknown field': await ask('{ nope }', {}),
};
server.close();
console.log(found);
const expected = ['200 data', '200 errors', '200 errors', '400 errors'];
process.exit(Object.values(found).join(';') === expected.join(';') ? 0 : 1);
JS
node main.mjs
