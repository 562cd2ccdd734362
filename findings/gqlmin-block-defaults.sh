#!/usr/bin/env bash
# gqlmin: a default value that is a block string is removed with the descriptions.
#
# One would expect: minifying a schema takes away descriptions, comments and spaces, and leaves
# default values; a block string that is a value is told from a description by its place.
# What happens: the text between three quotes goes wherever it stands in a definition, and the `=`
# before it stays: the schema is no GraphQL any more. In a query the block string is kept.
# Versions: gqlmin 0.3.2, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error gqlmin@0.3.2 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { parse } from 'graphql';
import gqlmin from 'gqlmin';

const minify = gqlmin.gqlmin ?? gqlmin.default ?? gqlmin;
const isValid = (text) => {
  try {
    return Boolean(parse(text));
  } catch {
    return false;
  }
};
const schema = 'input Note { text: String = """none""" rank: Int = 1 }';
const query = '{ add(note: """none""") }';
const found = [schema, query].map((text) => [isValid(text), isValid(minify(text)), minify(text)]);
console.log(found);
const flags = found.map(([before, after]) => `${before} ${after}`).join();
process.exit(flags === 'true false,true true' ? 0 : 1);
JS
node main.mjs
