#!/usr/bin/env bash
# Nexus: each page that is read backwards lacks its last row.
#
# One would expect: for `last: 20` a resolver gives the last 21 rows, as the connection plugin asks
# of it, so that it sees whether more precede; the page has the last 20 of them.
# What happens: the page has the first 20 of the 21. The row that only tells of a previous page is
# shown, and the last one is not: `last: 20` of 137 rows ends with row 136. As the next page lies
# before the first cursor, backward pages skip one row each, 6 of 137, and nothing says so. Where
# as many rows as asked for are left, `hasPreviousPage` is true before the first row, and the last
# page is empty. Forward pages are right.
# Versions: nexus 1.3.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error nexus@1.3.0 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { graphql } = require('graphql');
const { connectionPlugin, makeSchema, objectType, queryType } = require('nexus');

const rows = Array.from({ length: 137 }, (_, index) => ({ id: index + 1 }));
const Row = objectType({ name: 'Row', definition: (t) => t.int('id') });
const Query = queryType({
  definition(t) {
    t.connectionField('rows', {
      type: Row,
      cursorFromNode: ({ id }) => String(id),
      nodes(_, { first, after, last, before }) {
        const kept = rows.filter(({ id }) => !(id <= after) && !(id >= (before ?? 1000)));
        return first ? kept.slice(0, first + 1) : kept.slice(-last - 1);
      },
    });
  },
});
const schema = makeSchema({ types: [Row, Query], plugins: [connectionPlugin()], outputs: false });

const readPage = async (given) => {
  const source = `{ rows(${given}) {
    pageInfo { hasPreviousPage hasNextPage startCursor endCursor } edges { node { id } }
  } }`;
  const { data, errors } = await graphql({ schema, source });
  if (errors) throw errors[0];
  return data.rows;
};
const readAll = async (size, place, hasMore, cursor) => {
  const ids = [];
  let page = await readPage(size);
  ids.push(...page.edges.map(({ node }) => node.id));
  while (page.pageInfo[hasMore]) {
    page = await readPage(`${size}, ${place}: "${page.pageInfo[cursor]}"`);
    ids.push(...page.edges.map(({ node }) => node.id));
  }
  const missing = rows.map(({ id }) => id).filter((id) => !ids.includes(id));
  return `${ids.length} rows, missing: ${missing.join() || 'none'}`;
};
(async () => {
  console.log(`forwards: ${await readAll('first: 20', 'after', 'hasNextPage', 'endCursor')}`);
  const backwards = await readAll('last: 20', 'before', 'hasPreviousPage', 'startCursor');
  console.log(`backwards: ${backwards}`);
})();
JS
found=$(node main.cjs 2>/dev/null)
echo "$found"
[ "$found" = "forwards: 137 rows, missing: none
backwards: 131 rows, missing: 32,53,74,95,116,137" ]
