#!/usr/bin/env bash
# @refinedev/strapi-graphql: filters joined by `and` are sent as `_or`, and of two groups only the last.
#
# Guessed before: `{operator: 'and', value: [a, b]}` asks for the rows that fulfil both, as `a` and `b`
# side by side do; of two `or`s both have to hold.
# What happens: `and` is written as `_or`, so that `n >= 3` and `n <= 6` give all ten rows instead of
# four, with `total: 10` beside them. A second group takes the place of the first: of `n = 1 or 2` and
# `n >= 2` or `n <= 0` the first is left out, and nine rows come instead of one. No error says so.
# Versions: @refinedev/strapi-graphql 6.0.5, graphql-request 5.2.0, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @refinedev/strapi-graphql@6.0.5 graphql-request@5.2.0 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql } = require('graphql');
const createProvider = require('@refinedev/strapi-graphql').default;

const schema = buildSchema(`
  scalar JSON
  type Row { id: ID! n: Int }
  type Aggregate { count: Int }
  type Connection { aggregate: Aggregate }
  type Query {
    rows(where: JSON, sort: String, start: Int, limit: Int): [Row]
    rowsConnection(where: JSON): Connection
  }
`);
// The filters of Strapi 3: each key is a field with the suffix of a comparison, `_or` is a list.
const compare = {
  eq: (a, b) => a === b,
  gte: (a, b) => a >= b,
  lte: (a, b) => a <= b,
};
const matches = (row, where) => Object.entries(where).every(([key, value]) => {
  if (key === '_or') return value.some((part) => matches(row, part));
  const [field, operator = 'eq'] = key.split('_');
  return compare[operator](row[field], value);
});
const all = Array.from({ length: 10 }, (_, index) => ({ id: String(index), n: index + 1 }));
const select = (where) => all.filter((row) => matches(row, where ?? {}));
const rootValue = {
  rows: ({ where, start, limit }) => select(where).slice(start, start + limit),
  rowsConnection: ({ where }) => ({ aggregate: { count: select(where).length } }),
};
const client = {
  request: async (source, variableValues) => {
    const { data, errors } = await graphql({ schema, source, variableValues, rootValue });
    if (errors) throw errors[0];
    return data;
  },
};
const provider = createProvider(client);
const filter = (operator, value) => ({ field: 'n', operator, value });
const cases = {
  side: [filter('gte', 3), filter('lte', 6)],
  and: [{ operator: 'and', value: [filter('gte', 3), filter('lte', 6)] }],
  two: [
    { operator: 'or', value: [filter('eq', 1), filter('eq', 2)] },
    { operator: 'or', value: [filter('gte', 2), filter('lte', 0)] },
  ],
};
const main = async () => {
  const found = [];
  for (const [name, filters] of Object.entries(cases)) {
    const options = { resource: 'rows', filters, meta: { fields: ['id', 'n'] } };
    const { data, total } = await provider.getList(options);
    found.push(`${name}: ${data.map((row) => row.n)} of ${total}`);
  }
  console.log(found.join('\n'));
  const expected = [
    'side: 3,4,5,6 of 4',
    'and: 1,2,3,4,5,6,7,8,9,10 of 10',
    'two: 2,3,4,5,6,7,8,9,10 of 9',
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
};
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
JS
node main.cjs
