#!/usr/bin/env bash
# @jackchuka/gql-ingest: an empty cell of a CSV file is sent as the number 0.
#
# Guessed before: a missing number is sent as null, or as the empty text that the endpoint refuses, as
# the texts that are no numbers are.
# What happens: cells for variables of the types Int and Float are converted by JavaScript's Number(),
# of which the empty text is 0. The endpoint stores a price of 0 for a book whose price is unknown,
# and all rows are reported as sent. An empty cell for a Boolean stays an empty text, with a warning.
# Versions: @jackchuka/gql-ingest 3.1.1, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps @jackchuka/gql-ingest@3.1.1 \
  graphql@16.15.0 >/dev/null
mkdir -p books/data books/graphql books/mappings
printf 'name,pages,price\na,12,1.5\nb,,\n' >books/data/books.csv
cat >books/graphql/books.graphql <<'GRAPHQL'
mutation ($name: String!, $pages: Int, $price: Float) {
  addBook(name: $name, pages: $pages, price: $price)
}
GRAPHQL
cat >books/mappings/books.json <<'JSON'
{
  "dataFile": "data/books.csv",
  "dataFormat": "csv",
  "graphqlFile": "graphql/books.graphql",
  "mapping": { "name": "name", "pages": "pages", "price": "price" }
}
JSON
cat >main.mjs <<'JS'
import assert from 'node:assert';
import http from 'node:http';
import { GQLIngest } from '@jackchuka/gql-ingest';
import { buildSchema, graphql } from 'graphql';

const schema = buildSchema(`
  type Query { hello: String }
  type Mutation { addBook(name: String!, pages: Int, price: Float): Boolean }
`);
const books = [];
const rootValue = { addBook: (book) => books.push({ ...book }) > 0 };
const server = http.createServer(async (request, response) => {
  const chunks = await request.toArray();
  const { query, variables } = JSON.parse(Buffer.concat(chunks));
  const answer = await graphql({ schema, rootValue, source: query, variableValues: variables });
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const endpoint = `http://127.0.0.1:${server.address().port}/graphql`;
const { success } = await new GQLIngest({ endpoint }).ingest('./books');
server.close();
server.closeAllConnections();
console.log(success, books);
assert.deepStrictEqual(
  [success, books],
  [true, [{ name: 'a', pages: 12, price: 1.5 }, { name: 'b', pages: 0, price: 0 }]],
);
JS
node main.mjs
