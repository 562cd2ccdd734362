#!/usr/bin/env bash
# dlt: a missing time in the records of a DataFrame becomes a text in a column of its own.
#
# Guessed before: records from `frame.to_dict("records")` are loaded as they are, and a missing time
# is NULL, as a missing number of the same frame is.
# What happens: the table gets a second column, `seen__v_text`. It has a character for private use
# and "NaT" in the row of the missing time. Rows that have any text in this column are thus those
# that have none. Loaded as a frame, the same times have one column, and the missing one is NULL.
# Versions: dlt 1.31.0, duckdb 2.0.1, pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "dlt[duckdb]==1.31.0" duckdb==2.0.1 pandas==3.1.1 \
  pyarrow==26.0.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import os
import sys

import dlt
import pandas as pd

folder = sys.argv[1]
frame = pd.DataFrame(
    {
        "id": [1, 2],
        "stars": pd.array([5, None], dtype="Int64"),
        "seen": pd.to_datetime(["2026-01-02T03:04:05Z", None]),
    }
)
database = dlt.destinations.duckdb(os.path.join(folder, "rows.duckdb"))
pipeline = dlt.pipeline("rows", destination=database, dataset_name="data", pipelines_dir=folder)
pipeline.run(frame.to_dict("records"), table_name="records")
pipeline.run(frame, table_name="frames")
with pipeline.sql_client() as client:
    rows = client.execute_sql(
        "SELECT id, stars, seen IS NULL, seen__v_text FROM records ORDER BY id"
    )
    names = client.execute_sql(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'frames'"
    )
found = [tuple(row) for row in rows], sorted(name for (name,) in names)
print(found)
assert found == (
    [(1, 5, False, None), (2, None, True, "\uf027NaT")],
    ["id", "seen", "stars"],
), found
PYTHON
RUNTIME__DLTHUB_TELEMETRY=false "$folder/venv/bin/python" "$folder/run.py" "$folder"
