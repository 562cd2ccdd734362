#!/usr/bin/env bash
# @konfy/graphql-mongo-query: a condition with a null or a Date is left out of the filter.
#
# Guessed before: `{ author: null }` finds the documents without an author, and `{ day: ... }` those of
# a day, where the scalar of GraphQL is parsed to a Date, as MongoDB needs it.
# What happens: both are objects in JavaScript, and are looked through for conditions below. There are
# none, so that the filter is empty and finds all documents, without an error. With `_IN` the null is
# undefined, and with `_GTE` so is the Date. Numbers and texts are kept.
# Versions: @konfy/graphql-mongo-query 2.0.6, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @konfy/graphql-mongo-query@2.0.6 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const parse = require('@konfy/graphql-mongo-query').default();

const day = new Date('2026-01-02T00:00:00Z');
const filters = [
  { author: 'ann', pages: 0 },
  { author: null },
  { day },
  { author: null, day, pages: 0 },
  { author: { _IN: [null, 'ann'] }, day: { _GTE: day } },
];
const found = filters.map((filter) => parse(filter));
console.log(found);
assert.deepStrictEqual(found, [
  { author: 'ann', pages: 0 },
  {},
  {},
  { pages: 0 },
  { author: { $in: [undefined, 'ann'] }, day: { $gte: undefined } },
]);
JS
node main.cjs
