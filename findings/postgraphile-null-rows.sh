#!/usr/bin/env bash
# PostGraphile 4: a row whose selected columns are all null is null itself, in connections.
#
# One would expect: the row is `{"day": null}`, as it is in the list of the same table and in
# PostGraphile 5; a null among the nodes means that a row could not be read.
# What happens: `nodes` holds null for the row, without an error. A reader who leaves out null items
# loses rows, and the count of what is left depends on the columns that were asked for.
# Versions: postgraphile 4.14.1, graphql 15.11.0 (its own), pgserver 0.1.4 (Postgres 16), Node 20,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error postgraphile@4.14.1 >/dev/null
cat >main.cjs <<'JS'
const { Pool } = require('pg');
const { createPostGraphileSchema, withPostGraphileContext } = require('postgraphile');
const { graphql } = require('graphql');

(async () => {
  const pool = new Pool({ connectionString: process.argv[2] });
  const options = { simpleCollections: 'both' };
  const schema = await createPostGraphileSchema(pool, 'public', options);
  const ask = (source) =>
    withPostGraphileContext({ pgPool: pool }, async (context) => {
      const { data, errors } = await graphql(schema, source, null, context);
      return errors ? 'errors' : JSON.stringify(data);
    });
  const found = [
    await ask('{ allRows(orderBy: ID_ASC) { nodes { day } } }'),
    await ask('{ allRows(orderBy: ID_ASC) { nodes { id day } } }'),
    await ask('{ allRowsList(orderBy: ID_ASC) { day } }'),
  ];
  await pool.end();
  console.log(found.join('\n'));
  const expected = [
    '{"allRows":{"nodes":[{"day":"2026-01-01"},null]}}',
    '{"allRows":{"nodes":[{"id":1,"day":"2026-01-01"},{"id":2,"day":null}]}}',
    '{"allRowsList":[{"day":"2026-01-01"},{"day":null}]}',
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
cat >run.py <<'PYTHON'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("data"))
try:
    server.psql("create table rows (id int primary key, day date)")
    server.psql("insert into rows values (1, '2026-01-01'), (2, null)")
    command = ["node", "main.cjs", server.get_uri()]
    status = subprocess.run(command).returncode
finally:
    server.cleanup()
sys.exit(status)
PYTHON
venv/bin/python run.py
