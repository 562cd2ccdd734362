#!/usr/bin/env bash
# gql-compress: the spaces inside of texts are removed too.
#
# Guessed before: shrinking a query takes away what GraphQL ignores; what stands in quotes is a
# value, and stays.
# What happens: spaces beside punctuation go, and others become one, in texts and block strings as
# well. The query is valid, and asks for another name: `"Smith, John"` becomes `"Smith,John"`. The
# lines of a block string become one.
# Versions: gql-compress 2.0.24, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps gql-compress@2.0.24 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const module_ = require('gql-compress');
const compress = module_.default ?? module_;

const schema = buildSchema('type Query { rows(name: String): String }');
const rootValue = { rows: ({ name }) => name };
const texts = ['"Smith, John"', '"a  b"', '"{ id : 1 }"', '"""one\n  two"""'];
const found = texts.map((text) => {
  const { data } = graphqlSync({ schema, source: compress(`{ rows(name: ${text}) }`), rootValue });
  return data.rows;
});
console.log(found);
process.exit(found.join('|') === 'Smith,John|a b|{id:1}|one two' ? 0 : 1);
JS
node main.cjs
