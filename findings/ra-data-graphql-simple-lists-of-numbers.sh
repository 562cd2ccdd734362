#!/usr/bin/env bash
# ra-data-graphql-simple: of several numbers in a filter only the first one is sent.
#
# One would expect: the filter `rank: [1, 2]`, as react-admin's inputs for several choices give it,
# brings the rows with one of the two ranks, as `name: ["n1", "n2"]` brings those with one of two names.
# What happens: for a field of type Int the list is read by `parseInt`, which takes what stands before
# the comma: rows of rank 1 come, with a total of theirs, and those of rank 2 are missing without an
# error. It is the same for a Float. A list of texts is sent as it is.
# Versions: ra-data-graphql-simple 5.15.0, ra-data-graphql 5.15.3, ra-core 5.15.4,
# @apollo/client 3.14.1, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  ra-data-graphql-simple@5.15.0 ra-data-graphql@5.15.3 ra-core@5.15.4 @apollo/client@3.14.1 \
  graphql@16.15.0 react@18.3.1 react-dom@18.3.1 react-router@6.30.1 react-router-dom@6.30.1 \
  react-hook-form@7.62.0 @tanstack/react-query@5.85.5 >/dev/null
cat >main.cjs <<'JS'
const { ApolloClient, ApolloLink, InMemoryCache, Observable } = require('@apollo/client/core');
const { buildSchema, graphql, print } = require('graphql');
const buildDataProvider = require('ra-data-graphql-simple').default;

const schema = buildSchema(`
  type Row { id: ID! rank: Int score: Float name: String }
  type ListMetadata { count: Int! }
  input RowFilter { rank: [Int!] score: [Float!] name: [String!] }
  type Query {
    Row(id: ID!): Row
    allRows(
      page: Int perPage: Int sortField: String sortOrder: String filter: RowFilter
    ): [Row!]!
    _allRowsMeta(page: Int, perPage: Int, filter: RowFilter): ListMetadata
  }
`);
const all = Array.from({ length: 12 }, (_, number) => ({
  id: String(number),
  rank: number % 4,
  score: number % 4,
  name: `n${number % 4}`,
}));
const select = ({ filter = {} }) =>
  all.filter((row) => Object.entries(filter).every(([name, values]) => values.includes(row[name])));
const rootValue = {
  allRows: select,
  _allRowsMeta: (given) => ({ count: select(given).length }),
};
const link = new ApolloLink(
  ({ query, variables }) =>
    new Observable((observer) => {
      const request = { schema, rootValue, source: print(query), variableValues: variables };
      graphql(request).then((answer) => {
        observer.next(answer);
        observer.complete();
      });
    }),
);
(async () => {
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const provider = await buildDataProvider({ client });
  const found = [];
  for (const filter of [{ name: ['n1', 'n2'] }, { rank: [1, 2] }, { score: [1, 2] }]) {
    const { data, total } = await provider.getList('Row', {
      filter,
      pagination: { page: 1, perPage: 50 },
      sort: { field: 'id', order: 'ASC' },
    });
    found.push(`${data.length} of ${total}`);
    console.log(JSON.stringify(filter), `brings ${found.at(-1)} rows`);
  }
  process.exit(found.join() === '6 of 6,3 of 3,3 of 3' ? 0 : 1);
})();
JS
node main.cjs
