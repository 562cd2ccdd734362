#!/usr/bin/env bash
# tabular-json: behind a row with an empty list, all rows whose lists have values are lost.
#
# Guessed before: `flatten` gives one line for each text in a list, one for a row whose list is empty,
# and two lines for two rows with the same values.
# What happens: of 137 repositories with two topics each all lines come. If the one at 50 has none, its
# line comes and those of the 50 before it, and the 86 behind it are lost. If the first has none, its
# line is the only one, and if each third has none, the lines of these 46 are. Two equal rows are one
# line, so that two measurements of 3 have the sum 3. No error or warning says so.
# Versions: tabular-json 0.1.3, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error tabular-json@0.1.3 >/dev/null
cat >main.cjs <<'JS'
const tabular = require('tabular-json');

const build = (isEmpty) => Array.from({ length: 137 }, (_, index) => ({
  name: `r${index}`,
  topics: isEmpty(index) ? [] : ['a', 'b'],
}));
const count = (rows) => {
  const lines = tabular.flatten(rows);
  return `${new Set(lines.map((line) => line.name)).size} of ${rows.length}`;
};
const found = [
  `full: ${count(build(() => false))}`,
  `each third empty: ${count(build((index) => index % 3 === 0))}`,
  `first empty: ${count(build((index) => index === 0))}`,
  `one empty: ${count(build((index) => index === 50))}`,
  `equal: ${tabular.flatten([{ value: 3 }, { value: 3 }]).length} of 2`,
].join('\n');
console.log(found);
const expected = [
  'full: 137 of 137',
  'each third empty: 46 of 137',
  'first empty: 1 of 137',
  'one empty: 51 of 137',
  'equal: 1 of 2',
];
process.exit(found === expected.join('\n') ? 0 : 1);
JS
node main.cjs
