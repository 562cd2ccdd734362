#!/usr/bin/env bash
# graphql-connections: from the second page on, a filter with a letter outside ASCII is another one.
#
# One would expect: the query for the page behind a cursor has the filter of the first page, which
# the cursor holds; to give it again beside the cursor is an error.
# What happens: cursors are written as UTF-8 and read as ASCII, so that "Zoë" is searched as "ZoC+".
# No row has that value: the second page is empty and says that it is the last, though the first one
# said that more rows follow. Texts of ASCII alone are right.
# Versions: graphql-connections 7.0.3, knex 2.5.1 (only its texts of SQL, without a database),
# graphql 14.7.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  graphql-connections@7.0.3 knex@2.5.1 graphql@14.7.0 >/dev/null
cat >main.cjs <<'JS'
const knexLibrary = require('knex');
const { ConnectionManager } = require('graphql-connections');

const knex = knexLibrary({ client: 'pg' });
const buildPage = (args, rows) => {
  const manager = new ConnectionManager(args, { id: 'id', name: 'name' });
  const { sql, bindings } = manager.createQuery(knex('people').select()).toSQL().toNative();
  manager.addResult(rows);
  const { endCursor, hasNextPage } = manager.pageInfo;
  return { sql, name: bindings[0], endCursor, hasNextPage };
};
const rows = [{ id: 1 }, { id: 2 }, { id: 3 }];
const searched = (value) => {
  const first = buildPage({ first: 2, filter: { field: 'name', operator: '=', value } }, rows);
  const second = buildPage({ first: 2, after: first.endCursor }, []);
  console.log(`page 1: name = ${first.name}, hasNextPage ${first.hasNextPage}`);
  console.log(`page 2: name = ${second.name}, hasNextPage ${second.hasNextPage}`);
  return [first.name, second.name, first.hasNextPage, second.hasNextPage].join(' ');
};
const found = [searched('Zoe'), searched('Zoë')];
process.exit(found.join() === 'Zoe Zoe true false,Zoë ZoC+ true false' ? 0 : 1);
JS
node main.cjs
