#!/usr/bin/env bash
# express-graphql: a wrong variable or operation name is answered as a failure of the server.
#
# One would expect: all mistakes of a request have status 400, as syntax errors and unknown fields
# have.
# What happens: a variable of another type and a name of no operation have status 500 with GraphQL
# errors in the body. A client that repeats requests after a 500 repeats them in vain.
# Versions: express-graphql 0.12.0, graphql 15.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error express-graphql@0.12.0 graphql@15.11.0 >/dev/null
cat >main.cjs <<'JS'
const http = require('node:http');
const { graphqlHTTP } = require('express-graphql');
const { buildSchema } = require('graphql');

(async () => {
  const schema = buildSchema('type Query { double(n: Int!): Int }');
  const rootValue = { double: ({ n }) => 2 * n };
  const server = http.createServer(graphqlHTTP({ schema, rootValue }));
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const ask = async (request) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    const hasErrors = Array.isArray((await response.json()).errors);
    return `${response.status} ${hasErrors}`;
  };
  const query = 'query Double($n: Int!) { double(n: $n) }';
  const found = [
    await ask({ query, variables: { n: 2 } }),
    await ask({ query: '{ nope }' }),
    await ask({ query, variables: { n: 'x' } }),
    await ask({ query, variables: { n: 2 }, operationName: 'Other' }),
  ];
  server.close();
  console.log(found);
  process.exit(found.join() === '200 false,400 true,500 true,500 true' ? 0 : 1);
})();
JS
node main.cjs
