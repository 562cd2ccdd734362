#!/usr/bin/env bash
# Gridsome: a page of `perPage` rows says that it is the only one, unless `page` is given, too.
#
# One would expect: of 137 posts `allPost(perPage: 20)` is the first of 7 pages, with
# `hasNextPage: true`, as `allPost(perPage: 20, page: 1)` is; both have the same 20 posts.
# What happens: without `page`, `pageInfo` has `totalPages: 1`, `totalItems: 20` and
# `hasNextPage: false` beside `totalCount: 137`: `perPage` is taken for a limit of all rows. A reader
# that begins without a page number and goes on while there is a next page ends after 20 of 137.
# Versions: gridsome 0.7.23, graphql 14.7.0 (its own), Node 20; sharp, which only images need and
# which would be compiled, is replaced by an empty module.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error gridsome@0.7.23 >/dev/null 2>&1
rm -r node_modules/sharp/lib/*
echo 'module.exports = { cache() {}, simd() {} };' >node_modules/sharp/lib/index.js
mkdir -p src/pages
echo 'export default () => {};' >src/main.js
cat >gridsome.server.js <<'JS'
module.exports = (api) => {
  api.loadSource(({ addCollection }) => {
    const posts = addCollection('Post');
    for (let number = 1; number <= 137; number += 1) {
      posts.addNode({ id: `${number}`, title: `Post ${number}` });
    }
  });
};
JS
cat >main.cjs <<'JS'
process.env.NODE_ENV = 'development';
const createApp = require('gridsome/lib/app');

(async () => {
  const app = await createApp(process.cwd(), { config: {} });
  const ask = async (given) => {
    const info = 'pageInfo { totalPages totalItems hasNextPage }';
    const query = `{ allPost(${given}) { totalCount ${info} edges { node { id } } } }`;
    const { totalCount, pageInfo, edges } = (await app.graphql(query, {})).data.allPost;
    const { totalPages, totalItems, hasNextPage } = pageInfo;
    return [edges.length, totalCount, totalPages, totalItems, hasNextPage].join(' ');
  };
  const found = [await ask('perPage: 20'), await ask('perPage: 20, page: 1')];
  console.log(`rows, totalCount, totalPages, totalItems, hasNextPage\n${found.join('\n')}`);
  process.exit(found.join() === '20 137 1 20 false,20 137 7 137 true' ? 0 : 1);
})();
JS
node main.cjs 2>/dev/null | grep -A2 ^rows
