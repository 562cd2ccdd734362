#!/usr/bin/env bash
# @refinedev/graphql: an `or` of two filters is sent as an `and`, and two on one field as the last.
#
# One would expect: refine's `{operator: 'or', value: [a, b]}` becomes `or: [a, b]` in the filter of
# nestjs-query, for which this data provider is made; rows from 3 to 6 are asked for with both bounds.
# What happens: the filters in an `or` are merged in one object, `or: [{n: ..., m: ...}]`, whose
# conditions all have to hold. Two on the same field are one: of `n = 1 or n = 2` only `n = 2` is
# left, of `n >= 3, n <= 6` only `n <= 6`, and of two `and`s only the second. There is no error.
# Versions: @refinedev/graphql 8.0.1, @urql/core 5.2.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps @refinedev/graphql@8.0.1 \
  @urql/core@5.2.0 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const createProvider = require('@refinedev/graphql').default;
const { gql } = require('@urql/core');

const sent = [];
const response = { data: { rows: { nodes: [], totalCount: 0 } } };
const query = (document, variables) => {
  sent.push(variables.filter);
  return { toPromise: async () => response };
};
const provider = createProvider({ query });
const gqlQuery = gql`
  query ($filter: RowFilter) { rows(filter: $filter) { nodes { id } totalCount } }
`;
const filter = (field, operator, value) => ({ field, operator, value });
const any = (...value) => ({ operator: 'or', value });
const all = (...value) => ({ operator: 'and', value });
const lists = [
  [any(filter('n', 'eq', 1), filter('m', 'eq', 2))],
  [any(filter('n', 'eq', 1), filter('n', 'eq', 2))],
  [filter('n', 'gte', 3), filter('n', 'lte', 6)],
  [all(filter('n', 'gte', 3)), all(filter('m', 'eq', 2))],
];
(async () => {
  for (const filters of lists) {
    await provider.getList({ resource: 'rows', filters, meta: { gqlQuery } });
  }
  console.log(JSON.stringify(sent));
  assert.deepStrictEqual(sent, [
    { or: [{ n: { eq: 1 }, m: { eq: 2 } }] },
    { or: [{ n: { eq: 2 } }] },
    { n: { lte: 6 } },
    { and: [{ m: { eq: 2 } }] },
  ]);
})();
JS
node main.cjs
