#!/usr/bin/env bash
# @refinedev/hasura: rows by their ids are other rows beside a variable, and "is null" may be no filter.
#
# Guessed before: `getMany` with ids returns the rows with these ids, also with a variable in
# `meta.variables`, which `getOne` adds to its own; the operator `null` finds the rows without a
# value, as `nnull` finds those with one; and rows are sorted by both of two sorters.
# What happens: in `getMany` the variables of `meta` replace the ids: with an order come all rows, in
# the place of the two that were named. `null` without a value is sent as an empty condition, which
# all rows fulfil, and `nnull` without one is right. Of two sorters by fields of the author the first
# is left out, so that the pages have other rows. No error or warning says so.
# Versions: @refinedev/hasura 7.0.1, graphql-request 5.2.0, graphql 15.10.1, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @refinedev/hasura@7.0.1 graphql-request@5.2.0 graphql@15.10.1 graphql-ws@5.16.2 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql } = require('graphql');
const { GraphQLClient } = require('graphql-request');
const buildProvider = require('@refinedev/hasura').default;

const schema = buildSchema(`
  type Author { country: String! name: String! }
  type book { id: Int! seller: String author: Author! }
  input Text { _is_null: Boolean } input Number { _in: [Int!] }
  input book_bool_exp { _and: [book_bool_exp!] id: Number seller: Text }
  input author_order_by { country: String name: String }
  input book_order_by { id: String author: author_order_by }
  type Count { count: Int! } type book_aggregate { aggregate: Count! }
  type Query {
    book(limit: Int, offset: Int, order_by: [book_order_by!], where: book_bool_exp): [book!]!
    book_aggregate(where: book_bool_exp): book_aggregate!
  }
`);
const books = [
  { id: 1, seller: null, author: { country: 'PT', name: 'Eça' } },
  { id: 2, seller: 'ann', author: { country: 'IT', name: 'Levi' } },
  { id: 3, seller: 'bob', author: { country: 'AR', name: 'Puig' } },
  { id: 4, seller: null, author: { country: 'PT', name: 'Ana' } },
];
const meets = (row, where) =>
  Object.entries(where).every(([name, test]) => {
    if (name === '_and') return test.every((inner) => meets(row, inner));
    if ('_in' in test) return test._in.includes(row[name]);
    return !('_is_null' in test) || (row[name] === null) === test._is_null;
  });
const flatten = (order) =>
  Object.entries(order).flatMap(([name, way]) =>
    typeof way === 'string' ? [[(row) => row[name], way]] : flatten(way).map(([get, inner]) => [(row) => get(row[name]), inner]),
  );
const compare = (orders) => (a, b) => {
  for (const [get, way] of orders) {
    if (get(a) !== get(b)) return get(a) < get(b) === (way === 'asc') ? -1 : 1;
  }
  return 0;
};
const select = ({ where = {}, order_by = [] }) =>
  books.filter((row) => meets(row, where)).sort(compare(order_by.flatMap(flatten)));
const rootValue = {
  book: ({ limit, offset = 0, ...given }) => select(given).slice(offset, limit && offset + limit),
  book_aggregate: (given) => ({ aggregate: { count: select(given).length } }),
};
const answer = async (_url, { body }) => {
  const { query: source, variables: variableValues } = JSON.parse(body);
  const found = await graphql({ schema, source, variableValues, rootValue });
  return new Response(JSON.stringify(found), { headers: { 'content-type': 'application/json' } });
};
(async () => {
  const provider = buildProvider(new GraphQLClient('http://127.0.0.1/graphql', { fetch: answer }));
  const found = [];
  const show = (text, { data }) => {
    found.push(data.map((row) => row.id).join(' '));
    console.log(`${text}: ${found.at(-1)}`);
  };
  const meta = { fields: ['id'] };
  const order_by = { type: '[book_order_by!]', value: { id: 'desc' } };
  const many = { resource: 'book', ids: [1, 3] };
  show('ids 1 and 3', await provider.getMany({ ...many, meta }));
  const ordered = { ...meta, variables: { order_by } };
  show('ids 1 and 3, in an order', await provider.getMany({ ...many, meta: ordered }));
  for (const operator of ['null', 'nnull']) {
    const filters = [{ field: 'seller', operator, value: undefined }];
    show(operator, await provider.getList({ resource: 'book', meta, filters }));
  }
  const sorters = [
    { field: 'author.country', order: 'asc' },
    { field: 'author.name', order: 'asc' },
  ];
  const pagination = { pageSize: 2 };
  show('by country, name', await provider.getList({ resource: 'book', meta, sorters, pagination }));
  const country = sorters.slice(0, 1);
  show('by country', await provider.getList({ resource: 'book', meta, sorters: country, pagination }));
  process.exit(found.join() === '1 3,4 3 2 1,1 2 3 4,2 3,4 1,3 2' ? 0 : 1);
})();
JS
node main.cjs
