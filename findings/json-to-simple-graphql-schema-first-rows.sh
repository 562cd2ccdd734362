#!/usr/bin/env bash
# json-to-simple-graphql-schema: the first element of a list decides for all of them.
#
# Guessed before: the type of the elements has the fields of all of them; 1 and 2.5 make a Float,
# and a null before a number makes a nullable number.
# What happens: a field that only a later element has is missing, 1 and 2.5 are an Int, null and 3 a
# String. The objects of two fields with one name share a type: the one with fewer fields loses its
# own ("duplicate removal"), though they have no field in common. A number over 2^31 is an Int.
# The JSON given is no valid answer of the schema made from it.
# Versions: @walmartlabs/json-to-simple-graphql-schema 3.0.1, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @walmartlabs/json-to-simple-graphql-schema@3.0.1 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const { jsonToSchema } = require('@walmartlabs/json-to-simple-graphql-schema/lib');

const answer = {
  rows: [{ size: 1, name: null }, { size: 2.5, name: 3, late: true }],
  count: 12345678901,
};
const { value } = jsonToSchema({ jsonInput: JSON.stringify(answer), baseType: 'Query' });
const schema = buildSchema(value);
const fields = Object.values(schema.getType('Rows').getFields());
const types = fields.map((field) => `${field.name} ${field.type}`).join();
const source = '{ count rows { size } }';
const { errors } = graphqlSync({ schema, source, rootValue: answer });
console.log(value, errors.map((error) => error.message));
process.exit(types === 'size Int,name String' && errors.length === 2 ? 0 : 1);
JS
node main.cjs
