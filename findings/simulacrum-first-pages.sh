#!/usr/bin/env bash
# @simulacrum/github-api-simulator: without `first` a connection has 100 rows, and says "no more".
#
# One would expect: as at GitHub a connection without a size is refused, or it has all rows; and where
# a page has fewer rows than `totalCount`, `hasNextPage` is true.
# What happens: of 235 repositories the first 100 come, with `totalCount: 235` and `hasNextPage:
# false`. With `first: 100` the same rows come, and `hasNextPage` is true. A client that is tested
# with the simulator ends after the first page, and no test sees it.
# Versions: @simulacrum/github-api-simulator 0.8.0, its own graphql, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @simulacrum/github-api-simulator@0.8.0 >/dev/null
cat >main.mjs <<'JS'
import { simulation } from '@simulacrum/github-api-simulator';

const repositories = Array.from({ length: 235 }, (_, number) => ({
  id: 1000 + number,
  owner: 'rows',
  name: `row-${number}`,
}));
const app = simulation({
  initialState: {
    users: [{ login: 'someone', organizations: ['rows'] }],
    organizations: [{ login: 'rows' }],
    repositories,
    branches: [],
    blobs: [],
  },
});
const { server, port } = await app.listen(0, '127.0.0.1');
const ask = async (given) => {
  const query = `{ organization(login: "rows") { repositories${given} {
    totalCount pageInfo { hasNextPage } nodes { name } } } }`;
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const found = (await answer.json()).data.organization.repositories;
  return [found.nodes.length, found.totalCount, found.pageInfo.hasNextPage].join(' ');
};
console.log(`no size: ${await ask('')}; first: 100: ${await ask('(first: 100)')}`);
process.exit(0);
JS
found=$(node main.mjs 2>/dev/null | tail -n 1)
echo "$found"
[ "$found" = "no size: 100 235 false; first: 100: 100 235 true" ]
