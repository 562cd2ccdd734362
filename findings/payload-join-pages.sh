#!/usr/bin/env bash
# Payload: each later page of a join field begins one row late, so rows are in no page.
#
# One would expect: `up(limit: 20, page: 2)` begins with the 21st row, as it does for the collection
# itself, and the pages together hold all rows.
# What happens: with SQLite (and the code is that of PostgreSQL, too) page 2 begins with the 22nd
# row and page 3 with the 43rd. Of 136 rows the seven pages of 20 have 130, and the last one says
# that none follows. `totalDocs` is null unless `count: true` is given, so nothing shows the loss.
# Without `limit` all 136 rows come at once.
# Versions: payload, @payloadcms/graphql and @payloadcms/db-sqlite 3.90.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps payload@3.90.2 \
  @payloadcms/graphql@3.90.2 @payloadcms/db-sqlite@3.90.2 graphql@16.11.0 >/dev/null
cat >main.js <<'JS'
import { configToSchema } from '@payloadcms/graphql';
import { sqliteAdapter } from '@payloadcms/db-sqlite';
import { graphql } from 'graphql';
import { buildConfig, createLocalReq, getPayload } from 'payload';

const fields = [
  { name: 'title', type: 'text' },
  { name: 'about', type: 'relationship', relationTo: 'notes' },
  { name: 'notes', type: 'join', collection: 'notes', on: 'about' },
];
const config = await buildConfig({
  secret: 'none',
  telemetry: false,
  db: sqliteAdapter({ client: { url: 'file:./rows.db' }, push: true }),
  collections: [{ slug: 'notes', access: { read: () => true }, fields }],
});
const payload = await getPayload({ config });
const { id } = await payload.create({ collection: 'notes', data: { title: 'subject' } });
for (let number = 1; number <= 136; number += 1) {
  await payload.create({ collection: 'notes', data: { title: `note ${number}`, about: id } });
}
const { schema } = configToSchema(config);
const ask = async (given) => {
  const source = `{ Note(id: ${id}) { notes(sort: "id" ${given}) { docs { id } hasNextPage totalDocs } } }`;
  const contextValue = { headers: {}, req: await createLocalReq({}, payload) };
  return (await graphql({ schema, source, contextValue })).data.Note.notes;
};
const whole = (await ask('')).docs.map((row) => row.id);
const begins = [];
let rows = 0;
let page = 0;
let last;
do {
  page += 1;
  last = await ask(`limit: 20, page: ${page}`);
  rows += last.docs.length;
  begins.push(whole.indexOf(last.docs[0].id) + 1);
} while (last.hasNextPage);
console.log({ whole: whole.length, rows, begins, totalDocs: last.totalDocs });
const isSame = whole.length === 136 && rows === 130 && begins.slice(0, 3).join() === '1,22,43';
process.exit(isSame && last.totalDocs === null ? 0 : 1);
JS
node main.js
