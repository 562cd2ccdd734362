// One scenario with a client from npm: `node run.mjs SCENARIO URL`; prints a JSON value.
import { createRequire } from "node:module";
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import process from "node:process";

const [, , scenario, url, folder] = process.argv;
const require = createRequire(pathToFileURL(`${folder}/index.js`));

const collect = (subscribe) =>
  new Promise((resolve, reject) => {
    const events = [];
    subscribe({
      next: (event) => events.push(event),
      error: reject,
      complete: () => resolve(events),
    });
  });

const apollo = () => {
  globalThis.__DEV__ = false;
  return require("@apollo/client/core/core.cjs");
};
const apolloClient = (link) => {
  const { ApolloClient, InMemoryCache } = apollo();
  return new ApolloClient({ link, cache: new InMemoryCache() });
};
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// The bodies and methods that a client sends.
const recordRequests = (sent) => (target, options) => {
  sent.push({ method: options.method, body: options.body ?? null, url: String(target) });
  return fetch(target, options);
};

const scenarios = {
  async urql() {
    const { Client, cacheExchange, fetchExchange, gql } = require("@urql/core");
    const client = new Client({ url, exchanges: [cacheExchange, fetchExchange] });
    const query = await client.query(gql`{ hello }`, {}).toPromise();
    const mutation = await client.mutation(gql`mutation { add(n: 2) }`, {}).toPromise();
    return {
      query: query.data ?? null,
      message: query.error?.message ?? null,
      status: query.error?.response?.status ?? null,
      text: query.error?.networkError?.message ?? null,
      mutation: mutation.data ?? null,
    };
  },

  async apollo() {
    const { HttpLink, gql } = apollo();
    const client = apolloClient(new HttpLink({ uri: url }));
    const query = await client.query({ query: gql`{ hello }` });
    const mutation = await client.mutate({ mutation: gql`mutation { add(n: 3) }` });
    const failed = await client.query({ query: gql`{ nope }` }).catch((error) => error.message);
    return { query: query.data, mutation: mutation.data, failed };
  },

  async apolloSubscription() {
    const { HttpLink, gql } = apollo();
    const sent = [];
    const client = apolloClient(
      new HttpLink({
        uri: url,
        fetch: async (target, options) => {
          const response = await fetch(target, options);
          sent.push([options.headers.accept, response.headers.get("content-type")]);
          return response;
        },
      }),
    );
    const run = (text) =>
      collect((sink) => client.subscribe({ query: gql(text), errorPolicy: "all" }).subscribe(sink));
    const counts = await run("subscription { count(to: 3) }");
    const many = await run("subscription { count(to: 300) }");
    const broken = await run("subscription { breaks }").catch((error) => error.message);
    const wrong = await run("subscription { nope }").catch((error) => error.message);
    const stopped = await new Promise((resolve, reject) => {
      const running = client
        .subscribe({ query: gql`subscription { endless }` })
        .subscribe({ next: (event) => (running.unsubscribe(), resolve(event.data)), error: reject });
    });
    const query = (await client.query({ query: gql`{ hello }` })).data;
    return { counts: counts.map((one) => one.data), many: many.length, broken, wrong, stopped, query, sent };
  },

  async persisted() {
    const { HttpLink, gql } = apollo();
    const { createPersistedQueryLink } = require("@apollo/client/link/persisted-queries");
    const sent = [];
    const answers = [];
    for (const useGETForHashedQueries of [false, false]) {
      const link = createPersistedQueryLink({ sha256, useGETForHashedQueries });
      const client = apolloClient(link.concat(new HttpLink({ uri: url, fetch: recordRequests(sent) })));
      answers.push((await client.query({ query: gql`query Hash { hello }` })).data);
    }
    return { answers, sent: sent.map((one) => one.body.includes('"query":')) };
  },

  async persistedByGet() {
    const { HttpLink, gql } = apollo();
    const { createPersistedQueryLink } = require("@apollo/client/link/persisted-queries");
    const sent = [];
    const link = createPersistedQueryLink({ sha256, useGETForHashedQueries: true });
    const client = apolloClient(link.concat(new HttpLink({ uri: url, fetch: recordRequests(sent) })));
    const { data } = await client.query({ query: gql`query Hash { hello }` });
    return { data, methods: sent.map((one) => one.method) };
  },

  async batch() {
    const { gql } = apollo();
    const { BatchHttpLink } = require("@apollo/client/link/batch-http");
    const sent = [];
    const link = new BatchHttpLink({ uri: url, batchMax: 5, fetch: recordRequests(sent) });
    const client = apolloClient(link);
    const answers = await Promise.all(
      [gql`{ hello }`, gql`{ a: hello }`, gql`{ fail }`].map((query) =>
        client.query({ query }).then(
          (one) => one.data,
          (error) => error.message,
        ),
      ),
    );
    return { answers, requests: sent.length };
  },

  async upload() {
    const { gql } = apollo();
    const { default: createUploadLink } = await import(
      pathToFileURL(`${folder}/node_modules/apollo-upload-client/createUploadLink.mjs`)
    );
    const client = apolloClient(createUploadLink({ uri: url }));
    const mutation = gql`mutation ($files: [Upload!]!) { save(files: $files) }`;
    const files = [
      new File(["één\r\n--line"], "a.txt", { type: "text/plain" }),
      new File([new Uint8Array([0, 255, 13, 10])], "b.bin"),
    ];
    return (await client.mutate({ mutation, variables: { files } })).data;
  },

  async sseDistinct() {
    const { createClient } = require("graphql-sse");
    const client = createClient({ url, singleConnection: false, retryAttempts: 0 });
    const query = { query: "subscription { count(to: 3) }" };
    const events = await collect((sink) => client.subscribe(query, sink));
    const single = await collect((sink) => client.subscribe({ query: "{ hello }" }, sink));
    return { events: events.map((one) => one.data), single: single.map((one) => one.data) };
  },

  async sseSingle() {
    const { createClient } = require("graphql-sse");
    const sent = [];
    const client = createClient({
      url,
      singleConnection: true,
      retryAttempts: 0,
      fetchFn: recordRequests(sent),
    });
    const counts = await Promise.all(
      [2, 3].map((to) => {
        const query = { query: `subscription { count(to: ${to}) }` };
        return collect((sink) => client.subscribe(query, sink));
      }),
    );
    const single = await collect((sink) => client.subscribe({ query: "{ hello }" }, sink));
    const wrong = await collect((sink) => client.subscribe({ query: "{ nope }" }, sink));
    // Stopping one of two leaves the other.
    const kept = collect((sink) => client.subscribe({ query: "subscription { count(to: 4) }" }, sink));
    const stopped = await new Promise((resolve) => {
      const stop = client.subscribe(
        { query: "subscription { endless }" },
        { next: (event) => (stop(), resolve(event.data)), error: () => {}, complete: () => {} },
      );
    });
    const rest = await kept;
    client.dispose();
    return {
      counts: counts.map((events) => events.map((one) => one.data.count)),
      single: single.map((one) => one.data),
      wrong: wrong.map((one) => one.errors.length),
      rest: rest.length,
      stopped,
      methods: sent.map((one) => one.method),
    };
  },

  async socket() {
    const { createClient } = require("graphql-ws");
    const client = createClient({
      url: url.replace("http", "ws"),
      webSocketImpl: require("ws"),
      retryAttempts: 0,
    });
    const query = { query: "subscription { count(to: 3) }" };
    const events = await collect((sink) => client.subscribe(query, sink));
    await client.dispose();
    return events.map((one) => one.data);
  },

  async graphqlRequest() {
    const { GraphQLClient } = await import(
      pathToFileURL(`${folder}/node_modules/graphql-request/build/entrypoints/main.js`)
    );
    const client = new GraphQLClient(url);
    const batch = await client
      .batchRequests([{ document: "{ hello }" }, { document: "{ a: hello }" }])
      .then((all) => all.map((one) => one.data))
      .catch((error) => error.response?.status ?? error.message);
    return { single: await client.request("{ hello }"), batch };
  },

  async compressed() {
    const answers = {};
    for (const coding of ["gzip", "br", "identity"]) {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "accept-encoding": coding },
        body: JSON.stringify({ query: "{ long }" }),
      });
      const { data } = await answer.json();
      answers[coding] = [answer.headers.get("content-encoding"), data.long.length];
    }
    return answers;
  },
};

const result = await scenarios[scenario]();
process.stdout.write(JSON.stringify(result));
process.exit(0);
