#!/usr/bin/env bash
# json-graphql-server: a page size without a page number is ignored, and page 1 is not the first.
#
# Guessed before: `allPosts(perPage: 5)` gives five rows, and a query without arguments the first
# page of some default size, since the schema declares both arguments side by side and no default.
# What happens: without `page` all 35 rows come, whatever `perPage` says. With `page` alone a page
# has 25 rows, and `page: 1` is the second one, as pages are counted from 0. A client that reads
# `page: 1` as the first page starts at the 26th row, without an error.
# Versions: json-graphql-server 3.3.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error json-graphql-server@3.3.2 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { jsonSchemaBuilder } = require('json-graphql-server/node');
const { graphql } = require('graphql');

const posts = Array.from({ length: 35 }, (_, id) => ({ id, title: `title ${id}` }));
const schema = jsonSchemaBuilder({ posts });
const count = async (given) => {
  const { data } = await graphql({ schema, source: `{ allPosts${given} { id } }` });
  return `${data.allPosts.length} rows from ${data.allPosts[0].id}`;
};
const run = async () => {
  const found = {};
  for (const given of ['', '(perPage: 5)', '(page: 0)', '(page: 1)', '(page: 1, perPage: 5)']) {
    found[given] = await count(given);
  }
  console.log(found);
  const expected = ['35 rows from 0', '35 rows from 0', '25 rows from 0', '10 rows from 25'];
  return Object.values(found).join() === [...expected, '5 rows from 5'].join() ? 0 : 1;
};
run().then(process.exit);
JS
node main.cjs
