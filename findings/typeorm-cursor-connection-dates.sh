#!/usr/bin/env bash
# typeorm-cursor-connection on SQLite: in the order of a time, nothing comes after the first page.
#
# One would expect: pages of 3 in the order of `createdAt` and `id`, which the documentation has,
# hold all nine rows, an hour apart, once; and `first: 0` brings no rows.
# What happens: a cursor holds the time as "2001-02-03T04:00:00.000Z", and TypeORM stores it in
# SQLite as the text "2001-02-03 04:00:00.000". Texts are compared, and a blank comes before the T:
# after the first page, which says that more follow, the next one is empty, and says that none do.
# Newest first, the first page comes again, for ever. With `first: 0` all rows come, beside
# `hasNextPage: true`.
# Versions: typeorm-cursor-connection 0.5.2, typeorm 0.3.31, sql.js 1.17.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  typeorm-cursor-connection@0.5.2 typeorm@0.3.31 sql.js@1.17.0 reflect-metadata@0.2.2 >/dev/null
cat >main.js <<'JS'
require('reflect-metadata');
const { DataSource, EntitySchema } = require('typeorm');
const { EntityConnection } = require('typeorm-cursor-connection');

const columns = { id: { type: Number, primary: true }, createdAt: { type: 'datetime' } };
const Post = new EntitySchema({ name: 'Post', columns });
const source = new DataSource({ type: 'sqljs', entities: [Post], synchronize: true });
(async () => {
  await source.initialize();
  const repository = source.getRepository(Post);
  for (let id = 1; id <= 9; id += 1) {
    await repository.insert({ id, createdAt: new Date(Date.UTC(2001, 1, 3, id)) });
  }
  const read = async (args, order) => {
    const sortOptions = [
      { sort: 'createdAt', order },
      { sort: 'id', order },
    ];
    const connection = new EntityConnection(args, { repository, sortOptions });
    const ids = (await connection.edges).map((edge) => edge.node.id);
    const { hasNextPage, endCursor } = await connection.pageInfo;
    console.log(`${ids.join(' ') || 'no rows'}: ${await hasNextPage}`);
    return endCursor;
  };
  for (const order of ['ASC', 'DESC']) {
    await read({ first: 3, after: await read({ first: 3 }, order) }, order);
  }
  await read({ first: 0 }, 'ASC');
})();
JS
found=$(node main.js)
echo "$found"
[ "$found" = "1 2 3: true
no rows: false
9 8 7: true
9 8 7: true
1 2 3 4 5 6 7 8 9: true" ]
