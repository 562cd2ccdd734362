#!/usr/bin/env bash
# urql-custom-scalars-exchange: a value is converted as often as its field stands in the query.
#
# Guessed before: each value of the scalar is converted once, wherever its field was selected.
# What happens: a price of 12345 cents is 123.45 where `price` stands once, and 1.2345 where it stands
# beside a fragment that has it, too, or in two fragments, although the answer has it once. In a
# fragment that is spread in a fragment it stays 12345, in the same list as converted prices; and
# a list in a list of the scalar is null. No error or warning says so.
# @atmina/urql-custom-scalars-exchange 1.2.0 converts fragments in fragments, and is else the same.
# Versions: urql-custom-scalars-exchange 1.0.1, @urql/core 6.0.3, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  urql-custom-scalars-exchange@1.0.1 @atmina/urql-custom-scalars-exchange@1.2.0 @urql/core@6.0.3 \
  graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql, introspectionFromSchema } = require('graphql');
const { Client, fetchExchange, gql } = require('@urql/core');

const schema = buildSchema(`
  scalar Cents
  type Item { price: Cents prices: [[Cents]] }
  type Query { items: [Item] }
`);
const rootValue = { items: [{ price: 12345, prices: [[100, 200]] }] };
const answer = async (_url, options) => {
  const result = await graphql({ schema, source: JSON.parse(options.body).query, rootValue });
  return new Response(JSON.stringify(result), { headers: { 'content-type': 'application/json' } });
};
const queries = {
  once: '{ items { price } }',
  beside: '{ items { price ...A } } fragment A on Item { price }',
  both: '{ items { ...A ...B } } fragment A on Item { price } fragment B on Item { price }',
  inner: '{ items { ...A } } fragment A on Item { ...B } fragment B on Item { price }',
  lists: '{ items { prices } }',
};
const run = async (name) => {
  const exchange = require(name).default({
    schema: introspectionFromSchema(schema),
    scalars: { Cents: (value) => value / 100 },
  });
  const exchanges = [exchange, fetchExchange];
  const url = 'http://127.0.0.1/graphql';
  const client = new Client({ url, fetch: answer, exchanges, preferGetMethod: false });
  const found = {};
  for (const [key, query] of Object.entries(queries)) {
    const { data } = await client.query(gql(query), {}).toPromise();
    found[key] = data.items[0].price ?? data.items[0].prices;
  }
  console.log(`${name}: ${JSON.stringify(found)}`);
  return JSON.stringify(found);
};
const main = async () => {
  const first = await run('urql-custom-scalars-exchange');
  const second = await run('@atmina/urql-custom-scalars-exchange');
  const start = '{"once":123.45,"beside":1.2345,"both":1.2345,"inner":';
  const end = ',"lists":[null]}';
  const isSame = first === `${start}12345${end}` && second === `${start}123.45${end}`;
  process.exit(isSame ? 0 : 1);
};
main();
JS
node main.cjs
