#!/usr/bin/env bash
# nodejs-polars: lists of objects become lists of nulls, and the nodes of a connection are null.
#
# Guessed before: a DataFrame of the rows of a GraphQL answer has structs for the objects in a list,
# as it has them for an object, and a column that begins with nulls has the values that follow.
# What happens: of a list of objects come as many nulls as it has objects, in a column for lists of
# texts, and `labels { nodes { name } }` is a struct whose `nodes` are null. A column of which the
# first 100 rows are null is null to its end: 30 closing dates of 130 are gone, which are all there if
# the rows come in the reverse order. No error or warning says so.
# Versions: nodejs-polars 0.26.1, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  nodejs-polars@0.26.1 nodejs-polars-linux-x64-gnu@0.26.1 graphql@16.11.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const { DataFrame } = require('nodejs-polars');

const schema = buildSchema(`
  type Query { issues: [Issue!]! }
  type Issue {
    number: Int! closedAt: String author: Author! reviewers: [Author!]! labels: Labels!
  }
  type Author { login: String! } type Labels { nodes: [Label!]! } type Label { name: String! }`);
const issues = Array.from({ length: 130 }, (_, index) => ({
  number: index + 1,
  closedAt: index < 100 ? null : '2026-01-02',
  author: { login: 'ada' },
  reviewers: [{ login: 'bob' }, { login: 'cyn' }],
  labels: { nodes: [{ name: 'bug' }] },
}));
const source =
  '{ issues { number closedAt author { login } reviewers { login } labels { nodes { name } } } }';
// As a client reads it from the body of a response.
const { data } = JSON.parse(JSON.stringify(graphqlSync({ schema, source, rootValue: { issues } })));
const read = (rows) => {
  const frame = DataFrame(rows);
  const closed = frame.height - frame.getColumn('closedAt').nullCount();
  const last = JSON.stringify(frame.toRecords().at(-1));
  console.log(`${frame.height} rows, ${closed} closed; the last: ${last}`);
  return [closed, last].join();
};
const other = '"author":{"login":"ada"},"reviewers":[null,null],"labels":{"nodes":null}}';
const agrees =
  read(data.issues) === `0,{"number":130,"closedAt":null,${other}` &&
  read(data.issues.reverse()) === `30,{"number":1,"closedAt":null,${other}`;
process.exit(agrees ? 0 : 1);
JS
node main.cjs
