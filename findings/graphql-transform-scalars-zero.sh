#!/usr/bin/env bash
# graphql-transform-scalars: a zero or an empty text of a scalar is left as it came.
#
# Guessed before: each value of a scalar is parsed, in fields with other names (aliases), too.
# What happens: values that are falsy in JavaScript are passed over, so that a column of times has a
# number for 1970 and Dates for the others. And the names in the answer are looked up in the schema:
# under the name of another field a value is parsed as that field's scalar, or not at all; a name
# that is no field is an error.
# Versions: graphql-transform-scalars 1.2.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  graphql-transform-scalars@1.2.0 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const { TransformCustomScalars } = require('graphql-transform-scalars');

const sdl = `
  scalar Seconds
  type Query { rows: [Row!]! }
  type Row { at: Seconds! count: Int! }
`;
const rows = [{ at: 60, count: 3 }, { at: 0, count: 3 }];
const parseValue = (seconds) => new Date(seconds * 1000);
const transformer = new TransformCustomScalars(sdl, [{ name: 'Seconds', parseValue }]);
const found = [];
for (const query of ['{ rows { at } }', '{ rows { count: at } }', '{ rows { at: count } }']) {
  const { data } = graphqlSync({ schema: buildSchema(sdl), source: query, rootValue: { rows } });
  const text = JSON.stringify(transformer.addCustomScalars({ ...data }, 'query').rows);
  found.push(`${query} ${text}`);
}
console.log(found.join('\n'));
const expected = [
  '{ rows { at } } [{"at":"1970-01-01T00:01:00.000Z"},{"at":0}]',
  '{ rows { count: at } } [{"count":60},{"count":0}]',
  '{ rows { at: count } } [{"at":"1970-01-01T00:00:03.000Z"},{"at":"1970-01-01T00:00:03.000Z"}]',
];
process.exit(found.join() === expected.join() ? 0 : 1);
JS
node main.cjs
