#!/usr/bin/env bash
# @graphile/pg-aggregates: sums of whole numbers and decimals are rounded, though they come as text.
#
# One would expect: the sum of 9007199254740993 and 2 is "9007199254740995", and that of
# 0.1 and 10000000000000000 is "10000000000000000.1": PostgreSQL computes both so, and the fields are
# of the types BigInt and BigFloat, whose texts hold any number of digits, as those of the rows do.
# What happens: "9007199254740996" and "10000000000000000". The sums pass through a number of
# JavaScript, which is written as text; above 1e21 it is such as "1.8e+21". Another surprise: where
# rows are grouped by a column that may be null, the group of the nulls has `keys: null`, and the
# answer an error, since a key is not nullable in the schema.
# Versions: @graphile/pg-aggregates 0.1.1, postgraphile 4.14.1, graphql 15.11.0 (its own), pgserver
# 0.1.4 (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error postgraphile@4.14.1 \
  @graphile/pg-aggregates@0.1.1 >/dev/null
cat >main.cjs <<'JS'
const { Pool } = require('pg');
const { createPostGraphileSchema, withPostGraphileContext } = require('postgraphile');
const { graphql } = require('graphql');

(async () => {
  const pool = new Pool({ connectionString: process.argv[2] });
  const appendPlugins = [require('@graphile/pg-aggregates').default];
  const schema = await createPostGraphileSchema(pool, 'public', { appendPlugins });
  const ask = (source) =>
    withPostGraphileContext({ pgPool: pool }, async (context) => {
      const { data, errors = [] } = await graphql(schema, source, null, context);
      const kept = data.allRows.nodes ?? data.allRows.aggregates?.sum ?? data.allRows;
      return JSON.stringify([kept, ...errors.map(({ message }) => message)]);
    });
  const found = [
    await ask('{ allRows { nodes { big price } } }'),
    await ask('{ allRows { aggregates { sum { big price } } } }'),
    await ask('{ allRows { groupedAggregates(groupBy: TAG) { keys sum { id } } } }'),
  ];
  await pool.end();
  const { rows } = await new Pool({ connectionString: process.argv[2] }).query(
    'select sum(big)::text as big, sum(price)::text as price from rows',
  );
  console.log([...found, `in PostgreSQL: ${JSON.stringify(rows[0])}`].join('\n'));
  const isSame =
    found[0].includes('{"big":"9007199254740993","price":"10000000000000000.0"}') &&
    found[1] === '[{"big":"9007199254740996","price":"10000000000000000"}]' &&
    found[2].includes('"keys":null') &&
    found[2].includes('Cannot return null for non-nullable field') &&
    rows[0].big === '9007199254740995' &&
    rows[0].price === '10000000000000000.1';
  process.exit(isSame ? 0 : 1);
})();
JS
cat >run.py <<'PYTHON'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("data"))
try:
    server.psql("create table rows (id int primary key, big bigint, price numeric, tag text)")
    server.psql("insert into rows values (1, 9007199254740993, 10000000000000000.0, 'a')")
    server.psql("insert into rows values (2, 2, 0.1, null)")
    command = ["node", "main.cjs", server.get_uri()]
    status = subprocess.run(command).returncode
finally:
    server.cleanup()
sys.exit(status)
PYTHON
venv/bin/python run.py
