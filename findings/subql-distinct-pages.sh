#!/usr/bin/env bash
# SubQuery: `distinct` has no last page, and its pages bring the same values again and again.
#
# One would expect: 137 transfers are of two kinds, so `distinct: [KIND]` gives two rows in the first
# page of 100, `hasNextPage: false` and `totalCount: 2`.
# What happens: the two rows come with `hasNextPage: true` and `totalCount: 137`, as without
# `distinct`. A client that follows the cursors gets the next row of the second kind in each further
# page, until that kind is used up: 70 rows in 69 pages. Behind a cursor the rows are distinct anew.
# Versions: @subql/query 2.25.0 with its own graphql 15 and PostGraphile 4, pgserver 0.1.4
# (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @subql/query@2.25.0 >/dev/null
cat >main.cjs <<'JS'
const path = require('node:path');
const { NestFactory } = require('@nestjs/core');
const { Client } = require('pg');

const sql = `
create schema app;
create table app._metadata (key text primary key, value jsonb);
create table app.transfers (id integer primary key, kind integer not null);
insert into app.transfers select n, n % 2 from generate_series(1, 137) n;
`;
const main = async () => {
  const host = process.argv[2];
  Object.assign(process.env, { DB_HOST: host, DB_USER: 'postgres', DB_DATABASE: 'postgres' });
  const client = new Client({ host, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(sql);
  process.argv = ['node', 'subql-query', '--name', 'app', '--disable-hot-schema'];
  // The command `subql-query` does the same with a fixed port.
  const { AppModule } = require(path.resolve('node_modules/@subql/query/dist/app.module.js'));
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/graphql`;
  const pages = [];
  let after = '';
  do {
    const rows = 'totalCount nodes { kind } pageInfo { hasNextPage endCursor }';
    const query = `{ transfers(distinct: [KIND]${after}) { ${rows} } }`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const page = (await answer.json()).data.transfers;
    pages.push(page);
    after = `, after: "${page.pageInfo.endCursor}"`;
  } while (pages.at(-1).pageInfo.hasNextPage);
  const [first] = pages;
  const kinds = pages.flatMap((page) => page.nodes.map((row) => row.kind));
  const found = [
    [first.nodes.length, first.pageInfo.hasNextPage, first.totalCount].join(' '),
    [kinds.length, pages.length, new Set(kinds).size].join(' '),
  ];
  console.log(`found: ${found[0]} (rows of the first page, hasNextPage, totalCount)`);
  console.log(`found: ${found[1]} (rows of all pages, pages, different values)`);
  process.exit(found.join() === '2 true 137,70 69 2' ? 0 : 1);
};
main();
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
done = subprocess.run(["node", "main.cjs", str(pathlib.Path("rows").resolve())])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>&1 | grep '^found'
