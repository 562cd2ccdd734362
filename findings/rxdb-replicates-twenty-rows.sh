#!/usr/bin/env bash
# RxDB: without `batchSize` the first 20 rows of a GraphQL endpoint are replicated, and taken for all.
#
# Guessed before: `pull.batchSize` is optional, with 100 as its default by the comment on its type, so
# that a first replication of 130 rows takes two requests and ends with 130 documents.
# What happens: the GraphQL plugin asks for 20 rows by a default of its own, and the replication, whose
# default is 100, ends at an answer with fewer rows than that, which is the first one. A replication
# that is not live is then over: `awaitInitialReplication()` resolves, no error is emitted, and the
# collection counts 20 documents. With `batchSize: 20` or 100 it has all 130.
# Versions: rxdb 17.6.0 with its storage in memory, rxjs 7.8.2, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  rxdb@17.6.0 rxjs@7.8.2 graphql@16.11.0 >/dev/null
cat >main.mjs <<'JS'
import { buildSchema, graphql } from 'graphql';
import { createRxDatabase } from 'rxdb/plugins/core';
import { replicateGraphQL } from 'rxdb/plugins/replication-graphql';
import { getRxStorageMemory } from 'rxdb/plugins/storage-memory';

const schema = buildSchema(`
  type Row { id: ID! updatedAt: Float! deleted: Boolean! }
  type Checkpoint { id: String! updatedAt: Float! }
  input CheckpointInput { id: String! updatedAt: Float! }
  type Pull { documents: [Row!]! checkpoint: Checkpoint }
  type Query { pullRow(checkpoint: CheckpointInput, limit: Int!): Pull! }`);
const rows = Array.from({ length: 130 }, (_, index) => {
  return { id: String(1000 + index), updatedAt: index + 1, deleted: false };
});
const pullRow = ({ checkpoint, limit }) => {
  const documents = rows.filter((row) => row.updatedAt > (checkpoint?.updatedAt ?? 0)).slice(0, limit);
  return { documents, checkpoint: documents.at(-1) ?? checkpoint };
};
const query = `query Pull($checkpoint: CheckpointInput, $limit: Int!) {
  pullRow(checkpoint: $checkpoint, limit: $limit) {
    documents { id updatedAt deleted } checkpoint { id updatedAt }
  }
}`;
const properties = { id: { type: 'string', maxLength: 10 }, updatedAt: { type: 'number' } };
const rowSchema = { version: 0, primaryKey: 'id', type: 'object', properties };
const replicate = async (options) => {
  const storage = getRxStorageMemory();
  const name = `db${options.batchSize ?? ''}`;
  const database = await createRxDatabase({ name, storage, multiInstance: false });
  const { row } = await database.addCollections({ row: { schema: rowSchema } });
  const limits = [];
  const state = replicateGraphQL({
    collection: row,
    replicationIdentifier: 'rows',
    url: { http: 'http://127.0.0.1/graphql' },
    deletedField: 'deleted',
    live: false,
    fetch: async (...request) => {
      const { query: source, variables: variableValues } = await new Request(...request).json();
      limits.push(variableValues.limit);
      const rootValue = { pullRow };
      return Response.json(await graphql({ schema, source, variableValues, rootValue }));
    },
    pull: {
      ...options,
      queryBuilder: (checkpoint, limit) => ({ query, variables: { checkpoint, limit } }),
    },
  });
  const errors = [];
  state.error$.subscribe((error) => errors.push(error));
  await state.awaitInitialReplication();
  const count = await row.count().exec();
  console.log(`${JSON.stringify(options)}: ${count} rows, requested ${limits}; ${errors.length} errors`);
  return [count, limits.length, errors.length].join(' ');
};
const found = [
  await replicate({}),
  await replicate({ batchSize: 20 }),
  await replicate({ batchSize: 100 }),
];
process.exit(found.join() === '20 1 0,130 7 0,130 2 0' ? 0 : 1);
JS
node main.mjs
