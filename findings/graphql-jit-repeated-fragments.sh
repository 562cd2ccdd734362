#!/usr/bin/env bash
# graphql-jit: of a fragment that is spread twice with conditions only the first condition counts.
#
# One would expect: `...F @include(if: $a) ...F @include(if: $b)` selects the fields of F if $a or $b is
# true, as graphql-js does, and `where: {least: $least}` without a value for $least has the default of
# the member `least`, as the specification says.
# What happens: with $a false and $b true each row is an empty object, without an error; the spreads the
# other way round select the fields. A variable without a value is null in an input object, where
# graphql-js takes the default: of 12 rows with a rank of at least 5 none comes here, as a resolver
# that compares with null finds.
# Versions: graphql-jit 0.8.9, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql-jit@0.8.9 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, execute, parse } = require('graphql');
const { compileQuery } = require('graphql-jit');

const schema = buildSchema(`
  input Where { least: Int = 5 }
  type Row { id: ID! rank: Int! }
  type Query { rows(where: Where): [Row!]! }
`);
const rows = Array.from({ length: 16 }, (_, number) => ({ id: String(number), rank: number + 1 }));
schema.getQueryType().getFields().rows.resolve = (_, { where }) =>
  rows.filter((row) => where === undefined || (where.least !== null && row.rank >= where.least));
const fragment = 'fragment F on Row { id rank }';
const ask = async (text, variables) => {
  const document = parse(text);
  const plain = await execute({ schema, document, variableValues: variables });
  const compiled = await compileQuery(schema, document).query(undefined, {}, variables);
  const [left, right] = [plain, compiled].map(
    ({ data, errors }) => `${errors ? 'errors' : data.rows.length} ${JSON.stringify(data.rows[0])}`,
  );
  console.log(`${text}\n  graphql-js: ${left}; graphql-jit: ${right}`);
  return `${left} ${right}`;
};
(async () => {
  const twice = (one, other) =>
    `query ($a: Boolean!, $b: Boolean!) {
       rows { ...F @include(if: $${one}) ...F @include(if: $${other}) }
     } ${fragment}`;
  const whole = '16 {"id":"0","rank":1}';
  const found = [
    await ask(twice('b', 'a'), { a: false, b: true }),
    await ask(twice('a', 'b'), { a: false, b: true }),
    await ask('query ($least: Int) { rows(where: {least: $least}) { id } }', {}),
  ];
  const expected = [`${whole} ${whole}`, `${whole} 16 {}`, '12 {"id":"4"} 0 undefined'];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
node main.cjs
