#!/usr/bin/env bash
# Mercurius: a name of no operation in the document is answered with status 200.
#
# One would expect: status 400, which Mercurius has for syntax errors, unknown fields and wrong
# variables: nothing was executed in either case.
# What happens: where the request has no variables, 200 with `data: null` and an error, as if the
# query had run and failed. With variables the same mistake has status 400.
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
  const resolvers = { Query: { double: (_, { n }) => 2 * n } };
  app.register(mercurius, { schema: 'type Query { double(n: Int!): Int }', resolvers });
  const ask = async (payload) => {
    const response = await app.inject({ method: 'POST', url: '/graphql', payload });
    const { data, errors } = response.json();
    return `${response.statusCode} ${data === null} ${Array.isArray(errors)}`;
  };
  const query = 'query Double($n: Int!) { double(n: $n) }';
  const plain = 'query Double { double(n: 2) }';
  const found = [
    await ask({ query, variables: { n: 2 } }),
    await ask({ query: '{ nope }' }),
    await ask({ query, variables: { n: 'x' } }),
    await ask({ query, variables: { n: 2 }, operationName: 'Other' }),
    await ask({ query: plain, operationName: 'Other' }),
  ];
  await app.close();
  console.log(found);
  const refused = '400 true true';
  const expected = ['200 false false', refused, refused, refused, '200 true true'];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
node main.cjs
