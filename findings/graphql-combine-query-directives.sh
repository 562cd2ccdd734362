#!/usr/bin/env bash
# graphql-combine-query: a variable of `@include` or of a fragment keeps its old name.
#
# Guessed before: `addN` gives each copy of the query variables of its own, wherever they are used.
# What happens: arguments and lists in them get the new names; `@include(if: $all)` and what stands
# in a fragment keep the old one, which the new operation does not declare. Two fragments of
# one name become the first: with `add`, the fields of the second query are lost without an error.
# Versions: graphql-combine-query 1.2.4, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps graphql-combine-query@1.2.4 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, parse, print, validate } = require('graphql');
const combineQuery = require('graphql-combine-query').default;

const schema = buildSchema(`
  type Row { id: ID name: String }
  type Query { row(id: ID): Row other: Row }
`);
const check = ({ document }) => {
  console.log(print(document));
  return validate(schema, document).map((error) => error.message);
};
const repeat = (text, inputs) => check(combineQuery('All').addN(parse(text), inputs));
const found = [
  repeat('query Q($id: ID) { row(id: $id) { name } }', [{ id: 1 }, { id: 2 }]),
  repeat('query Q($id: ID, $all: Boolean!) { row(id: $id) { id name @include(if: $all) } }', [
    { id: 1, all: true },
    { id: 2, all: false },
  ]),
];
const both = combineQuery('Both')
  .add(parse('{ row { ...F } } fragment F on Row { id }'))
  .add(parse('{ other { ...F } } fragment F on Row { name }'));
found.push(check(both), print(both.document).includes('name'));
console.log(found);
const undeclared = 'Variable "$all" is not defined by operation "All".';
const unused = [0, 1].map((n) => `Variable "$all_${n}" is never used in operation "All".`);
const expected = [[], [undeclared, undeclared, ...unused], [], false];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node main.cjs
