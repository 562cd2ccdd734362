#!/usr/bin/env bash
# nestjs-graphql-connection: with cursors, the last page says that another one follows.
#
# One would expect: of 30 rows in pages of 20 the second page has `hasNextPage: false`. The resolver
# is that of its README: `totalEdges` is the number of all rows, "without pagination".
# What happens: `hasNextPage` is true if that number is larger than the rows of the page, so that it
# is true on each page of a list that does not fit one, also on the empty page behind the last row,
# which has no `endCursor`. Without `totalEdges` it is false on each page. The builder for offsets
# counts the rows before the page, and is right.
# Versions: nestjs-graphql-connection 1.1.1, @nestjs/graphql 13.2.0, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  nestjs-graphql-connection@1.1.1 @nestjs/graphql@13.2.0 @nestjs/common@11.1.6 \
  @nestjs/core@11.1.6 graphql@16.11.0 class-transformer@0.5.1 class-validator@0.14.2 \
  reflect-metadata@0.2.2 rxjs@7.8.2 joi@17.13.3 >/dev/null
cat >main.cjs <<'JS'
require('reflect-metadata');
const {
  ConnectionBuilder, Cursor, OffsetPaginatedConnectionBuilder,
} = require('nestjs-graphql-connection');

const rows = Array.from({ length: 30 }, (_, index) => ({ id: `${index + 1}` }));

class CursorBuilder extends ConnectionBuilder {
  createConnection(fields) { return fields; }
  createEdge(fields) { return fields; }
  createCursor(node) { return new Cursor({ id: node.id }); }
}
class OffsetBuilder extends OffsetPaginatedConnectionBuilder {
  createConnection(fields) { return fields; }
  createEdge(fields) { return fields; }
}
const resolveRows = (Builder, args, totalEdges) => {
  const builder = new Builder(args);
  const last = builder.afterCursor?.parameters.id;
  const start = builder.startOffset ?? rows.findIndex(({ id }) => id === last) + 1;
  const nodes = rows.slice(start, start + builder.edgesPerPage);
  return builder.build({ nodes, totalEdges });
};
const readPages = (Builder, totalEdges, most) => {
  const found = [];
  let after;
  while (found.length < most) {
    const { edges, pageInfo } = resolveRows(Builder, { after }, totalEdges);
    found.push(`${edges.length} ${pageInfo.hasNextPage}`);
    after = pageInfo.endCursor;
  }
  return found.join(', ');
};
const found = [
  readPages(CursorBuilder, rows.length, 2),
  readPages(CursorBuilder, undefined, 2),
  readPages(OffsetBuilder, rows.length, 2),
];
console.log(`rows and hasNextPage of two pages\ncursors: ${found[0]}\n` +
  `cursors without totalEdges: ${found[1]}\noffsets: ${found[2]}`);
const expected = ['20 true, 10 true', '20 false, 10 false', '20 true, 10 false'];
process.exit(found.join() === expected.join() ? 0 : 1);
JS
node main.cjs
