#!/usr/bin/env bash
# @linear/sdk: from a page in the middle no page before it comes, and the page says that there is none.
#
# Guessed before: `fetchPrevious()` on a page that was requested by `first` and `after` brings the rows
# before it, and `fetchNext()` on one by `last` and `before` those that follow, as each is offered for
# every connection, and moves through the list from a page requested by `first` or `last` alone.
# What happens: the new cursor is sent beside the old one. `after` the fourth row and `before` the
# fifth there is no row, so that none comes, and `hasPreviousPage` becomes false with four rows before
# the page. Forwards it is the same, and the end cursor is then that of the first row, so that a
# program which goes on with it reads rows again. The server is graphql-relay's, on nine rows.
# Versions: @linear/sdk 98.0.0, graphql-relay 0.10.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @linear/sdk@98.0.0 graphql-relay@0.10.2 graphql@16.11.0 >/dev/null
cat >main.mjs <<'JS'
import { createServer } from 'node:http';
import { LinearClient } from '@linear/sdk';
import { buildSchema, graphql } from 'graphql';
import { connectionFromArray, cursorToOffset } from 'graphql-relay';

const schema = buildSchema(`
  scalar DateTime
  type Query {
    emojis(
      after: String, before: String, filter: EmojiFilter, first: Int, includeArchived: Boolean
      last: Int, orderBy: PaginationOrderBy, sort: [EmojiSortInput!]
    ): EmojiConnection!
  }
  type EmojiConnection { nodes: [Emoji!]! pageInfo: PageInfo! }
  type PageInfo {
    startCursor: String endCursor: String hasPreviousPage: Boolean! hasNextPage: Boolean!
  }
  type Emoji {
    id: ID! name: String! url: String! source: String!
    createdAt: DateTime! updatedAt: DateTime! archivedAt: DateTime creator: User
  }
  type User { id: ID! } input EmojiFilter { name: String } input EmojiSortInput { name: String }
  enum PaginationOrderBy { createdAt updatedAt }`);
const time = '2026-01-02T03:04:05.000Z';
const rows = Array.from({ length: 9 }, (_, index) => {
  return { id: String(index + 1), name: 'n', url: 'u', source: 's', createdAt: time, updatedAt: time };
});
const emojis = (given) => {
  const { edges, pageInfo } = connectionFromArray(rows, given);
  // The specification lets a server say so of rows before `after`, where `last` is not given.
  if (given.last == null && given.after) pageInfo.hasPreviousPage = true;
  if (given.first == null && given.before) pageInfo.hasNextPage = true;
  return { nodes: edges.map((edge) => edge.node), pageInfo };
};
let sent;
const server = createServer(async (request, response) => {
  const { query: source, variables: variableValues } = await new Response(request).json();
  sent = variableValues;
  const answer = await graphql({ schema, source, variableValues, rootValue: { emojis } });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', async () => {
  const apiUrl = `http://127.0.0.1:${server.address().port}/graphql`;
  const client = new LinearClient({ apiKey: 'none', apiUrl });
  const found = [];
  const show = ({ nodes, pageInfo }) => {
    const { hasPreviousPage, hasNextPage, endCursor } = pageInfo;
    const ids = nodes.map((row) => row.id).join(' ');
    found.push(`${ids} ${hasPreviousPage} ${hasNextPage} ${cursorToOffset(endCursor) + 1}`);
    console.log(JSON.stringify(sent), found.at(-1));
  };
  console.log('variables, rows, hasPreviousPage, hasNextPage, row of the end cursor');
  const fourth = emojis({ first: 4 }).pageInfo.endCursor;
  const sixth = emojis({ first: 6 }).pageInfo.endCursor;
  show(await client.emojis({ first: 2 }));
  show(await (await client.emojis({ first: 2 })).fetchNext());
  const middle = await client.emojis({ first: 2, after: fourth });
  show(middle);
  show(await middle.fetchPrevious());
  const backwards = await client.emojis({ last: 2, before: sixth });
  show(backwards);
  show(await backwards.fetchNext());
  server.close();
  const expected = [
    ...['1 2 false true 2', '1 2 3 4 false true 4', '5 6 true true 6', '5 6 false true 6'],
    ...['4 5 true true 5', '4 5 true false 4'],
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
});
JS
node main.mjs
