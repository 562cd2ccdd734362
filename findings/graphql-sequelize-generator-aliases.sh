#!/usr/bin/env bash
# graphql-sequelize-generator: a field under the name of another column is null.
#
# One would expect: `{ book { title: author } }` gives the author, under the name `title`.
# What happens: the names in the answer are taken for the columns to read, so that the title is read
# from the database and the author is not: it is null, without an error. With `author` selected as
# well, both are right; a name that is no column, `{ book { by: author } }`, is an error.
# Versions: @teamstarter/graphql-sequelize-generator 9.7.1, graphql-sequelize 9.5.1, Sequelize 6.28.0,
# graphql 16.15.0, pgserver 0.1.4 (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @teamstarter/graphql-sequelize-generator@9.7.1 graphql-sequelize@9.5.1 graphql-relay@0.10.2 \
  dataloader-sequelize@2.3.3 sequelize@6.28.0 graphql@16.15.0 pg@8.23.1 >/dev/null
cat >main.cjs <<'JS'
const { generateModelTypes, generateSchema } = require('@teamstarter/graphql-sequelize-generator');
const { createContext, EXPECTED_OPTIONS_KEY } = require('dataloader-sequelize');
const { GraphQLSchema, graphql } = require('graphql');
const { DataTypes, Sequelize } = require('sequelize');

const main = async () => {
  const options = { dialect: 'postgres', host: process.argv[2], logging: false };
  const sequelize = new Sequelize('postgres', 'postgres', '', options);
  const columns = { title: DataTypes.STRING, author: DataTypes.STRING };
  const book = sequelize.define('book', columns, { timestamps: false });
  await sequelize.sync();
  await book.create({ title: 'Emma', author: 'Austen' });
  const models = { book, sequelize, Sequelize };
  const graphqlSchemaDeclaration = { book: { model: book, actions: ['list'] } };
  const types = generateModelTypes(models);
  const parts = { graphqlSchemaDeclaration, types, models, globalPreCallback: () => null };
  const schema = new GraphQLSchema(generateSchema(parts));
  const found = [];
  for (const leaves of ['title: author', 'title: author author', 'by: author']) {
    const contextValue = { [EXPECTED_OPTIONS_KEY]: createContext(sequelize) };
    const { data, errors } = await graphql({ schema, source: `{ book { ${leaves} } }`, contextValue });
    found.push(`found: ${leaves}: ${errors ? errors[0].message : JSON.stringify(data.book[0])}`);
  }
  console.log(found.join('\n'));
  const expected = [
    'found: title: author: {"title":null}',
    'found: title: author author: {"title":"Austen","author":"Austen"}',
    'found: by: author: column "by" does not exist',
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
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
