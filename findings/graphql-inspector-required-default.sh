#!/usr/bin/env bash
# graphql-inspector: an argument that loses its default and becomes required is no breaking change.
#
# One would expect: `first: Int! = 10` may be left out and `first: Int!` may not, so that removing
# the default breaks each query that left it out; adding such an argument is called breaking, after
# all.
# What happens: the change is "dangerous", as if 10 had become 20, for arguments and for fields of
# input types. A check that fails on breaking changes lets it pass, and valid queries are refused.
# Versions: @graphql-inspector/core 8.0.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @graphql-inspector/core@8.0.0 graphql@16.15.0 \
  >/dev/null
cat >main.mjs <<'JS'
import { buildSchema, parse, validate } from 'graphql';
import { diff } from '@graphql-inspector/core';

const before = buildSchema('type Query { rows(first: Int! = 10): [Int] }');
const after = buildSchema('type Query { rows(first: Int!): [Int] }');
const levels = (await diff(before, after)).map((change) => change.criticality.level);
const errors = [before, after].map((schema) => validate(schema, parse('{ rows }')).length);
console.log(levels, errors);
process.exit(levels.join() === 'DANGEROUS' && errors.join() === '0,1' ? 0 : 1);
JS
node main.mjs
