#!/usr/bin/env bash
# remult: a GraphQL `offset` is rounded down to a whole page, and a `limit` of 0 is no limit.
#
# One would expect: `limit: 3, offset: 2` begins at the third row, `offset: 2` alone leaves out two
# rows, and `limit: 0` brings none, beside the count. (In the schema `offset` is described as "the
# offset needed".)
# What happens: the number of a page is computed from the offset, and the rest is dropped: rows 1 to
# 3 come for the offsets 0, 1 and 2, and rows 4 to 6 for 3, 4 and 5. Without a limit the offset does
# nothing, and with `limit: 0` all rows come. A client that goes on by what it received, after pages
# of other lengths, reads rows twice and misses others, beside a right count.
# Versions: remult 3.3.18 with its data in memory, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  remult@3.3.18 graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import { buildSchema, graphql } from 'graphql';
import { describeClass, Entity, Fields, InMemoryDataProvider, Remult } from 'remult';
import { remultGraphql } from 'remult/graphql';

class Row {}
describeClass(Row, Entity('rows', { allowApiCrud: true }), { id: Fields.integer() });
const remult = new Remult(new InMemoryDataProvider());
await remult.repo(Row).insert(Array.from({ length: 9 }, (_, number) => ({ id: number + 1 })));
const { typeDefs, rootValue } = remultGraphql({
  entities: [Row],
  getRemultFromRequest: async () => remult,
});
const schema = buildSchema(typeDefs);
const ask = async (given) => {
  const source = `{ rows(${given}) { totalCount items { id } } }`;
  const { data } = await graphql({ schema, source, rootValue, contextValue: {} });
  const line = `${given}: ${data.rows.items.map((row) => row.id).join(' ')}`;
  return data.rows.totalCount === 9 ? line : 'another count';
};
for (const given of ['limit: 3, offset: 2', 'limit: 3, offset: 5', 'offset: 2', 'limit: 0']) {
  console.log(await ask(given));
}
JS
found=$(node main.mjs)
echo "$found"
all='1 2 3 4 5 6 7 8 9'
[ "$found" = "limit: 3, offset: 2: 1 2 3
limit: 3, offset: 5: 4 5 6
offset: 2: $all
limit: 0: $all" ]
