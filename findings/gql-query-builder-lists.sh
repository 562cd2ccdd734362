#!/usr/bin/env bash
# gql-query-builder: a variable that is a list is declared as String and sent without a value.
#
# One would expect: `ids: [1, 2]` becomes a variable of type [Int], as numbers and texts get their
# types from their values, or an error that asks for the type.
# What happens: the variable is declared as String and has no value. An argument that is a text is
# then left out: a filter by names, given as a list, filters nothing, and all rows come without an
# error. Objects and dates are lost in the same way.
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

const schema = buildSchema('type Query { rows(name: String): [String] }');
const rows = ({ name }) => ['ann', 'bob'].filter((row) => name == null || row === name);
const ask = async (name) => {
  const built = query({ operation: 'rows', variables: { name } });
  const variableValues = JSON.parse(JSON.stringify(built.variables));
  const answer = await graphql({ schema, rootValue: { rows }, source: built.query, variableValues });
  console.log(built.query, variableValues, answer);
  return answer.errors ? 'errors' : answer.data.rows.join(' ');
};
const found = [await ask('bob'), await ask(['bob'])];
process.exit(found.join() === 'bob,ann bob' ? 0 : 1);
JS
node main.mjs
