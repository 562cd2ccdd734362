#!/usr/bin/env bash
# genql: `__scalar: true` leaves out the fields of the scalar that stands first in the schema.
#
# Guessed before: `__scalar: true` selects all scalar fields of an object, as its documentation says,
# whatever the order of the definitions in the schema is.
# What happens: the first type of the schema has the number 0, which is read as no scalar. Where the
# file begins with `scalar DateTime` the rows come without their times, where it begins with `scalar
# JSON` without their JSON, and where an enum stands first without its values; selected by name all of
# them come. `everything`, which is `__scalar`, does the same. The types of the generated client promise
# the missing fields, and no error or warning says so.
# Versions: @genql/cli 6.3.3, graphql 16.11.0, esbuild 0.25.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @genql/cli@6.3.3 graphql@16.11.0 esbuild@0.25.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql } = require('graphql');
const { readFileSync } = require('node:fs');

const main = async () => {
  const found = [];
  for (const name of process.argv.slice(2)) {
    const { createClient, everything } = require(`./${name}.cjs`);
    const schema = buildSchema(readFileSync(`${name}.graphql`, 'utf8'));
    const row = { id: '1', at: '2026-01-01T00:00:00Z', level: 'HIGH', extra: { k: 1 } };
    const rootValue = { rows: [row] };
    const fetcher = ({ query: source, variables }) =>
      graphql({ schema, source, variableValues: variables, rootValue });
    const client = createClient({ fetcher });
    const ask = async (selection) => {
      const { rows } = await client.query({ rows: selection });
      return Object.keys(rows[0]).filter((key) => key !== '__typename').sort().join();
    };
    const all = await ask({ __scalar: true });
    const same = (await ask(everything)) === all;
    const named = await ask({ id: true, at: true, level: true, extra: true });
    found.push(`${name}: ${all} ${same} ${named}`);
  }
  console.log(`first: fields of __scalar, same for everything, fields by name\n${found.join('\n')}`);
  const expected = [
    'DateTime: extra,id,level true at,extra,id,level',
    'JSON: at,id,level true at,extra,id,level',
    'Level: at,extra,id true at,extra,id,level',
    'Query: at,extra,id,level true at,extra,id,level',
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
};
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
JS
declare -A lines=(
  [DateTime]='scalar DateTime' [JSON]='scalar JSON' [Level]='enum Level { LOW HIGH }'
  [Query]='type Query { rows: [Row!]! }'
)
names=(DateTime JSON Level Query)
for name in "${names[@]}"; do
  {
    echo "${lines[$name]}"
    for other in "${names[@]}"; do [ "$other" = "$name" ] || echo "${lines[$other]}"; done
    echo 'type Row { id: ID! at: DateTime level: Level extra: JSON }'
  } >"$name.graphql"
  npx genql --schema "./$name.graphql" --output "./$name" </dev/null >/dev/null
  npx esbuild "$name/index.ts" --bundle --platform=node --outfile="$name.cjs" --log-level=error
done
node main.cjs "${names[@]}"
