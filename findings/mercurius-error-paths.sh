#!/usr/bin/env bash
# Mercurius: over HTTP, the indices of rows in the path of an error are texts.
#
# One would expect: `"path": ["rows", 1, "parts"]`. In the specification an index is an integer, and
# so it is in what `app.graphql()` of the same server returns.
# What happens: `"path": ["rows", "1", "parts"]`: the schema by which the answer is serialized has
# texts as the items of a path. A client that tells indices from names by their type finds no row.
# Versions: mercurius 16.10.1, fastify 5.12.8, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error mercurius@16.10.1 fastify@5.12.8 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const fastify = require('fastify');
const mercurius = require('mercurius');

(async () => {
  const app = fastify();
  const schema = 'type Query { rows: [Row!]! } type Row { id: Int! parts: [Int!] }';
  const parts = ({ id }) => {
    if (id === 2) throw new Error('These parts cannot be read.');
    return [];
  };
  const resolvers = { Query: { rows: () => [{ id: 1 }, { id: 2 }] }, Row: { parts } };
  app.register(mercurius, { schema, resolvers });
  await app.ready();
  const query = '{ rows { id parts } }';
  const direct = await app.graphql(query);
  const response = await app.inject({ method: 'POST', url: '/graphql', payload: { query } });
  await app.close();
  const paths = [direct.errors, response.json().errors].map(([error]) => error.path);
  const found = paths.map((path) => JSON.stringify(path));
  console.log(`app.graphql(): ${found[0]}\nHTTP: ${found[1]}`);
  process.exit(found.join() === '["rows",1,"parts"],["rows","1","parts"]' ? 0 : 1);
})();
JS
node main.cjs
