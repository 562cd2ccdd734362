#!/usr/bin/env bash
# graphql-deduplicator: what a repeated object holds lacks its fields after the round trip.
#
# Guessed before: `inflate(deflate(answer))` is the answer, since that is how a server and a client
# of this library talk to each other.
# What happens: of three books by two authors of the same country, the third has the author of the
# second, and this author's country has its id and type alone: the name is missing, without an error.
# The copy that is kept of an object is the deflated one. It was repaired in the repository (26) in
# 2021; the last version on npm, of 2020, does not have that (27).
# Versions: graphql-deduplicator 2.0.6, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql-deduplicator@2.0.6 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const { deflate, inflate } = require('graphql-deduplicator');

const country = { __typename: 'Country', id: '1', name: 'Chad' };
const ann = { __typename: 'Author', id: '1', country };
const bob = { __typename: 'Author', id: '2', country };
const books = [ann, bob, bob].map((author, i) => ({ __typename: 'Book', id: `${i}`, author }));
const answer = inflate(JSON.parse(JSON.stringify(deflate({ books }))));
const names = answer.books.map((book) => book.author.country.name);
console.log(JSON.stringify(answer.books[2]), names);
assert.deepStrictEqual(names, ['Chad', 'Chad', undefined]);
JS
node main.cjs
