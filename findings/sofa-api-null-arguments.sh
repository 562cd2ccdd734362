#!/usr/bin/env bash
# sofa-api: null in the body of a request is left out.
#
# One would expect: the body's members are the arguments of the mutation; null, which is how GraphQL
# clears a value, is another thing than no argument, for which the default is taken.
# What happens: null is dropped before the call: `{"note": null}` leaves the note as it was, or sets
# the default, with status 200. In an input object null is kept. In an address, an empty value is
# dropped in the same way: `?name=` is no filter at all.
# Versions: sofa-api 0.18.10, @graphql-tools/schema 10.1.5, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps sofa-api@0.18.10 \
  @graphql-tools/schema@10.1.5 graphql@16.15.0 >/dev/null
cat >main.cjs <<'JS'
const { graphql } = require('graphql');
const { makeExecutableSchema } = require('@graphql-tools/schema');
const { useSofa } = require('sofa-api');

const show = (_, args) => JSON.stringify(args);
const typeDefs = `
  input Change { note: String }
  type Query { rows(name: String): String }
  type Mutation { edit(note: String = "none", change: Change): String }
`;
const resolvers = { Query: { rows: show }, Mutation: { edit: show } };
const schema = makeExecutableSchema({ typeDefs, resolvers });
const sofa = useSofa({ basePath: '/api', schema });
const ask = async (path, body) => {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return JSON.parse(await (await sofa.fetch(`http://localhost/api/${path}`, init)).json());
};
(async () => {
  const source = 'mutation ($note: String) { edit(note: $note) }';
  const { data } = await graphql({ schema, source, variableValues: { note: null } });
  const found = [
    JSON.parse(data.edit),
    await ask('edit', { note: null }),
    await ask('edit', { note: '', change: { note: null } }),
    await ask('rows?name='),
  ];
  console.log(JSON.stringify(found));
  const expected = [{ note: null }, { note: 'none' }, { note: '', change: { note: null } }, {}];
  process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
})();
JS
node main.cjs
