#!/usr/bin/env bash
# Apache Arrow for JavaScript: what is empty or null in the first row of an answer is lost in all rows.
#
# Guessed before: `tableFromJSON` of the rows of a GraphQL answer is a table with the same values.
# What happens: the types of lists and objects are those of the first row. If its list is empty, all
# items of later lists are null; if a field of its object is null, the table has no such field, and
# the logins of all later owners are gone. A text that a row lacks, as rows of a union lack the fields
# of other types, is an empty text, and no null is counted; a number is null there. No error comes.
# Versions: apache-arrow 21.2.0, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  apache-arrow@21.2.0 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { tableFromJSON } = require('apache-arrow');
const { buildSchema, graphqlSync } = require('graphql');

const schema = buildSchema(`
  type Query { rows: [Row!]! }
  union Row = Issue | Release
  type Issue { number: Int! labels: [String!]! author: Author! title: String! }
  type Release { number: Int! labels: [String!]! author: Author! tag: String! size: Int! }
  type Author { login: String id: Int! }`);
const rows = [
  { __typename: 'Issue', number: 1, labels: [], author: { login: null, id: 7 }, title: 'Crash' },
  { __typename: 'Issue', number: 2, labels: ['bug'], author: { login: 'ada', id: 8 }, title: 'Slow' },
  {
    __typename: 'Release',
    ...{ number: 3, labels: ['new', 'api'], author: { login: 'bob', id: 9 }, tag: 'v1', size: 5 },
  },
];
const source = `{ rows {
  ... on Issue { number labels author { login id } title }
  ... on Release { number labels author { login id } tag size }
} }`;
const { data } = graphqlSync({ schema, source, rootValue: { rows } });
const table = tableFromJSON(data.rows);
const found = JSON.stringify(table.toArray());
console.log(table.schema.fields.join(', '));
console.log(found);
const expected = [
  { number: 1, labels: [], author: { id: 7 }, title: 'Crash', tag: '', size: null },
  { number: 2, labels: [null], author: { id: 8 }, title: 'Slow', tag: '', size: null },
  { number: 3, labels: [null, null], author: { id: 9 }, title: '', tag: 'v1', size: 5 },
];
const agrees = found === JSON.stringify(expected) && table.getChild('title').nullCount === 0;
process.exit(agrees ? 0 : 1);
JS
node main.cjs
