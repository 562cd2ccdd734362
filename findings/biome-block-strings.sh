#!/usr/bin/env bash
# Biome: formatting a query changes the value of a block string.
#
# One would expect: a formatter of GraphQL moves block strings, whose common indentation does not
# count, and leaves their values alone.
# What happens: where the text begins on the line of the opening quotes, that line is moved to a
# line of its own and the others are indented by as much again as they were, so that the second line
# of the value begins with spaces it did not have. A mutation stores another text after the file was
# formatted. Prettier keeps the indentation.
# Versions: @biomejs/biome 2.6.8, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @biomejs/biome@2.6.8 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import { parse } from 'graphql';

const read = (text) =>
  parse(text).definitions[0].selectionSet.selections[0].arguments[0].value.value;
const before = '{ add(note: """first\n  second""") }';
const command = ['biome', 'format', '--stdin-file-path=query.graphql'];
const after = execFileSync('npx', command, { input: before }).toString();
console.log(after);
console.log([read(before), read(after)]);
process.exit(read(before) === 'first\nsecond' && read(after) === 'first\n  second' ? 0 : 1);
JS
node main.mjs
