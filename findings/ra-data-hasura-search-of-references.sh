#!/usr/bin/env bash
# ra-data-hasura: a search over several columns is ignored in lists of references, and two are one.
#
# Guessed before: the filter `title,body: "war"` of its manual, "one of the columns has the text",
# selects rows of a list and of the references to a record alike; with a second filter over other
# columns both have to hold, as filters of one column have to.
# What happens: `getManyReference`, which shows the books of one author, sends the author alone: all of
# the author's books come, with their number as the total, as if each had the text. In `getList` the
# columns of two such filters are joined into one `_or`: rows come that fulfil only one of them, and
# a column that stands in both is compared with the second text alone.
# Versions: ra-data-hasura 0.6.1, ra-data-graphql 4.16.19, ra-core 4.16.20, @apollo/client 3.13.8,
# graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  ra-data-hasura@0.6.1 ra-data-graphql@4.16.19 ra-core@4.16.20 @apollo/client@3.13.8 \
  graphql@16.11.0 react@18.3.1 react-dom@18.3.1 react-router@6.30.1 react-router-dom@6.30.1 \
  react-hook-form@7.62.0 react-query@3.39.3 history@5.3.0 >/dev/null
cat >main.cjs <<'JS'
const { ApolloClient, ApolloLink, InMemoryCache, Observable } = require('@apollo/client/core');
const { buildSchema, graphql, print } = require('graphql');
const buildHasuraProvider = require('ra-data-hasura').default;

const schema = buildSchema(`
  type book { id: Int! author_id: Int! title: String! body: String! }
  input Text { _ilike: String } input Number { _eq: Int }
  input book_bool_exp {
    _and: [book_bool_exp!] _or: [book_bool_exp!]
    author_id: Number title: Text body: Text
  }
  input book_order_by { id: String }
  type Count { count: Int! } type book_aggregate { aggregate: Count! }
  type Query {
    book(limit: Int, offset: Int, order_by: [book_order_by!], where: book_bool_exp): [book!]!
    book_aggregate(
      limit: Int, offset: Int, order_by: [book_order_by!], where: book_bool_exp
    ): book_aggregate!
    book_by_pk(id: Int!): book
  }
  type Mutation { delete_book_by_pk(id: Int!): book }
`);
const books = [
  { id: 1, author_id: 1, title: 'War', body: 'long' },
  { id: 2, author_id: 1, title: 'Peace', body: 'long' },
  { id: 3, author_id: 1, title: 'Sea', body: 'short, of war' },
  { id: 4, author_id: 2, title: 'War', body: 'short' },
];
const meets = (row, where) =>
  Object.entries(where).every(([name, test]) => {
    if (name === '_and') return test.every((inner) => meets(row, inner));
    if (name === '_or') return test.some((inner) => meets(row, inner));
    if ('_eq' in test) return row[name] === test._eq;
    return row[name].toLowerCase().includes(test._ilike.replaceAll('%', '').toLowerCase());
  });
const select = ({ where = {} }) => books.filter((row) => meets(row, where));
const rootValue = {
  book: select,
  book_aggregate: (given) => ({ aggregate: { count: select(given).length } }),
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
  const provider = await buildHasuraProvider({ client });
  const paged = { pagination: { page: 1, perPage: 10 }, sort: { field: 'id', order: 'ASC' } };
  const found = [];
  const show = (text, { data, total }) => {
    found.push(data.map((row) => row.id).join(' '), total);
    console.log(`${text}: books ${found.at(-2)}, total ${total}`);
  };
  const search = { 'title,body': 'war' };
  show('list', await provider.getList('book', { ...paged, filter: search }));
  const byAuthor = { ...paged, target: 'author_id', id: 1, filter: search };
  show('of author 1', await provider.getManyReference('book', byAuthor));
  const one = { ...paged, target: 'author_id', id: 1, filter: { title: 'war' } };
  show('of author 1, one column', await provider.getManyReference('book', one));
  const both = { 'title@_ilike,body@_ilike': 'war', 'body@_ilike,title@_ilike': 'long' };
  show('list, two searches', await provider.getList('book', { ...paged, filter: both }));
  process.exit(found.join() === '1 3 4,3,1 2 3,3,1,1,1 2,2' ? 0 : 1);
})();
JS
node main.cjs
