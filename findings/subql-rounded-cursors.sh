#!/usr/bin/env bash
# SubQuery: ordered by an amount of a token, the pages of a list never end, or end after the first.
#
# One would expect: 137 transfers, whose amounts have 18 decimals as on most chains, come in pages
# of 50, 50 and 37 rows, ordered by amount, in both directions.
# What happens: a cursor holds the amount as a number of JSON, with 17 digits, and the next page is
# compared with that. Here it is below all amounts. Upwards, each page is the first one again, and
# says that another follows. Downwards, nothing is below it: the second page is empty, and is the
# last, after 50 of 137 rows. `totalCount` is 137 beside all of them, and `offset` works.
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
create table app.transfers (id text primary key, amount numeric not null);
insert into app.transfers
  select 't' || n, 1000000000000000000000 + n from generate_series(1, 137) n;
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
  const ask = async (given) => {
    const rows = 'totalCount nodes { id } pageInfo { hasNextPage endCursor }';
    const query = `{ transfers(first: 50, ${given}) { ${rows} } }`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return (await answer.json()).data.transfers;
  };
  const found = [];
  for (const order of ['AMOUNT_DESC', 'AMOUNT_ASC']) {
    const first = await ask(`orderBy: ${order}`);
    const second = await ask(`orderBy: ${order}, after: "${first.pageInfo.endCursor}"`);
    const third = await ask(`orderBy: ${order}, offset: 100`);
    for (const page of [first, second, third]) {
      const begin = page.nodes[0]?.id ?? '-';
      found.push([order, page.nodes.length, begin, page.pageInfo.hasNextPage, page.totalCount]);
    }
  }
  console.log(found.map((page) => `found: ${page.join(' ')}`).join('\n'));
  const expected = [
    'AMOUNT_DESC,50,t137,true,137',
    'AMOUNT_DESC,0,-,false,137',
    'AMOUNT_DESC,37,t37,false,137',
    'AMOUNT_ASC,50,t1,true,137',
    'AMOUNT_ASC,50,t1,true,137',
    'AMOUNT_ASC,37,t101,false,137',
  ];
  process.exit(found.join(' ') === expected.join(' ') ? 0 : 1);
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
