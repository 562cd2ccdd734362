#!/usr/bin/env bash
# csvkit: in2csv changes texts of JSON into numbers, truth values and nothing.
#
# Guessed before: JSON says what is text, so that `in2csv -f json` keeps it: an id "007", a
# version "1", a name "None"; types are inferred for CSV, which has none.
# What happens: the texts are read as if they came from CSV. "007" becomes 7, a column of "1" and
# "0" True and False, "5%" and "$5" 5, and the names "None" and "n/a" become empty. Only
# --no-inference and --blanks together keep them.
# Versions: csvkit 2.2.0, agate 1.14.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet csvkit==2.2.0 agate==1.14.2 2>/dev/null
cat >rows.json <<'JSON'
[
  {"id": "007", "release": "1", "name": "None", "share": "5%"},
  {"id": "010", "release": "0", "name": "n/a", "share": "6%"}
]
JSON
found=$(venv/bin/in2csv -f json rows.json)
kept=$(venv/bin/in2csv -f json --no-inference --blanks rows.json)
echo "$found"
echo "$kept"
[ "$found" = $'id,release,name,share\n7,True,,5\n10,False,,6' ]
[ "$kept" = $'id,release,name,share\n007,1,None,5%\n010,0,n/a,6%' ]
