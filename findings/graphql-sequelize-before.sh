#!/usr/bin/env bash
# graphql-sequelize: `last` with `before` counts from the end, so it gives other rows.
#
# One would expect: `last: 3, before: (the cursor of the 10th row)` gives the rows 7, 8 and 9, as
# Relay's specification of cursor connections has it.
# What happens: of the cursor only the position is read, 10, and taken for one in the reversed
# list: the rows 127, 126 and 125 of 137 come, in that order. `first: 3, before:` gives the rows 11,
# 12 and 13, as if it were `after:`. No error says so.
# Versions: graphql-sequelize 9.5.1, sequelize 5.22.5, graphql 15.8.0, graphql-relay 0.6.0,
# pg 8.16.3, pgserver 0.1.4 (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  graphql-sequelize@9.5.1 sequelize@5.22.5 pg@8.16.3 graphql@15.8.0 graphql-relay@0.6.0 >/dev/null
cat >main.cjs <<'JS'
const { graphql, GraphQLObjectType, GraphQLSchema } = require('graphql');
const { attributeFields, createConnection } = require('graphql-sequelize');
const Sequelize = require('sequelize');

const options = { host: process.argv[2], dialect: 'postgres', logging: false };
const database = new Sequelize('postgres', 'postgres', 'none', options);
const Row = database.define('row', {}, { timestamps: false });
const nodeType = new GraphQLObjectType({ name: 'Row', fields: attributeFields(Row) });
const { connectionType, connectionArgs, resolve } = createConnection({
  name: 'row',
  nodeType,
  target: Row,
});
const rows = { type: connectionType, args: connectionArgs, resolve };
const query = new GraphQLObjectType({ name: 'Query', fields: { rows } });
const schema = new GraphQLSchema({ query });
const ask = async (given) => {
  const source = `{ rows(${given}) { edges { cursor node { id } } } }`;
  return (await graphql({ schema, source })).data.rows.edges;
};
const main = async () => {
  await database.sync();
  await Row.bulkCreate(Array.from({ length: 137 }, () => ({})));
  const { cursor, node } = (await ask('first: 10')).pop();
  const found = [`${node.id}`];
  for (const given of ['last: 3, before:', 'first: 3, before:', 'first: 3, after:']) {
    const edges = await ask(`${given} "${cursor}"`);
    found.push(edges.map((edge) => edge.node.id).join(' '));
  }
  console.log(found.map((line) => `found: ${line}`).join('\n'));
  process.exit(found.join() === '10,127 126 125,11 12 13,11 12 13' ? 0 : 1);
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
venv/bin/python main.py 2>&1 | grep '^found'
