#!/usr/bin/env bash
# graphql-type-datetime, graphql-type-long: a value that they cannot read is null, and filters nothing.
#
# One would expect: a filter by 30 February, or by an id that is larger than the scalar allows, is
# refused with an error, as values that do not fit a scalar are elsewhere.
# What happens: 30 February is null, in variables and in the text of the query, as the check looks at
# the function `isValid` without calling it. Of five rows with a time all five come, where a resolver
# takes null as no filter. An id above 2^53 in the text of a query is null, too, and all rows come;
# the same id in a variable is refused.
# Versions: graphql-type-datetime 0.2.4, graphql-type-long 0.1.1, graphql 0.13.2, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error \
  graphql-type-datetime@0.2.4 graphql-type-long@0.1.1 graphql@0.13.2 >/dev/null
cat >main.cjs <<'JS'
const { GraphQLList, GraphQLObjectType, GraphQLSchema, graphql } = require('graphql');
const DateTime = require('graphql-type-datetime');
const Long = require('graphql-type-long');

const all = [1, 2, 3, 4, 5].map((day) => ({ id: day, time: `2024-03-0${day}T00:00:00.000Z` }));
const rows = {
  type: new GraphQLList(DateTime),
  args: { before: { type: DateTime }, id: { type: Long } },
  resolve: (_, { before, id }) =>
    all
      .filter((row) => (before == null || row.time < before) && (id == null || row.id === id))
      .map((row) => row.time),
};
const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { rows } }) });
const ask = async (text, variables) => {
  const { data, errors } = await graphql(schema, text, null, {}, variables);
  const line = errors ? 'error' : `${data.rows.length} rows`;
  console.log(text, JSON.stringify(variables ?? {}), line);
  return line;
};
(async () => {
  const large = '9007199254740993';
  const found = [
    await ask('{ rows(before: "2024-03-03") }'),
    await ask('{ rows(before: "2024-02-30") }'),
    await ask('query ($t: DateTime) { rows(before: $t) }', { t: '2024-02-30' }),
    await ask('{ rows(id: 3) }'),
    await ask(`{ rows(id: ${large}) }`),
    await ask('query ($id: Long) { rows(id: $id) }', { id: large }),
  ];
  const expected = ['2 rows', '5 rows', '5 rows', '1 rows', '5 rows', 'error'];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
node main.cjs
