#!/usr/bin/env bash
# dataframe-js: the least of a column with a null is 0, and so is the largest of negative numbers.
#
# Guessed before: the statistics of a nullable column leave its nulls out, as the mean does.
# What happens: `stat.mean` of 3, null and 5 is 4, with the null left out, and `stat.min` is 0, which
# no row has; `stat.max` of -3, null and -5 is 0. A field that is absent is left out by all of them,
# so that the result depends on how the row lacks its value. `filter` with `v < 4` keeps the null.
# Versions: dataframe-js 1.4.4, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error dataframe-js@1.4.4 >/dev/null
cat >main.cjs <<'JS'
const { DataFrame } = require('dataframe-js');

const summarize = (values) => {
  const { stat } = new DataFrame(values.map((v) => ({ v })));
  return [stat.min('v'), stat.max('v'), stat.mean('v')].join();
};
const found = [
  `null: ${summarize([3, null, 5])}`,
  `negative: ${summarize([-3, null, -5])}`,
  `absent: ${summarize([3, undefined, 5])}`,
].join('\n');
console.log(`least, largest, mean\n${found}`);
process.exit(found === 'null: 0,5,4\nnegative: -5,0,-4\nabsent: 3,5,4' ? 0 : 1);
JS
node main.cjs
