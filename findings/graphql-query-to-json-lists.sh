#!/usr/bin/env bash
# graphql-query-to-json: in a list, numbers become texts, and objects become null.
#
# Guessed before: what is read back by json-to-graphql-query, whose reverse the library is, asks
# the same; lists of numbers, objects, enums and nulls are arguments as any other.
# What happens: `[1, 2]` is `["1", "2"]`, an enum in a list or an object is a text, an object in a
# list is `null`, and an argument that is null is left out or undefined. A filter
# `where: [{name: "bob"}]` is then `where: []`, which is valid and has no condition: all rows come.
# Versions: graphql-query-to-json 2.0.6, json-to-graphql-query 2.3.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps graphql-query-to-json@2.0.6 \
  json-to-graphql-query@2.3.0 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const { graphQlQueryToJson } = require('graphql-query-to-json');
const { jsonToGraphQLQuery } = require('json-to-graphql-query');

const read = (args) => graphQlQueryToJson(`{ rows(${args}) { name } }`).query.rows.__args;
const args = read('ids: [1, 2], colours: [RED], where: [{name: "bob"}], after: null');
console.log(args);

const schema = buildSchema(`
  input Name { name: String }
  type Row { name: String }
  type Query { rows(where: [Name!]): [Row] }
`);
const rows = ({ where }) =>
  ['ann', 'bob'].filter((row) => where.every(({ name }) => name === row)).map((name) => ({ name }));
const query = '{ rows(where: [{name: "bob"}]) { name } }';
const names = [query, jsonToGraphQLQuery(graphQlQueryToJson(query))].map((source) => {
  const { data } = graphqlSync({ schema, source, rootValue: { rows } });
  return data.rows.map((row) => row.name).join(' ');
});
console.log(names);
const found = JSON.stringify([args, names]);
const expected = [{ ids: ['1', '2'], colours: ['RED'], where: [null] }, ['bob', 'ann bob']];
process.exit(found === JSON.stringify(expected) ? 0 : 1);
JS
node main.cjs
