#!/usr/bin/env bash
# graphql-fields-list: where a field is selected twice, only the first selection is read.
#
# Guessed before: a resolver's list has all fields that the query selects of it, those of a fragment
# included, and none that `@include` leaves out.
# What happens: of `row { id } ...Names`, where the fragment selects `row { name }`, the list is
# `id`; a resolver that loads the listed columns answers with `name: null`. One level deeper the two
# are merged. `fieldsMap(info)` names fields that `@skip` or `@include` leaves out, `fieldsList`
# does not; with `{ withDirectives: true }`, documented as the default, neither does.
# Versions: graphql-fields-list 2.3.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps graphql-fields-list@2.3.0 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const { fieldsList, fieldsMap } = require('graphql-fields-list');

const schema = buildSchema('type Row { id: ID name: String row: Row } type Query { row: Row }');
const table = { id: '1', name: 'ann' };
let maps;
const row = (_args, _context, info) => {
  maps = [fieldsMap(info), fieldsMap(info, { withDirectives: true })];
  return Object.fromEntries(fieldsList(info).map((name) => [name, table[name] ?? table]));
};
const execute = (source) => graphqlSync({ schema, source, rootValue: { row } });
const ask = (source) => JSON.stringify(execute(source).data.row);
const found = [
  ask('{ row { id } ...Names } fragment Names on Query { row { name } }'),
  ask('{ row { row { id } row { name } } }'),
  ask('{ row { id name @include(if: false) } }'),
  ...maps.map((map) => Object.keys(map).join()),
];
console.log(found);
const expected = [
  '{"id":"1","name":null}',
  '{"row":{"id":"1","name":"ann"}}',
  '{"id":"1"}',
  'id,name',
  'id',
];
process.exit(found.join(' ') === expected.join(' ') ? 0 : 1);
JS
node main.cjs
