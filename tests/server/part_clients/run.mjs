// Reads one operation with each client and prints what it saw: node run.mjs FOLDER URL QUERY
// Each value is a list of the data after each part, as the client itself merges them.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, query] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));

const { ApolloClient, HttpLink, InMemoryCache, gql } = await load("@apollo/client");
const { Defer20220824Handler, GraphQL17Alpha9Handler } = await load("@apollo/client/incremental");
const urql = await load("@urql/core");
const { subscribe } = await load("wonka");
const { createClient } = await load("graphql-sse");
const { meros } = await load("meros/browser"); // it reads the responses of fetch

async function readByApollo(Handler) {
  const client = new ApolloClient({
    link: new HttpLink({ uri: url }),
    cache: new InMemoryCache(),
    incrementalHandler: new Handler(),
  });
  const seen = [];
  await new Promise((resolve, reject) => {
    const query$ = client.watchQuery({ query: gql(query), errorPolicy: "all", fetchPolicy: "no-cache" });
    query$.subscribe({
      next(result) {
        if (result.dataState !== "empty") seen.push(result.data);
        if (!result.loading && result.dataState === "complete") resolve();
        if (result.error) reject(result.error);
      },
      error: reject,
    });
  });
  client.stop();
  return seen;
}

async function readByUrql() {
  const client = new urql.Client({ url, exchanges: [urql.fetchExchange], preferGetMethod: false });
  const seen = [];
  await new Promise((resolve, reject) => {
    subscribe((result) => {
      if (result.error) reject(result.error);
      seen.push(structuredClone(result.data));
      if (!result.hasNext) resolve();
    })(client.query(query, {}));
  });
  return seen;
}

async function readByGraphqlSse() {
  const client = createClient({ url });
  const seen = [];
  for await (const part of client.iterate({ query })) seen.push(part);
  client.dispose();
  return seen;
}

async function readByMeros() {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "multipart/mixed" },
    body: JSON.stringify({ query }),
  });
  const seen = [];
  for await (const part of await meros(response)) seen.push(part.body);
  return seen;
}

const found = {
  "apollo 2022": await readByApollo(Defer20220824Handler),
  "apollo 2023": await readByApollo(GraphQL17Alpha9Handler),
  urql: await readByUrql(),
  "graphql-sse": await readByGraphqlSse(),
  meros: await readByMeros(),
};
console.log(JSON.stringify(found));
process.exit(0);
