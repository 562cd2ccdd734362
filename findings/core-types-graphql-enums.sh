#!/usr/bin/env bash
# core-types-graphql: an enum comes back as a union of String, and a list with nulls not at all.
#
# Guessed before: a schema that is converted to core types and back has the same fields and types,
# as both converters are of one package.
# What happens: `enum Colour { RED BLUE }` becomes `union Colour = String`, which no schema may
# have. A field `[Int]`, whose elements may be null, is missing (a warning says "Type 'or' not
# supported"); `[Int!]` is kept. An interface is gone from the types that implement it.
# Versions: core-types-graphql 3.0.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps core-types-graphql@3.0.0 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildASTSchema, parse, validateSchema } = require('graphql');
const { convertCoreTypesToGraphql, convertGraphqlToCoreTypes } = require('core-types-graphql');

const text = `
  enum Colour { RED BLUE }
  type Row { id: ID! colour: Colour sizes: [Int!] counts: [Int] }
`;
const { data } = convertCoreTypesToGraphql(convertGraphqlToCoreTypes(text).data);
console.log(data);
const definitions = parse(data).definitions;
const union = definitions.find((definition) => definition.name.value === 'Colour');
const fields = definitions.find((definition) => definition.name.value === 'Row').fields;
const found = [union.kind, fields.map((field) => field.name.value).join()];
const schema = buildASTSchema(parse(`${data} type Query { row: Row }`), { assumeValidSDL: true });
found.push(validateSchema(schema)[0]?.message);
console.log(found);
const message = 'Union type Colour can only include Object types, it cannot include String.';
const expected = ['UnionTypeDefinition', 'id,colour,sizes', message];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node main.cjs
