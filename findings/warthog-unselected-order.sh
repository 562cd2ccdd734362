#!/usr/bin/env bash
# Warthog: a connection has no second page unless the column of its order is selected.
#
# One would expect: 137 rows in the order of their scores come in pages of 20, 20 ... 17 rows,
# whatever fields of them the query selects.
# What happens: with `id score` they do. With `id` alone the column of the order is not read from the
# database, so that a cursor holds null in its place; behind it are rows without a score, here none.
# The first page says that another one follows, and that one is an error, "Items is empty", as each
# connection without rows is. On Postgres, with some rows without a score, the next pages were of
# those rows, and the others were left out without an error.
# Versions: warthog 2.21.2 with its own typeorm 0.2.45 and graphql 14.7.0, sql.js 1.8.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  warthog@2.21.2 typeorm@0.2.45 graphql@14.7.0 sql.js@1.8.0 >/dev/null
cat >main.cjs <<'JS'
require('reflect-metadata');
const { buildSchema, graphql } = require('graphql');
const graphqlFields = require('graphql-fields');
const { createConnection } = require('typeorm');

// Settings that its server needs, which is not started here.
for (const name of ['APP_HOST', 'DB_DATABASE', 'DB_HOST', 'DB_USERNAME', 'DB_PASSWORD']) {
  process.env[`WARTHOG_${name}`] = 'none';
}
Object.assign(process.env, { NODE_ENV: 'test', WARTHOG_APP_PORT: '1' });
const { BaseModel, BaseService, IntField, Model } = require('warthog');

class Row extends BaseModel {}
Reflect.defineMetadata('design:type', Number, Row.prototype, 'score');
IntField()(Row.prototype, 'score');
Model()(Row);
const schema = buildSchema(`
  type Query { rows(orderBy: String, first: Int, after: String): Rows }
  type Rows { edges: [Edge!]! pageInfo: PageInfo! }
  type Edge { node: Row! }
  type Row { id: ID! score: Int! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
`);
const main = async () => {
  const connection = await createConnection({ type: 'sqljs', entities: [Row], synchronize: true });
  const repository = connection.getRepository(Row);
  const common = { createdById: 'none', version: 1 };
  const rows = Array.from({ length: 137 }, (_, n) => ({ id: `${n}`, score: n % 10, ...common }));
  await repository.insert(rows);
  const service = new BaseService(Row, repository);
  // As in its examples, where the decorator @RawFields() does what `graphqlFields` does.
  const resolve = ({ orderBy, ...page }, _context, info) =>
    service.findConnection({}, orderBy, page, graphqlFields(info));
  const found = [];
  for (const leaves of ['id score', 'id']) {
    let given = 'orderBy: "score_ASC", first: 20';
    const pages = [];
    while (given) {
      const inner = `edges { node { ${leaves} } } pageInfo { hasNextPage endCursor }`;
      const answer = await graphql(schema, `{ rows(${given}) { ${inner} } }`, { rows: resolve });
      if (answer.errors) pages.push(answer.errors[0].message);
      const { edges, pageInfo } = answer.data.rows ?? { edges: null, pageInfo: {} };
      if (edges) pages.push(edges.length);
      const next = `orderBy: "score_ASC", first: 20, after: "${pageInfo.endCursor}"`;
      given = pageInfo.hasNextPage ? next : '';
    }
    found.push(`${leaves}: ${pages.join(' ')}`);
  }
  console.log(found.join('\n'));
  const expected = ['id score: 20 20 20 20 20 20 17', 'id: 20 Items is empty'];
  process.exit(found.join() === expected.join() ? 0 : 1);
};
main();
JS
node main.cjs
