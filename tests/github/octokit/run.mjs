// Ask a query by @octokit/graphql: node run.mjs FOLDER BASE_URL TOKEN QUERY VARIABLES
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [folder, baseUrl, token, query, variables] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/package.json`));
const { graphql } = await import(pathToFileURL(require.resolve("@octokit/graphql")).href);
const ask = graphql.defaults({ baseUrl, headers: { authorization: `token ${token}` } });
try {
  process.stdout.write(JSON.stringify({ data: await ask(query, JSON.parse(variables)) }));
} catch (error) {
  process.stdout.write(JSON.stringify({ name: error.name, errors: error.errors, status: error.status }));
}
