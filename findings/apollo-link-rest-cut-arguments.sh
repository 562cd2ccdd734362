#!/usr/bin/env bash
# apollo-link-rest: a text with `&`, `#` or `+` in the path filters by another text, or by none.
#
# Guessed before: `path: "/rows?team={args.team}"` requests the rows of the team that the variable names,
# as `path: "/rows?{args}"` does; a list is sent as one of the forms that REST services read.
# What happens: only `{args}` as a whole is encoded. `R&D` requests the team `R`, whose row comes in the
# place of its own, `C++` finds nothing, and `#1`, which ends the address, gets the rows of all teams,
# as one without the filter. Null requests a team that is called "null". The list R, D is sent as
# `team=0=R&1=D`, which finds nothing. No error or warning says so.
# Versions: apollo-link-rest 0.9.0, @apollo/client 3.13.8, graphql 16.11.0, qs 6.14.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  apollo-link-rest@0.9.0 @apollo/client@3.13.8 graphql@16.11.0 qs@6.14.0 react@18.3.1 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const http = require('node:http');
const { ApolloClient, InMemoryCache, gql } = require('@apollo/client/core');
const { RestLink } = require('apollo-link-rest');

const teams = ['R&D', 'R', 'D', 'C++', '#1', 'null'];
const server = http.createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://127.0.0.1');
  const team = searchParams.get('team');
  const rows = teams.filter((name) => !team || name === team);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(rows.map((name) => ({ team: name }))));
});
const main = async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const uri = `http://127.0.0.1:${server.address().port}`;
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new RestLink({ uri }) });
  const read = async (path, team) => {
    const query = gql`query ($team: String) {
      rows(team: $team) @rest(type: "Row", path: "${path}") { team }
    }`;
    const { data } = await client.query({ query, variables: { team }, fetchPolicy: 'no-cache' });
    return data.rows.map((row) => row.team).join();
  };
  const found = {};
  for (const team of ['R&D', 'C++', '#1', 'R', null, ['R', 'D']]) {
    const named = await read('/rows?team={args.team}', team);
    found[JSON.stringify(team)] = [named, await read('/rows?{args}', team)];
  }
  server.close();
  server.closeAllConnections();
  console.log('team: rows by {args.team}, rows by {args}');
  console.log(found);
  const every = teams.join();
  assert.deepStrictEqual(found, {
    '"R&D"': ['R', 'R&D'],
    '"C++"': ['', 'C++'],
    '"#1"': [every, '#1'],
    '"R"': ['R', 'R'],
    null: ['null', every],
    '["R","D"]': ['', every],
  });
};
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
JS
node main.cjs
