#!/usr/bin/env bash
# @ra-data-prisma/dataprovider: a filter for null is one for 1970 or false, or no filter at all.
#
# Guessed before: `{at: null}` asks for the rows without a time, as Prisma reads null, and a list of
# 1 and null for both; the text "false", as a filter in an address has it, asks for false.
# What happens: the `where` that is sent has `at` equal to 1970-01-01, and `ok` equal to false. A null
# number is left out, so that all rows come, also where it stands in a list behind another: `OR` has
# an empty condition then. "false" is sent as true, "2.9" as 2, and of `n_gt: null` nothing is left.
# No error or warning says so.
# Versions: @ra-data-prisma/dataprovider 8.1.0, lodash 4.17.21, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @ra-data-prisma/dataprovider@8.1.0 lodash@4.17.21 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const { buildSchema, introspectionFromSchema } = require('graphql');
const {
  buildWhere,
} = require('@ra-data-prisma/dataprovider/lib/buildVariables/buildWhere');

const schema = buildSchema(`
  scalar DateTime
  input IntNullableFilter { equals: Int gt: Int gte: Int lt: Int lte: Int }
  input DateTimeNullableFilter { equals: DateTime gte: DateTime lte: DateTime }
  input BoolNullableFilter { equals: Boolean }
  input RowWhereInput {
    AND: [RowWhereInput!]
    n: IntNullableFilter
    at: DateTimeNullableFilter
    ok: BoolNullableFilter
  }
  type Row { id: ID! n: Int at: DateTime ok: Boolean }
  type Query { rows(where: RowWhereInput): [Row!]! }
`);
const { types } = introspectionFromSchema(schema).__schema;
const context = {
  options: {},
  introspectionResults: { types, resources: [] },
  resource: { type: types.find((type) => type.name === 'Row') },
};
const convert = (filter) => JSON.parse(JSON.stringify(buildWhere(filter, context)));
const found = {
  time: convert({ at: null }),
  flag: convert({ ok: null }),
  number: convert({ n: null }),
  text: convert({ ok: 'false' }),
  fraction: convert({ n: '2.9' }),
  bound: convert({ n_gt: null }),
  list: convert({ n: [1, null] }),
  bounds: convert({ n_gte: 3, n_lte: 6 }),
};
console.log(JSON.stringify(found, null, 1));
assert.deepStrictEqual(found, {
  time: { at: { equals: '1970-01-01T00:00:00.000Z' } },
  flag: { ok: { equals: false } },
  number: {},
  text: { ok: { equals: true } },
  fraction: { n: { equals: 2 } },
  bound: {},
  list: { OR: [{ n: { equals: 1 } }, {}] },
  bounds: { AND: [{ n: { gte: 3 } }, { n: { lte: 6 } }] },
});
JS
node main.cjs
