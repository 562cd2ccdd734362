#!/usr/bin/env bash
# Apollo Server: an array of requests is answered with status 400 although a mutation in it ran.
#
# One would expect: an array of answers has status 200, since each answer says for itself what
# became of its request; 400 would mean that nothing was executed. GraphQL Yoga 5 does that.
# What happens: the status of the array is that of one refused request. The body is the array all
# the same, with the data of the mutation that was executed; a client that looks at the status
# first reports the mutation as refused, and sends it again.
# Versions: @apollo/server 5.0.0, graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @apollo/server@5.0.0 graphql@16.11.0 >/dev/null
cat >main.mjs <<'JS'
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

let runs = 0;
const server = new ApolloServer({
  typeDefs: 'type Query { hello: String } type Mutation { add: Int }',
  resolvers: { Mutation: { add: () => (runs += 1) } },
  allowBatchedHttpRequests: true,
});
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
const body = JSON.stringify([{ query: 'mutation { add }' }, { query: '{ helo }' }]);
const headers = { 'Content-Type': 'application/json' };
const response = await fetch(url, { method: 'POST', headers, body });
const [first, second] = await response.json();
await server.stop();
const line = `status ${response.status}, data ${JSON.stringify(first.data)}, mutations run: ${runs}`;
console.log(`${line}, second: ${second.errors[0].extensions.code}`);
process.exit(response.status === 400 && first.data.add === 1 && runs === 1 ? 0 : 1);
JS
node main.mjs
