#!/usr/bin/env bash
# @octokit/graphql-schema: its two files are GitHub's schema of two different days.
#
# Guessed before: schema.graphql and schema.json of one release hold the same types, and
# buildSchema() reads the first.
# What happens: 34 types are in schema.graphql alone, sub-issues and merge queue rules among them,
# and four in schema.json alone. validate() of the package reads the JSON, and so refuses
# `subIssues`, which the SDL beside it has. The SDL in turn is refused by graphql-js, as
# it defines two fields of EnterpriseOwnerInfo twice.
# Versions: @octokit/graphql-schema 15.26.1, graphql 16.13.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @octokit/graphql-schema@15.26.1 graphql@16.13.0 >/dev/null
cat >run.mjs <<'JS'
import { schema, validate } from "@octokit/graphql-schema";
import { buildASTSchema, buildClientSchema, buildSchema, parse } from "graphql";

const text = schema.idl;
const ofText = Object.keys(
  buildASTSchema(parse(text), { assumeValid: true, assumeValidSDL: true }).getTypeMap(),
);
const ofJson = Object.keys(buildClientSchema(schema.json.data ?? schema.json).getTypeMap());
const onlyText = ofText.filter((name) => !ofJson.includes(name));
const onlyJson = ofJson.filter((name) => !ofText.includes(name));
const query = `{ repository(owner: "o", name: "n") { issue(number: 1) { subIssues(first: 1) { totalCount } } } }`;
const messages = validate(query).map((error) => error.message);
let refusal = "";
try {
  buildSchema(text);
} catch (error) {
  refusal = error.message.split("\n")[0];
}
console.log({ onlyText: onlyText.length, onlyJson: onlyJson.length, messages, refusal });
const isSame =
  onlyText.length === 34 &&
  onlyText.includes("AddSubIssueInput") &&
  onlyJson.length === 4 &&
  messages.length === 1 &&
  messages[0].includes("subIssues") &&
  refusal.includes("can only be defined once");
if (!isSame) process.exit(1);
JS
node run.mjs
