#!/usr/bin/env bash
# TinaCMS: `totalCount` is the number of rows of the page, and a sort leaves documents out.
#
# One would expect: `totalCount` of a connection counts all documents, 137, on each page of them, as
# the GitHub API and most others have it; and sorted by a field, all 137 come, in another order.
# What happens: without a size 50 documents come with `totalCount: 50` and `hasNextPage: true`; with
# `first: 3` it is 3. `first: 0` gives 50, too. Sorted by a field that 19 documents lack, 118 come,
# and `hasNextPage` is false, since the index of that field has no entry for the others.
# Versions: @tinacms/graphql 3.0.0, memory-level 1.0.0, graphql 15.8.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @tinacms/graphql@3.0.0 memory-level@1.0.0 graphql@15.8.0 >/dev/null
mkdir -p content/posts tina
for number in $(seq 1 137); do
  nick=$([ $((number % 7)) = 0 ] || echo "nick: name$number")
  printf -- '---\ntitle: row %s\n%s\n---\ntext\n' "$number" "$nick" >"content/posts/$number.md"
done
cat >main.mjs <<'JS'
import { FilesystemBridge, buildSchema, createDatabaseInternal, resolve } from '@tinacms/graphql';
import { MemoryLevel } from 'memory-level';

const fields = ['title', 'nick'].map((name) => ({ type: 'string', name }));
const post = { name: 'post', path: 'content/posts', format: 'md', fields };
const config = {
  branch: 'main',
  clientId: 'none',
  token: 'none',
  build: { publicFolder: 'public', outputFolder: 'admin' },
  schema: { collections: [post] },
};
const database = createDatabaseInternal({
  bridge: new FilesystemBridge(process.cwd()),
  level: new MemoryLevel({ valueEncoding: 'json' }),
  tinaDirectory: 'tina',
});
await database.indexContent(await buildSchema(config));
const ask = async (given) => {
  const inner = '{ totalCount edges { node { title } } pageInfo { hasNextPage } }';
  const query = `{ postConnection${given} ${inner} }`;
  const answer = await resolve({ config: {}, database, query, variables: {}, verbose: false });
  const { edges, totalCount, pageInfo } = answer.data.postConnection;
  return [edges.length, totalCount, pageInfo.hasNextPage].join(' ');
};
const queries = ['', '(first: 3)', '(first: 0)', '(first: 500)', '(first: 500, sort: "nick")'];
const found = [];
for (const given of queries) {
  found.push(await ask(given));
  console.log(`postConnection${given}: rows, totalCount, hasNextPage: ${found.at(-1)}`);
}
const isSame = found.join() === '50 50 true,3 3 true,50 50 true,137 137 false,118 118 false';
process.exit(isSame ? 0 : 1);
JS
node main.mjs
