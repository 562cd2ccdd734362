#!/usr/bin/env bash
# graphql-scalars: one column of BigInt holds numbers and texts.
#
# One would expect: a custom scalar has one form in JSON, so that its first value tells how to read
# all: BigInt as text throughout (its warning at start says so), or as numbers throughout.
# What happens: each value decides for itself. What fits into a double is a number, what is larger
# is text. A reader who takes the type from the first rows finds another one later, and frames get a
# column of both. Long does the same.
# Versions: graphql-scalars 2.0.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql-scalars@2.0.0 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { graphql, GraphQLList, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { resolvers } from 'graphql-scalars';

const values = [1n, 9007199254740993n, 2n];
const fields = Object.fromEntries(
  ['BigInt', 'Long'].map((name) => [
    name,
    { type: new GraphQLList(resolvers[name]), resolve: () => values },
  ]),
);
const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
const answer = await graphql({ schema, source: '{ BigInt Long }' });
const text = JSON.stringify(answer.data);
console.log(text);
const expected = '[1,"9007199254740993",2]';
process.exit(text === `{"BigInt":${expected},"Long":${expected}}` ? 0 : 1);
JS
node main.mjs
