#!/usr/bin/env bash
# easygraphql-mock: a list of lists is mocked as a list.
#
# Guessed before: the mock of a schema fits the schema: an enum has one of its values, an interface
# one of its types, and `[[Int!]!]!` lists of integers.
# What happens: enums and interfaces are as guessed; the list of lists is a list of integers, so
# that a schema that is served with the mock answers with an error for it, and the whole answer is
# null. All rows of a list are the same object.
# Versions: easygraphql-mock 0.1.17, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps easygraphql-mock@0.1.17 \
  graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphqlSync } = require('graphql');
const mock = require('easygraphql-mock');

const text = `
  enum Colour { RED BLUE }
  type Row { id: ID! size: Int! colour: Colour! sizes: [Int!]! grid: [[Int!]!]! }
  type Query { rows: [Row!]! }
`;
const rootValue = mock(text).Query;
console.log(rootValue.rows[0]);
const ask = (fields) =>
  graphqlSync({ schema: buildSchema(text), rootValue, source: `{ rows { ${fields} } }` });
const [plain, nested] = [ask('id size colour sizes'), ask('id grid')];
console.log(nested.errors?.[0].message);
const found = [
  plain.errors === undefined,
  Array.isArray(rootValue.rows[0].grid[0]),
  nested.data,
  new Set(plain.data.rows.map((row) => row.id)).size,
];
process.exit(JSON.stringify(found) === '[true,false,null,1]' ? 0 : 1);
JS
node main.cjs
