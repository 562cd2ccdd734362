#!/usr/bin/env bash
# Stitched schemas without a context: fields of merged types keep their first answer for ever.
#
# One would expect: with other variables, or after the data have changed, an answer is another one.
# What happens: the parts of a merged type that come from another schema by `key` are fetched once
# for each id and text of the selection, and kept as long as the server runs, if a request has
# neither a context nor a root value, as in graphql-http and `graphql` unless one is given. The
# variables in the selection do not count, so that `price(times: $times)` is the first price for any
# `$times`. The fields of the first schema are fresh beside it. With a context of `{}` for each
# request all is right.
# Versions: @graphql-tools/stitch 10.3.1, @graphql-tools/batch-delegate 10.1.0,
# @graphql-tools/schema 10.1.5, graphql 16.15.0, graphql-http 1.23.1, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @graphql-tools/stitch@10.3.1 \
  @graphql-tools/batch-delegate@10.1.0 @graphql-tools/schema@10.1.5 graphql@16.15.0 \
  graphql-http@1.23.1 >/dev/null
cat >main.mjs <<'JS'
import { makeExecutableSchema } from '@graphql-tools/schema';
import { stitchSchemas } from '@graphql-tools/stitch';
import { createHandler } from 'graphql-http/lib/use/fetch';

const data = { stock: 5, price: 10 };
const stock = makeExecutableSchema({
  typeDefs: 'type Product { id: ID! stock: Int } type Query { products: [Product] }',
  resolvers: { Query: { products: () => [{ id: 1, stock: data.stock }] } },
});
const prices = makeExecutableSchema({
  typeDefs: `type Product { id: ID! price(times: Int): Int }
    type Query { priced(ids: [ID]): [Product] }`,
  resolvers: {
    Query: { priced: (_, { ids }) => ids.map((id) => ({ id })) },
    Product: { price: (_, { times }) => data.price * times },
  },
});
const key = ({ id }) => id;
const argsFromKeys = (ids) => ({ ids });
const Product = { selectionSet: '{ id }', fieldName: 'priced', key, argsFromKeys };
const schema = stitchSchemas({
  subschemas: [{ schema: stock }, { schema: prices, merge: { Product } }],
});

const query = 'query ($times: Int) { products { stock price(times: $times) } }';
const ask = async (handler, times) => {
  const request = new Request('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { times } }),
  });
  const { data: answer } = await (await handler(request)).json();
  return JSON.stringify(answer.products[0]);
};
const bare = createHandler({ schema });
const withContext = createHandler({ schema, context: () => ({}) });
console.log(`once: ${await ask(bare, 1)}`);
console.log(`twice: ${await ask(bare, 2)}`);
console.log(`twice, with a context: ${await ask(withContext, 2)}`);
Object.assign(data, { stock: 4, price: 11 });
console.log(`changed: ${await ask(bare, 1)}`);
console.log(`changed, with a context: ${await ask(withContext, 1)}`);
JS
found=$(node main.mjs)
echo "$found"
[ "$found" = 'once: {"stock":5,"price":10}
twice: {"stock":5,"price":10}
twice, with a context: {"stock":5,"price":20}
changed: {"stock":4,"price":10}
changed, with a context: {"stock":4,"price":11}' ]
