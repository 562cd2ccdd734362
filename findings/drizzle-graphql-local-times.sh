#!/usr/bin/env bash
# drizzle-graphql: a time without a zone is answered with the zone UTC.
#
# One would expect: a column `timestamp` without a zone is text without one, as PostGraphile and
# Postgres itself write it, so that a reader knows that the zone is not said.
# What happens: "2001-02-03T05:05:06" in the table is "2001-02-03T05:05:06.000Z" in the answer, of
# type String, and a column with a zone looks the same. A client that reads the Z shifts local times
# by the hours to UTC.
# Versions: drizzle-graphql 0.8.5, drizzle-orm 0.44.7, @electric-sql/pglite 0.5.17,
# graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error drizzle-graphql@0.8.5 drizzle-orm@0.44.7 \
  @electric-sql/pglite@0.5.17 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { PGlite } = require('@electric-sql/pglite');
const { buildSchema } = require('drizzle-graphql');
const pg = require('drizzle-orm/pg-core');
const { drizzle } = require('drizzle-orm/pglite');
const { graphql } = require('graphql');

(async () => {
  const rows = pg.pgTable('rows', {
    id: pg.integer().primaryKey(),
    local: pg.timestamp(),
    moment: pg.timestamp({ withTimezone: true }),
  });
  const client = new PGlite();
  await client.exec(`create table rows (id int primary key, local timestamp, moment timestamptz);
    insert into rows values (1, '2001-02-03 05:05:06', '2001-02-03 05:05:06+00')`);
  const stored = (await client.query('select local::text from rows')).rows[0].local;
  const { schema } = buildSchema(drizzle(client, { schema: { rows } }));
  const { data, errors } = await graphql({ schema, source: '{ rows { local moment } }' });
  const { local, moment } = data.rows[0];
  const types = ['local', 'moment'].map((name) => {
    return String(schema.getType('RowsSelectItem')?.getFields()[name].type);
  });
  console.log(stored, local, moment, types, errors);
  const isAsSaid = local === '2001-02-03T05:05:06.000Z' && moment === local && !errors;
  process.exit(isAsSaid && stored === '2001-02-03 05:05:06' ? 0 : 1);
})();
JS
node main.cjs
