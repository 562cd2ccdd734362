#!/usr/bin/env bash
# nestjs-graphql-tools: two conditions on one column are both read with the value of the last.
#
# One would expect: `or` of `n = 3` and `n = 4` gives the rows of both, as `in: [3, 4]` does, and `and`
# of `n > 3` and `n < 6` those between; `neq: 3` leaves out the rows with 3.
# What happens: the values are parameters of one SQL query that are named after the column, so that
# one replaces the other: `or` gives the rows of the condition that stands last, `and` none at all.
# `neq: 3` keeps the rows with 3, and leaves out those without a value.
# Versions: nestjs-graphql-tools 0.9.1, Nest 10.4 with @nestjs/graphql 12.2, TypeORM 0.3.20, sql.js
# 1.8.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  nestjs-graphql-tools@0.9.1 @nestjs/common@10.4.15 @nestjs/core@10.4.15 @nestjs/graphql@12.2.2 \
  @nestjs/typeorm@10.0.2 typeorm@0.3.20 sql.js@1.8.0 graphql@16.15.0 reflect-metadata@0.2.2 \
  rxjs@7.8.1 lodash@4.17.21 ts-morph@24.0.0 typescript@5.6.3 >/dev/null
cat >main.ts <<'TS'
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Field, GraphQLModule, GraphQLSchemaHost, Int, ObjectType, Query } from '@nestjs/graphql';
import { AbstractGraphQLDriver, Resolver } from '@nestjs/graphql';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { graphql } from 'graphql';
import { Filter, GraphqlFilter } from 'nestjs-graphql-tools';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';

declare const process: any;

@Entity() @ObjectType()
class Row {
  @PrimaryColumn() @Field(() => Int) id!: number;
  @Column({ type: 'integer', nullable: true }) @Field(() => Int, { nullable: true }) n?: number;
}

@Resolver(() => Row)
class Rows {
  constructor(@InjectRepository(Row) readonly repository: Repository<Row>) {}

  @Query(() => [Row]) @GraphqlFilter()
  rows(@Filter(() => Row, { sqlAlias: 't' } as any) filter: any) {
    return this.repository.createQueryBuilder('t').where(filter).getMany();
  }
}

class Driver extends AbstractGraphQLDriver<any> {
  async start() {}
  async stop() {}
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'sqljs', synchronize: true, entities: [Row] }),
    TypeOrmModule.forFeature([Row]),
    GraphQLModule.forRoot({ driver: Driver, autoSchemaFile: true }),
  ],
  providers: [Rows],
})
class App {}

const main = async () => {
  const app = await NestFactory.createApplicationContext(App, { logger: ['error'] });
  const rows = Array.from({ length: 80 }, (_, id) => ({ id, n: id % 8 || null }));
  await app.get(Rows).repository.insert(rows as any);
  const { schema } = app.get(GraphQLSchemaHost);
  const found: string[] = [];
  for (const where of [
    'n: {in: [3, 4]}', 'or: [{n: {eq: 3}}, {n: {eq: 4}}]',
    'n: {between: [4, 5]}', 'and: [{n: {gt: 3}}, {n: {lt: 6}}]',
    'n: {neq: 3}',
  ]) {
    const answer: any = await graphql({ schema, source: `{ rows(where: {${where}}) { n } }` });
    const values = new Set(answer.data.rows.map((row: Row) => row.n));
    found.push(`${where}: ${answer.data.rows.length} rows, n: ${[...values].join(' ')}`);
  }
  console.log(found.join('\n'));
  const expected = [
    'n: {in: [3, 4]}: 20 rows, n: 3 4',
    'or: [{n: {eq: 3}}, {n: {eq: 4}}]: 10 rows, n: 4',
    'n: {between: [4, 5]}: 20 rows, n: 4 5',
    'and: [{n: {gt: 3}}, {n: {lt: 6}}]: 0 rows, n: ',
    'n: {neq: 3}: 70 rows, n: 1 2 3 4 5 6 7',
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
};
main();
TS
npx tsc --target es2021 --module commonjs --emitDecoratorMetadata --experimentalDecorators \
  --skipLibCheck main.ts
node main.js
