// Builds the bundle: node build.mjs FOLDER, beside the packages that `npm ci` has put here.
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const HERE = import.meta.dirname;
const out = resolve(process.argv[2]);
const MODULES = join(HERE, "node_modules");

// The text fonts are two thirds of the style sheet; the page's own do as well. Monaco's icons stay.
const withoutTextFonts = {
  name: "without-text-fonts",
  setup(made) {
    made.onLoad({ filter: /graphiql[\\/]dist[\\/]style\.css$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const kept = text.replace(/@font-face\s*\{[^}]*\}/g, (face) =>
        /font-family:\s*["']?codicon/.test(face) ? face : "",
      );
      return { contents: kept, loader: "css" };
    });
  },
};

// Changes of single expressions in GraphiQL's packages, by the end of the file's path.
const FONT = 'fontFamily: "\\"Fira Code\\"",';
const OWN_FONT = "fontFamily: \"var(--jp-code-font-family, ui-monospace, 'DejaVu Sans Mono', monospace)\",";
const CHANGES = {
  "@graphiql/react/dist/utility/create-editor.js": [
    [FONT, OWN_FONT], // named alone, it would fall back to a font of unequal widths
    ["fontSize: 15", "fontSize: 13"],
    ["scrollbar: {", "scrollbar: { alwaysConsumeMouseWheel: false,"], // the page scrolls on at the end
  ],
  // A tab must not hold the button that closes it: these are items of a list, with two buttons.
  "@graphiql/react/dist/components/tabs/index.js": [
    ['"aria-selected": isActive', '"aria-current": isActive'],
    ['role: "tab",', ""],
    ['role: "tablist",', ""],
  ],
  // Landmarks of one name would repeat where several views are on a page.
  "graphiql/dist/GraphiQL.js": [
    ['"section", {', '"div", { role: "group",'],
    ['role: "tabpanel",', 'role: "group",'],
  ],
  "@graphiql/react/dist/components/response-editor.js": [['"section", {', '"div", { role: "group",']],
};
const withChanges = {
  name: "with-changes",
  setup(made) {
    for (const [path, changes] of Object.entries(CHANGES))
      made.onLoad({ filter: new RegExp(`node_modules[\\\\/]${path.replaceAll("/", "[\\\\/]")}$`) }, async (file) => {
        let contents = await readFile(file.path, "utf8");
        for (const [from, to] of changes) {
          if (!contents.includes(from)) throw new Error(`${path} has no ${from}`);
          contents = contents.replaceAll(from, to);
        }
        return { contents };
      });
  },
};

// Variables are laid out without a parser of JavaScript, a tenth of all that a page would read.
const JSON_LAYOUT = "./prettier-json.mjs";

const options = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  outdir: out,
  target: "es2022",
  define: { "process.env.NODE_ENV": '"production"' },
  loader: { ".ttf": "dataurl" },
  alias: { "prettier/plugins/estree": JSON_LAYOUT, "prettier/parser-babel": JSON_LAYOUT },
  jsx: "automatic",
  legalComments: "none", // the notices are collected below, whole
  logLevel: "warning",
};

const worker = (name, path) =>
  build({ ...options, entryPoints: [{ out: name, in: path }], format: "iife" });

const built = await Promise.all([
  build({ ...options, entryPoints: ["graphiql.jsx"], format: "esm", plugins: [withoutTextFonts, withChanges] }),
  build({ ...options, entryPoints: ["prettier.mjs"], format: "esm" }),
  worker("editor.worker", "monaco-editor/esm/vs/editor/editor.worker.js"),
  worker("json.worker", "monaco-editor/esm/vs/language/json/json.worker.js"),
  worker("graphql.worker", "monaco-graphql/esm/graphql.worker.js"),
]);

/** Return the folder of the package that a source is of, below node_modules. */
function packageOf(source) {
  const parts = source.split("/");
  const at = parts.lastIndexOf("node_modules") + 1;
  if (!at) return null;
  const length = parts[at].startsWith("@") ? 2 : 1;
  return parts.slice(parts.indexOf("node_modules") + 1, at + length).join("/");
}

const used = new Set();
for (const { metafile } of built)
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [source, { bytesInOutput }] of Object.entries(inputs))
      if (bytesInOutput && packageOf(source)) used.add(packageOf(source));
// Styles come bundled in GraphiQL's own; these packages have no other trace.
for (const name of ["graphiql", "monaco-editor"]) used.add(name);

const NOTICES = /^(licen[cs]e|copying|notice|third-?party)/i;
// These hold no licence file; those named beside them do, by the same authors and of the same name.
const SAME_AUTHORS = {
  "@graphiql/plugin-doc-explorer": "graphiql",
  "@graphiql/plugin-history": "graphiql",
  "react-compiler-runtime": "react",
  "react-remove-scroll-bar": "react-remove-scroll",
};

/** Return the texts of the licence files in the folder of a package. */
async function noticesIn(folder) {
  const files = (await readdir(folder)).filter((file) => NOTICES.test(file)).sort();
  return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
}

const sections = [];
for (const name of [...used].sort()) {
  const folder = join(MODULES, name);
  const { name: called, version, license, author, homepage } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  let texts = await noticesIn(folder);
  if (!texts.length && called in SAME_AUTHORS)
    texts = await noticesIn(join(MODULES, SAME_AUTHORS[called]));
  if (!texts.length) throw new Error(`${called} has no licence file; see SAME_AUTHORS`);
  const who = typeof author === "string" ? author : (author?.name ?? "");
  const about = [who && `By ${who}.`, homepage].filter(Boolean).join(" ");
  const head = `${called} ${version}, ${license}\n${about}`.trim();
  sections.push([head, ...texts.map((text) => text.trim())].join("\n\n"));
}
const rule = `\n\n${"=".repeat(72)}\n\n`;
const notices = ["The GraphiQL bundle beside this file contains these packages.", ...sections];

// One other character makes V8 keep the whole of a script with two bytes for each: 4.6 MB more. Only
// regular expressions have any left, which read the escapes alike.
const inAscii = ({ path, text }) =>
  path.endsWith(".js")
    ? text.replace(/[^\0-\x7f]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;

await mkdir(out, { recursive: true });
for (const file of built.flatMap(({ outputFiles }) => outputFiles))
  await writeFile(join(out, `${basename(file.path)}.gz`), gzipSync(inAscii(file), { level: 9 }));
await writeFile(join(out, "NOTICES.txt"), `${notices.join(rule)}\n`);
