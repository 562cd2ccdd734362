#!/usr/bin/env bash
# OpenAPI-to-GraphQL: the keys inside a JSON value are rewritten, and two of them may become one.
#
# One would expect: a property with `additionalProperties` is a value of the scalar JSON, which
# comes as the service sent it, as its keys are data: names of languages, days, identifiers.
# What happens: the keys of the value are made valid names of GraphQL, at every depth. "2001-02-03"
# becomes "_20010203", "en-GB" becomes "enGB", and "c++" and "c" become the same key, of which only
# the last value comes. The values of strings are untouched, and no error says so.
# Versions: openapi-to-graphql 3.0.7, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  openapi-to-graphql@3.0.7 graphql@16.15.0 >/dev/null
cat >main.js <<'JS'
const { graphql } = require('graphql');
const { createServer } = require('node:http');
const { createGraphQLSchema } = require('openapi-to-graphql');

const value = { '2001-02-03': 1, 'en-GB': 2, 'c++': 3, c: 4, within: { 'a b': 5 } };
const rest = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id: 1, counts: value }));
});
rest.listen(0, '127.0.0.1', async () => {
  const properties = {
    id: { type: 'integer' },
    counts: { type: 'object', additionalProperties: true },
  };
  const content = { 'application/json': { schema: { type: 'object', properties } } };
  const get = { operationId: 'row', responses: { 200: { description: 'a row', content } } };
  const { schema } = await createGraphQLSchema({
    openapi: '3.0.0',
    info: { title: 'rows', version: '1' },
    servers: [{ url: `http://127.0.0.1:${rest.address().port}` }],
    paths: { '/row': { get } },
  });
  const answer = await graphql({ schema, source: "{ row { counts } }", contextValue: {} });
  console.log(JSON.stringify(answer));
  process.exit(0);
});
JS
found=$(node main.js 2>/dev/null)
echo "$found"
[ "$found" = '{"data":{"row":{"counts":{"_20010203":1,"enGB":2,"c":4,"within":{"aB":5}}}}}' ]
