#!/usr/bin/env bash
# join-monster on PostgreSQL: pages of the newest rows first leave out rows, without a sign.
#
# One would expect: pages of 10 hold all 137 rows once. The sort key is a time with an id, which the
# documentation recommends, as a time alone may not be unique in JavaScript.
# What happens: a cursor holds the time as a Date of JavaScript, which has milliseconds, and the
# column has microseconds. The next page is compared with the time cut down: newest first, the
# rows left in the same millisecond are skipped; oldest first, the last row of each page comes
# again as the first row of the next. Each page ends as if all were well.
# Versions: join-monster 4.0.1, pg 8.16.3, graphql 16.11.0, graphql-relay 0.10.2, pgserver 0.1.4
# (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  join-monster@4.0.1 pg@8.16.3 graphql@16.11.0 graphql-relay@0.10.2 >/dev/null
cat >main.cjs <<'JS'
const { graphql, GraphQLInt, GraphQLObjectType, GraphQLSchema } = require('graphql');
const { connectionArgs, connectionDefinitions } = require('graphql-relay');
const joinMonster = require('join-monster').default;
const { Client } = require('pg');

const Row = new GraphQLObjectType({
  name: 'Row',
  extensions: { joinMonster: { sqlTable: 'rows', uniqueKey: 'id' } },
  fields: { id: { type: GraphQLInt } },
});
const { connectionType } = connectionDefinitions({ nodeType: Row });
const client = new Client({ host: process.argv[2], user: 'postgres', database: 'postgres' });
const ask = async (sql) => (await client.query(sql)).rows;
const list = (direction) => ({
  type: connectionType,
  args: connectionArgs,
  resolve: (_, args, context, info) => joinMonster(info, context, ask, { dialect: 'pg' }),
  extensions: {
    joinMonster: {
      sqlPaginate: true,
      sortKey: [{ column: 'created_at', direction }, { column: 'id', direction }],
    },
  },
});
const fields = { newest: list('desc'), oldest: list('asc') };
const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
const read = async (name) => {
  const ids = [];
  let page;
  do {
    const after = page ? `, after: "${page.pageInfo.endCursor}"` : '';
    const inner = 'edges { node { id } } pageInfo { hasNextPage endCursor }';
    const source = `{ ${name}(first: 10${after}) { ${inner} } }`;
    page = (await graphql({ schema, source })).data[name];
    ids.push(...page.edges.map((edge) => edge.node.id));
  } while (page.pageInfo.hasNextPage);
  return [name, ids.length, new Set(ids).size].join(' ');
};
const main = async () => {
  await client.connect();
  await client.query(`
    create table rows (id int primary key, created_at timestamptz not null);
    insert into rows select n, timestamptz '2020-01-01Z' + n * interval '250 microseconds'
      from generate_series(1, 137) n;
  `);
  const found = [await read('newest'), await read('oldest')];
  console.log(found.map((line) => `found: ${line} (list, rows, different rows)`).join('\n'));
  process.exit(found.join() === process.env.EXPECTED ? 0 : 1);
};
main();
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
done = subprocess.run(["node", "main.cjs", str(pathlib.Path("rows").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
EXPECTED='newest 118 118,oldest 169 137' venv/bin/python main.py 2>&1 | grep '^found'
