#!/usr/bin/env bash
# petl: a field that first occurs after a thousand records is left out.
#
# Guessed before: `fromdicts` makes a column of each key, as answers have optional fields; it has
# the whole list in memory.
# What happens: the header comes from the first 1,000 records. A key that comes later is gone, in
# its own record too, without an error or a warning.
# Versions: petl 1.7.30, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet petl==1.7.30 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import petl

found = {}
for before in (999, 1000):
    records = [{"id": number} for number in range(before)] + [{"id": before, "licence": "MIT"}]
    table = petl.fromdicts(records)
    found[before] = petl.header(table), table[before + 1]
print(found)
expected = {999: (("id", "licence"), (999, "MIT")), 1000: (("id",), (1000,))}
assert found == expected, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
