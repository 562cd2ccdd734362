#!/usr/bin/env bash
# Strapi: a size of 0 gives one row, and so do -2 and every other negative size but -1.
#
# One would expect: `pagination: {limit: 0}` gives no rows beside the total of 137, which is how one
# asks for a count alone; a negative size is refused, or gives none.
# What happens: sizes below 1 are raised to 1, and -1 means all. The first row comes, its page calls
# itself one of 137 with `pageSize: 1`, and nothing says that another size was asked for.
# Versions: @strapi/strapi and @strapi/plugin-graphql 5.54.0, pgserver 0.1.4 (Postgres 16), Node 20,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @strapi/strapi@5.54.0 @strapi/plugin-graphql@5.54.0 @strapi/plugin-users-permissions@5.54.0 \
  pg@8.23.1 react@18.3.1 react-dom@18.3.1 react-router-dom@6.30.6 styled-components@6.6.0 \
  >/dev/null
mkdir -p config public/uploads src/api/row/{content-types/row,controllers,routes,services}
for part in controller route service; do
  maker=createCore${part^}
  [ $part = route ] && maker=createCoreRouter
  echo "module.exports = require('@strapi/strapi').factories.$maker('api::row.row');" \
    >"src/api/row/${part}s/row.js"
done
cat >src/api/row/content-types/row/schema.json <<'JSON'
{
  "kind": "collectionType",
  "collectionName": "rows",
  "info": { "singularName": "row", "pluralName": "rows", "displayName": "Row" },
  "options": { "draftAndPublish": false },
  "attributes": { "number": { "type": "integer" } }
}
JSON
cat >config/database.js <<'JS'
const connection = { host: '127.0.0.1', port: Number(process.env.PGPORT), database: 'postgres' };
module.exports = () => ({
  connection: { client: 'postgres', connection: { ...connection, user: 'postgres', password: 'x' } },
});
JS
cat >config/server.js <<'JS'
module.exports = () => ({ host: '127.0.0.1', port: 0, app: { keys: ['a', 'b'] } });
JS
cat >config/admin.js <<'JS'
const salt = 'none';
module.exports = () => ({
  auth: { secret: salt },
  apiToken: { salt },
  transfer: { token: { salt } },
  serveAdminPanel: false,
});
JS
echo "module.exports = () => ({ 'users-permissions': { config: { jwtSecret: 'none' } } });" \
  >config/plugins.js
cat >config/middlewares.js <<'JS'
const names = 'logger errors security cors poweredBy query body session favicon public';
module.exports = names.split(' ').map((name) => `strapi::${name}`);
JS
touch favicon.png
cat >main.cjs <<'JS'
const net = require('node:net');
const { createStrapi } = require('@strapi/strapi');

// Strapi takes no address of a Unix socket, and this PostgreSQL has no other.
const relay = net.createServer((socket) => {
  socket.pipe(net.connect(process.argv[2])).pipe(socket).on('error', () => socket.destroy());
});
relay.listen(0, '127.0.0.1', async () => {
  process.env.PGPORT = relay.address().port;
  const folder = process.cwd();
  const strapi = await createStrapi({ appDir: folder, distDir: folder }).load();
  for (let number = 1; number <= 137; number += 1) {
    await strapi.db.query('api::row.row').create({ data: { number, documentId: `row${number}` } });
  }
  const role = await strapi.db
    .query('plugin::users-permissions.role')
    .findOne({ where: { type: 'public' } });
  await strapi.db
    .query('plugin::users-permissions.permission')
    .create({ data: { action: 'api::row.row.find', role: role.id } });
  await strapi.listen();
  const url = `http://127.0.0.1:${strapi.server.httpServer.address().port}/graphql`;
  const ask = async (given) => {
    const pages = '{ nodes { number } pageInfo { pageSize total } }';
    const query = `{ rows_connection(pagination: {${given}}) ${pages} }`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { nodes, pageInfo } = (await answer.json()).data.rows_connection;
    return [nodes.length, pageInfo.pageSize, pageInfo.total].join(' ');
  };
  const found = [];
  for (const given of ['limit: 3', 'limit: 0', 'pageSize: 0', 'limit: -2', 'limit: -1']) {
    found.push(await ask(given));
    console.log(`${given}: rows, pageSize, total: ${found.at(-1)}`);
  }
  process.exit(found.join() === '3 3 137,1 1 137,1 1 137,1 1 137,137 137 137' ? 0 : 1);
});
JS
cat >main.py <<'PY'
import pathlib
import subprocess
import sys

import pgserver

server = pgserver.get_server(pathlib.Path("rows"))
socket = str(pathlib.Path("rows/.s.PGSQL.5432").resolve())
done = subprocess.run(["node", "main.cjs", socket])
server.cleanup()
sys.exit(done.returncode)
PY
venv/bin/python main.py 2>/dev/null | grep "rows, pageSize"
