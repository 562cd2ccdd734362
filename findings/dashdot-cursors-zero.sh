#!/usr/bin/env bash
# @dashdot/cursors: behind a row whose sort value is 0, false or an empty text no page follows.
#
# One would expect: in pages of two all five rows come, as the order ends with the id. No value is null.
# What happens: a cursor takes each value that JavaScript holds for false as null. The condition of the
# next page compares the column with null, which no row fulfils, so that the rows end after the first
# page: with scores from 0, with a price of 0, or in an order by a Boolean. The condition for MongoDB
# has the null, too.
# Versions: @dashdot/cursors 0.3.0, pglite 0.5.16 (Postgres 18), Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @dashdot/cursors@0.3.0 @electric-sql/pglite@0.5.16 >/dev/null
cat >main.mjs <<'JS'
import * as cursors from '@dashdot/cursors';
import { PGlite } from '@electric-sql/pglite';

const db = await PGlite.create();
await db.exec(`
  create table rows (id int primary key, score int not null, name text not null, open bool not null);
  insert into rows values (1, 0, '', false), (2, 0, '', false), (3, 0, 'a', true), (4, 1, 'b', true),
    (5, 2, 'c', true);
`);
const read = async (column) => {
  const order = { [column]: 'ASC', id: 'ASC' };
  const ids = [];
  let cursor;
  let page;
  do {
    const [where, values, orderBy] = cursors.cursorToSqlQuery(cursor, order);
    const condition = where ? `where ${where}` : '';
    page = (await db.query(`select * from rows ${condition} order by ${orderBy} limit 2`, values))
      .rows;
    ids.push(...page.map((row) => row.id));
    if (page.length) cursor = cursors.createCursor(page.at(-1), order);
  } while (page.length === 2);
  return `${column}: ${ids.join(' ')}`;
};
for (const column of ['id', 'score', 'name', 'open']) console.log(await read(column));
const first = cursors.createCursor({ score: 0, id: 2 }, { score: 'ASC', id: 'ASC' });
console.log(JSON.stringify(cursors.cursorToMongoQuery(first)));
JS
found=$(node main.mjs)
echo "$found"
[ "$found" = 'id: 1 2 3 4 5
score: 1 2
name: 1 2
open: 1 2
{"$and":[{"score":{"$gte":null}},{"$or":[{"score":{"$gt":null}},{"id":{"$gt":2}}]}]}' ]
