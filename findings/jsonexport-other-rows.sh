#!/usr/bin/env bash
# jsonexport: with `fillTopRow` or `fillGaps` a value stands in the row of another label.
#
# Guessed before: each object in a nested list is one line of the CSV; `fillTopRow` puts the values of
# the outer row on its first line, and `fillGaps` repeats them on the lines below.
# What happens: `fillTopRow` pushes the values of the nested objects up, too. Where a label has no
# size, or null, the size of the next one stands in its line: `large` has the size 7, and has none in
# the CSV, while `plain`, which has no size, has 7. `fillGaps` fills the missing sizes with the size
# of the label above, and leaves empty the stars, which the lines above their own lack. Without an option
# the stars stand on the line of the last label, beside its size. No error or warning says so.
# Versions: jsonexport 3.2.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error jsonexport@3.2.0 >/dev/null
cat >main.cjs <<'JS'
const assert = require('node:assert');
const jsonexport = require('jsonexport');

const labels = [
  { name: 'small', size: 4 },
  { name: 'none', size: null },
  { name: 'plain' },
  { name: 'large', size: 7 },
];
const rows = [{ id: 'r1', labels, stars: 9 }];
const main = async () => {
  const found = {};
  for (const option of ['none', 'fillTopRow', 'fillGaps']) {
    found[option] = (await jsonexport(rows, { [option]: true })).split('\n');
    console.log(`${option}:\n${found[option].join('\n')}`);
  }
  const header = 'id,labels.name,labels.size,stars';
  assert.deepStrictEqual(found, {
    none: [header, 'r1,small,4,', ',none,,', ',plain,,', ',large,7,9'],
    fillTopRow: [header, 'r1,small,4,9', ',none,,', ',plain,7,', ',large,,'],
    fillGaps: [header, 'r1,small,4,', 'r1,none,4,', 'r1,plain,4,', 'r1,large,7,9'],
  });
};
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
JS
node main.cjs
