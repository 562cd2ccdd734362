#!/usr/bin/env bash
# GQLoom with Drizzle: a time comes as milliseconds in a String, and no text filters by it.
#
# One would expect: a column that is a Date in Drizzle comes as ISO 8601, and a filter takes that,
# or at least what came.
# What happens: the column is declared as `String`, and graphql-js writes a Date there as its number
# of milliseconds: "981173106123". A filter hands its text to Drizzle, which calls a method of Date
# on it, so that ISO 8601 and the text that came are errors alike. Ordering by the column works.
# Versions: @gqloom/core 0.14.2, @gqloom/drizzle 0.11.0, drizzle-orm 0.45.4, @libsql/client 0.18.0,
# graphql 16.15.0, Node 20; the same with PostgreSQL and pg 8.23.1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @gqloom/core@0.14.2 @gqloom/drizzle@0.11.0 drizzle-orm@0.45.4 @libsql/client@0.18.0 \
  graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { weave } from '@gqloom/core';
import { drizzleResolverFactory, drizzleSilk, DrizzleWeaver } from '@gqloom/drizzle';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql';
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';
import { graphql } from 'graphql';

const rows = drizzleSilk(
  sqliteTable('rows', {
    id: integer().primaryKey(),
    made: integer({ mode: 'timestamp_ms' }).notNull(),
  }),
);
const database = drizzle({ connection: 'file:rows.db', schema: { rows } });
await database.run(sql`create table rows (id integer primary key, made integer not null)`);
const made = new Date('2001-02-03T04:05:06.123Z');
await database.insert(rows).values([{ made }, { made: new Date(0) }]);
const schema = weave(DrizzleWeaver, drizzleResolverFactory(database, rows).resolver());

const ask = async (given) => {
  const source = `{ rows${given} { made } }`;
  const { data, errors } = await graphql({ schema, source });
  return errors ? errors[0].message : data.rows.map((row) => row.made).join(' ');
};
console.log(`rows: ${await ask('(orderBy: [{ made: desc }])')}`);
console.log(`ISO 8601: ${await ask(`(where: { made: { eq: "${made.toISOString()}" } })`)}`);
console.log(`what came: ${await ask('(where: { made: { eq: "981173106123" } })')}`);
JS
found=$(node main.mjs)
echo "$found"
[ "$found" = "rows: 981173106123 0
ISO 8601: value.getTime is not a function
what came: value.getTime is not a function" ]
