#!/usr/bin/env bash
# polars: in a column of lists, fractions are cut where the first list has whole numbers.
#
# Guessed before: rows with 1 and then 2.5 keep the fraction, and a field that comes late is kept.
# The constructor is documented as strict: an error is raised for a value that does not fit.
# What happens: a column `[1, 2.5]` raises that error. A column `[[1], [2.5]]` becomes `[[1], [2]]`
# without a warning, and a column of objects has the fields of the first alone. Given as rows, both
# are right within the hundred rows that are read for the schema; after these, 2.5 is cut to 2 and
# the text "12" is the number 12, strict or not.
# Versions: polars 2.1.0, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import polars

lists = [[1], [2.5]]
rows = [{"size": number} for number in range(100)]
found = {
    "lists": polars.DataFrame({"sizes": lists})["sizes"].to_list(),
    "rows of lists": polars.DataFrame([{"sizes": sizes} for sizes in lists])["sizes"].to_list(),
    "objects": polars.DataFrame({"owner": [{"id": 1}, {"id": 2, "name": "bob"}]})["owner"][1],
    "rows": polars.DataFrame([*rows[:99], {"size": 2.5}])["size"][-1],
    "more rows": polars.DataFrame([*rows, {"size": 2.5}])["size"][-1],
    "texts": polars.DataFrame([*rows, {"size": "12"}])["size"][-1],
}
try:
    polars.DataFrame({"size": [1, 2.5]})
except TypeError:
    found["numbers"] = "TypeError"
print(found)
expected = {
    "lists": [[1], [2]],
    "rows of lists": [[1.0], [2.5]],
    "objects": {"id": 2},
    "rows": 2.5,
    "more rows": 2,
    "texts": 12,
    "numbers": "TypeError",
}
assert found == expected, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
