#!/usr/bin/env bash
# json-to-graphql-query: a Date in the arguments becomes an empty input object.
#
# One would expect: a Date is written as the text that JSON.stringify gives it, as the library
# builds queries from what is JSON otherwise.
# What happens: the argument is `{}`. Where a filter object is expected (`created: {after: ...}`
# written as `created: <a date>`), that is a valid filter without conditions: all rows come, and no
# error. A key whose value is undefined is written too, as the enum value `undefined`.
# Versions: json-to-graphql-query 2.3.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error json-to-graphql-query@2.3.0 graphql@16.15.0 \
  >/dev/null
cat >main.mjs <<'JS'
import { buildSchema, graphql } from 'graphql';
import { jsonToGraphQLQuery } from 'json-to-graphql-query';

const schema = buildSchema(`
  input Times { on: String after: String }
  type Query { rows(created: Times): [Int] }
`);
const days = ['2026-01-01', '2026-01-02'];
const rows = ({ created }) => days.map((day, index) => (!created.on || created.on === day ? index : null));
const day = new Date('2026-01-02');
const source = jsonToGraphQLQuery({ query: { rows: { __args: { created: day } } } });
const { data, errors } = await graphql({ schema, rootValue: { rows }, source });
console.log(source, data, errors);
const undefinedText = jsonToGraphQLQuery({ query: { rows: { __args: { created: undefined } } } });
console.log(undefinedText);
const isAsSaid =
  source.includes('created: {}') && !errors && undefinedText.includes('created: undefined');
process.exit(isAsSaid && data.rows.join() === '0,1' ? 0 : 1);
JS
node main.mjs
