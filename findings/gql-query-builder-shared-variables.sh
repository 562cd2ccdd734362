#!/usr/bin/env bash
# gql-query-builder: two operations that both take `id` are sent with one value for both.
#
# One would expect: an array of operations gives one query in which each keeps its own arguments, by
# variables with names of their own.
# What happens: both declare and read `$id`, and the last value wins. The answer has the same record
# twice, the query is valid, and nothing says that the first value was dropped. Fields inside a
# field do the same, where the first value wins.
# Versions: gql-query-builder 3.8.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error gql-query-builder@3.8.0 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { buildSchema, graphql } from 'graphql';
import { query } from 'gql-query-builder';

const schema = buildSchema('type Query { author(id: Int): String book(id: Int): String }');
const rootValue = { author: ({ id }) => `author ${id}`, book: ({ id }) => `book ${id}` };
const both = query([
  { operation: 'author', variables: { id: 1 } },
  { operation: 'book', variables: { id: 2 } },
]);
const request = { schema, rootValue, source: both.query, variableValues: both.variables };
const { data, errors } = await graphql(request);
console.log(both.query, both.variables, data, errors);
process.exit(data.author === 'author 2' && data.book === 'book 2' && !errors ? 0 : 1);
JS
node main.mjs
