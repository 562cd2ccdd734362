#!/usr/bin/env bash
# nestjs-query: a cursor or an offset without a size gives no rows, and says that there are 0.
#
# One would expect: the schema has `paging: CursorPaging! = {first: 10}`, so that a page behind a
# cursor has 10 rows, or all that are left; `totalCount` is 37 in each answer.
# What happens: `paging: {after: ...}` replaces that default, and the absent `first` is read as 0,
# which skips the query. The answer is `totalCount: 0` and `hasNextPage: false` without rows, which
# looks like an empty table. So it is with `paging: {last: 5}` and with `paging: {offset: 10}`.
# Versions: @ptc-org/nestjs-query-graphql 9.5.0 with -core and -typeorm, TypeORM 0.3.27, sql.js
# 1.13.0, @nestjs/graphql 13.2.0, @apollo/server 4.12.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @ptc-org/nestjs-query-graphql@9.5.0 @ptc-org/nestjs-query-core@9.5.0 \
  @ptc-org/nestjs-query-typeorm@9.5.0 typeorm@0.3.27 sql.js@1.13.0 @nestjs/typeorm@11.0.0 \
  @nestjs/core@11.1.6 @nestjs/common@11.1.6 @nestjs/platform-express@11.1.6 \
  @nestjs/graphql@13.2.0 @nestjs/apollo@13.2.1 @apollo/server@4.12.2 graphql@16.11.0 \
  @apollo/subgraph@2.11.0 @as-integrations/express5@1.1.2 class-transformer@0.5.1 \
  class-validator@0.14.2 dataloader@2.2.3 \
  graphql-subscriptions@3.0.0 rxjs@7.8.2 reflect-metadata@0.2.2 ts-morph@26.0.0 \
  lodash.merge@4.6.2 lodash.omit@4.5.0 >/dev/null
cat >main.cjs <<'JS'
require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { GraphQLModule, ID, ObjectType } = require('@nestjs/graphql');
const { ApolloDriver } = require('@nestjs/apollo');
const { TypeOrmModule } = require('@nestjs/typeorm');
const {
  FilterableField, NestjsQueryGraphQLModule, PagingStrategies, QueryOptions,
} = require('@ptc-org/nestjs-query-graphql');
const { NestjsQueryTypeOrmModule } = require('@ptc-org/nestjs-query-typeorm');
const { DataSource, Entity, PrimaryColumn } = require('typeorm');

class Row {}
PrimaryColumn('integer')(Row.prototype, 'id');
Entity()(Row);

const describeType = (name, pagingStrategy) => {
  const type = class {};
  FilterableField(() => ID)(type.prototype, 'id');
  ObjectType(name)(type);
  QueryOptions({ pagingStrategy, enableTotalCount: true })(type);
  return type;
};
const off = { disabled: true };
const serveType = (DTOClass) => NestjsQueryGraphQLModule.forFeature({
  imports: [NestjsQueryTypeOrmModule.forFeature([Row])],
  resolvers: [{ DTOClass, EntityClass: Row, create: off, update: off, delete: off }],
});

class App {}
Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'sqljs', entities: [Row], synchronize: true }),
    GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true }),
    serveType(describeType('Entry', PagingStrategies.CURSOR)),
    serveType(describeType('Item', PagingStrategies.OFFSET)),
  ],
})(App);

const main = async () => {
  const app = await NestFactory.create(App, { logger: ['error'] });
  const rows = Array.from({ length: 37 }, (_, index) => ({ id: index + 1 }));
  await app.get(DataSource).getRepository(Row).insert(rows);
  await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${app.getHttpServer().address().port}/graphql`;
  const ask = async (field, inner, paging) => {
    const given = paging ? `(paging: ${paging})` : '';
    const query = `{ ${field}${given} { totalCount ${inner} pageInfo { hasNextPage } } }`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const page = (await response.json()).data[field];
    const shown = (page.edges ?? page.nodes).length;
    return `${field} ${paging || '-'}: ${shown} ${page.totalCount} ${page.pageInfo.hasNextPage}`;
  };
  const after = JSON.stringify(Buffer.from('arrayconnection:9').toString('base64'));
  const found = [
    await ask('entries', 'edges { cursor }', ''),
    await ask('entries', 'edges { cursor }', `{first: 10, after: ${after}}`),
    await ask('entries', 'edges { cursor }', `{after: ${after}}`),
    await ask('entries', 'edges { cursor }', '{last: 5}'),
    await ask('items', 'nodes { id }', '{limit: 10, offset: 10}'),
    await ask('items', 'nodes { id }', '{offset: 10}'),
  ];
  console.log(`paging: rows, totalCount, hasNextPage\n${found.join('\n')}`);
  await app.close();
  const answers = found.map((line) => line.slice(line.lastIndexOf(': ') + 2)).join();
  const isSame = answers === '10 37 true,10 37 true,0 0 false,0 0 false,10 37 true,0 0 false';
  process.exit(isSame ? 0 : 1);
};
main();
JS
node main.cjs
