#!/usr/bin/env bash
# graphql-norm: the default values of variables are not read.
#
# Guessed before: what is normalized for a query comes back for that query, arguments given by
# variables with default values and `@include` among them.
# What happens: a variable that has its default counts as not given. `rows(size: $size)` of two
# queries with the defaults 1 and 2 has one place in the store: the second query gets the rows of
# the first. A field with `@include(if: $all)`, where `$all` is true by default, is lost, and one
# with `@skip` that the server rightly left out makes the whole answer incomplete.
# Versions: graphql-norm 1.3.6, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps graphql-norm@1.3.6 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync, parse } = require('graphql');
const { denormalize, normalize } = require('graphql-norm');

const schema = buildSchema('type Query { rows(size: Int): [Int] note: String }');
const rootValue = { rows: ({ size }) => [10, 20, 30].slice(0, size), note: 'hello' };
const store = (source, variables) => {
  const { data } = graphqlSync({ schema, source, rootValue, variableValues: variables });
  return normalize(parse(source), variables, JSON.parse(JSON.stringify(data)));
};
const read = (source, variables, stored) => denormalize(parse(source), variables, stored).data;
const sized = (size) => `query ($size: Int = ${size}) { rows(size: $size) }`;
const include = 'query ($all: Boolean = true) { rows note @include(if: $all) }';
const skip = 'query ($all: Boolean = true) { rows note @skip(if: $all) }';
const found = [
  read(sized(2), { size: 2 }, store(sized(1), { size: 1 })) ?? null,
  read(sized(2), {}, store(sized(1), {})),
  read(include, { all: true }, store(include, { all: true })),
  read(include, {}, store(include, {})),
  read(skip, {}, store(skip, {})) ?? null,
];
console.log(JSON.stringify(found));
const rows = [10, 20, 30];
const expected = [null, { rows: [10] }, { rows, note: 'hello' }, { rows }, null];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node main.cjs
