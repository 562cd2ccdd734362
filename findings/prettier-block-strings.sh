#!/usr/bin/env bash
# Prettier: spaces at the ends of lines are removed from the values of block strings.
#
# One would expect: formatting a query leaves the values of its arguments alone, as it does for
# block strings in JavaScript and for usual strings in GraphQL.
# What happens: two spaces at the end of a line, which are a line break in Markdown, are gone after
# formatting, and so are spaces before the closing quotes. A mutation that stores a comment stores
# another one after the file was formatted.
# Versions: prettier 3.10.1, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error prettier@3.10.1 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { parse } from 'graphql';
import { format } from 'prettier';

const read = (text) =>
  parse(text).definitions[0].selectionSet.selections[0].arguments[0].value.value;
const before = '{ add(note: """\n  first  \n  second\n""") }';
const after = await format(before, { parser: 'graphql' });
const values = [read(before), read(after)];
console.log(values);
process.exit(values.join('|') === 'first  \nsecond|first\nsecond' ? 0 : 1);
JS
node main.mjs
