#!/usr/bin/env bash
# @0no-co/graphql.web: the first line of a block string is lost if the lines below are indented.
#
# One would expect: the small parser of urql gives the values that graphql-js gives, also for block
# strings, whose common indentation is taken away and whose first line is kept as it is.
# What happens: text on the line of the opening quotes vanishes where the other lines are indented,
# as editors indent them. No error: the server gets the rest. Without indentation, or with the text
# beginning on a line of its own, the value is right.
# Versions: @0no-co/graphql.web 1.3.4, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @0no-co/graphql.web@1.3.4 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { parse as parseByGraphqlJs } from 'graphql';
import { parse as parseByGraphqlWeb } from '@0no-co/graphql.web';

const read = (parse, text) =>
  parse(`{ add(note: """${text}""") }`).definitions[0].selectionSet.selections[0].arguments[0].value
    .value;
const texts = ['first\n  second', 'first\nsecond', '\n  first\n  second'];
const found = texts.map((text) => [read(parseByGraphqlJs, text), read(parseByGraphqlWeb, text)]);
console.log(found);
const both = ['first\nsecond', 'first\nsecond'];
const expected = [['first\nsecond', 'second'], both, both];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node main.mjs
