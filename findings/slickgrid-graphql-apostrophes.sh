#!/usr/bin/env bash
# @slickgrid-universal/graphql: an apostrophe in a search is doubled, and "1e3" is the number 13.
#
# One would expect: what is typed in the filter of a column is the value of that filter in the query,
# with the quotation marks and backslashes of a text escaped as GraphQL demands.
# What happens: O'Neil is sent as O''Neil, as it would be written in SQL and OData. GraphQL has no
# such rule, so the endpoint looks for two apostrophes and finds nobody. In columns of numbers the
# letters are taken away, and what is left is another number. Quotation marks are right.
# Versions: @slickgrid-universal/graphql 10.3.0, graphql 16.15.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @slickgrid-universal/graphql@10.3.0 \
  graphql@16.15.0 >/dev/null
cat >main.mjs <<'JS'
import assert from 'node:assert';
import { parse, visit } from 'graphql';

// The service asks for these classes of the browser, of which nothing here is an instance.
globalThis.HTMLElement = class {};
globalThis.DocumentFragment = class {};
const { GraphqlService } = await import('@slickgrid-universal/graphql');

const columns = [
  { id: 'name', field: 'name', type: 'string', filterable: true },
  { id: 'size', field: 'size', type: 'number', filterable: true },
];
const grid = { getColumns: () => columns, getOptions: () => ({}) };
const search = (columnDef, text) => {
  const service = new GraphqlService();
  const pages = { pageSize: 20 };
  service.init({ datasetName: 'rows', columnDefinitions: columns }, pages, grid, {});
  const filter = { columnId: columnDef.id, columnDef, searchTerms: [text], operator: 'EQ' };
  service.updateFilters([filter], false);
  let value;
  visit(parse(service.buildQuery()), {
    ObjectField: (node) => void (node.name.value === 'value' && (value = node.value.value)),
  });
  return value;
};
const [name, size] = columns;
const found = [
  search(name, 'say "hi"'),
  search(name, "O'Neil"),
  search(size, '1000'),
  search(size, '1e3'),
];
console.log(found);
assert.deepStrictEqual(found, ['say "hi"', "O''Neil", '1000', '13']);
JS
node main.mjs
