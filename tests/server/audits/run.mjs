// Runs the audits of npm graphql-http against a server, one after the other, and prints what came
// of each as JSON. Run all at once, as auditServer() does, one broken connection would end them all.
//
//     node run.mjs URL FOLDER        (FOLDER holds node_modules)

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const SECONDS = 20;
const [url, folder] = process.argv.slice(2);
const { serverAudits } = createRequire(join(resolve(folder), "package.json"))("graphql-http");

/** Run one audit; whatever it throws, and however long it takes, is its own result. */
async function contained(audit) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer in ${SECONDS} s`)), SECONDS * 1000);
  });
  try {
    const { id, name, status, reason } = await Promise.race([audit.fn(), late]);
    return { id, name, status, reason };
  } catch (error) {
    return { id: audit.id, name: audit.name, status: "fatal", reason: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

const found = [];
for (const audit of serverAudits({ url, fetchFn: fetch })) {
  found.push(await contained(audit));
}
process.stdout.write(JSON.stringify(found));
