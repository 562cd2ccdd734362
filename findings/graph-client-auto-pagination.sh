#!/usr/bin/env bash
# @graphprotocol/client-auto-pagination: of 12,000 rows two come twice, and the last two are missing.
#
# One would expect: the client of The Graph, asked for `first: 12000` of 12,000 rows, sends requests of
# at most 1,000 rows, as the service allows, and joins them to the 12,000 rows, each of them once.
# What happens: 12,000 rows come, of which 11,998 are different. After every 5,000 rows it begins again
# by `where: {id_gte: ...}`, the default of its option, with the id of the last row, which that filter
# includes. In another order the filter leaves out the rows with smaller ids: ordered by a number,
# 7,537 of the 12,000 rows come, many of them twice. There is no error. Up to 5,000 rows all is well.
# Versions: @graphprotocol/client-auto-pagination 2.0.7, @graphql-tools/wrap 10.1.4,
# @graphql-tools/schema 10.0.25, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @graphprotocol/client-auto-pagination@2.0.7 @graphql-tools/wrap@10.1.4 \
  @graphql-tools/delegate@10.2.9 @graphql-tools/utils@10.9.1 @graphql-tools/schema@10.0.25 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { default: AutoPagination } = require('@graphprotocol/client-auto-pagination');
const { makeExecutableSchema } = require('@graphql-tools/schema');
const { wrapSchema } = require('@graphql-tools/wrap');
const { graphql } = require('graphql');

const typeDefs = `
  input Where { id_gte: ID }
  enum Order { id rank }
  type Row { id: ID! rank: Int! }
  type Query { rows(first: Int = 100, skip: Int = 0, where: Where, orderBy: Order = id): [Row!]! }
`;
const all = Array.from({ length: 12000 }, (_, number) => ({
  id: String(number).padStart(5, '0'),
  rank: (number * 7919) % 12000,
}));
const resolvers = {
  Query: {
    rows: (_, { first, skip, where, orderBy }) => {
      if (first > 1000 || skip > 5000) throw new Error(`refused: ${first} ${skip}`);
      const rows = all.filter((row) => row.id >= (where?.id_gte ?? ''));
      rows.sort((a, b) => (orderBy === 'id' ? a.id.localeCompare(b.id) : a.rank - b.rank));
      return rows.slice(skip, skip + first);
    },
  },
};
const schema = wrapSchema({
  schema: makeExecutableSchema({ typeDefs, resolvers }),
  transforms: [new AutoPagination({ config: {} })],
});
const ask = async (given) => {
  const answer = await graphql({ schema, source: `{ rows(${given}) { id } }` });
  if (answer.errors) return String(answer.errors[0]);
  const ids = answer.data.rows.map((row) => row.id);
  const line = `${ids.length} ${new Set(ids).size}`;
  console.log(`rows(${given}): rows and different rows: ${line}; last id: ${ids.at(-1)}`);
  return line;
};
(async () => {
  const found = [];
  for (const given of ['first: 5000', 'first: 12000', 'first: 12000, orderBy: rank']) {
    found.push(await ask(given));
  }
  process.exit(found.join() === '5000 5000,12000 11998,11296 7537' ? 0 : 1);
})();
JS
node main.cjs
