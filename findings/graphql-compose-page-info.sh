#!/usr/bin/env bash
# graphql-compose-pagination: asked for nothing else, `hasNextPage` is false on every page.
#
# One would expect: of 137 rows in pages of 20 the first page has `hasNextPage: true`, whatever is
# selected beside it.
# What happens: where `pageInfo` is the only field, no row is read, so that none is known to follow:
# `{ rows { pageInfo { hasNextPage } } }` is false. With `pageCount` in `pageInfo`, or with `items`
# or `count` beside it, it is true.
# Versions: graphql-compose-pagination 8.3.0, graphql-compose 9.2.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  graphql-compose-pagination@8.3.0 graphql-compose@9.2.2 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { graphql } = require('graphql');
const { SchemaComposer } = require('graphql-compose');
const { preparePaginationResolver } = require('graphql-compose-pagination');

const data = Array.from({ length: 137 }, (_, index) => ({ id: index + 1 }));
const composer = new SchemaComposer();
const Row = composer.createObjectTC({ name: 'Row', fields: { id: 'Int!' } });
const findManyResolver = composer.createResolver({
  name: 'findMany',
  type: [Row],
  args: { skip: 'Int', limit: 'Int' },
  resolve: ({ args: { skip = 0, limit } }) => data.slice(skip, skip + limit),
});
const countResolver = composer.createResolver({
  name: 'count',
  type: 'Int',
  resolve: () => data.length,
});
const rows = preparePaginationResolver(Row, { findManyResolver, countResolver });
composer.Query.addFields({ rows });
const schema = composer.buildSchema();
const main = async () => {
  const found = [];
  for (const more of ['', 'items { id } ', 'count ']) {
    for (const inner of ['hasNextPage', 'hasNextPage pageCount']) {
      const source = `{ rows { ${more}pageInfo { ${inner} } } }`;
      const { rows: page } = (await graphql({ schema, source })).data;
      found.push(page.pageInfo.hasNextPage);
      console.log(`${source}: ${page.pageInfo.hasNextPage}`);
    }
  }
  process.exit(found.join() === 'false,true,true,true,true,true' ? 0 : 1);
};
main();
JS
node main.cjs
