#!/usr/bin/env bash
# Awkward Array: a time of day from Arrow is a moment of the year 1970.
#
# One would expect: an Arrow table is read with its types, and what has no counterpart is refused, as
# decimals are. 01:02:03 of a column of the type time64 stays a time, or becomes a duration.
# What happens: it becomes datetime64, and the value is 1970-01-01T01:02:03. A date beside it is a
# date. Nothing says that the day was added, and written to Arrow again the column is a timestamp.
# Versions: awkward 2.14.0, pyarrow 26.0.1, NumPy 2.4.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet awkward==2.14.0 pyarrow==26.0.1 numpy==2.4.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import datetime

import awkward
import pyarrow

table = pyarrow.table(
    {
        "day": pyarrow.array([datetime.date(2026, 1, 2)]),
        "opens": pyarrow.array([datetime.time(1, 2, 3)], pyarrow.time64("us")),
    }
)
rows = awkward.from_arrow(table)
again = awkward.to_arrow_table(rows, extensionarray=False).schema.field("opens").type
found = rows.to_list(), str(again)
print(found)
assert found == (
    [{"day": datetime.date(2026, 1, 2), "opens": datetime.datetime(1970, 1, 1, 1, 2, 3)}],
    "timestamp[us]",
), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
