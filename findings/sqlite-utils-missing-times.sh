#!/usr/bin/env bash
# sqlite-utils: a missing time of a DataFrame is stored as the text NaT.
#
# Guessed before: `insert_all` of a frame's records stores a missing time as NULL, as it does for
# missing integers, texts and booleans of the same frame.
# What happens: the column holds the text "NaT". It is not null, counts, sorts after all dates, so
# that the latest row is one without a time, and datasette shows it as a value.
# Versions: sqlite-utils 4.2.1, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlite-utils==4.2.1 pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import pandas as pd
import sqlite_utils

frame = pd.DataFrame(
    {
        "pushed": pd.to_datetime(["2026-01-02T03:04:05Z", None]),
        "stars": pd.array([1, None], dtype="Int64"),
        "name": pd.array(["a", None], dtype="string"),
    }
)
table = sqlite_utils.Database(memory=True)["rows"]
table.insert_all(frame.to_dict("records"))
last = list(table.rows)[1]
latest = table.db.execute("select max(pushed) from rows").fetchone()[0]
print(last, latest)
assert last == {"pushed": "NaT", "stars": None, "name": None}, last
assert latest == "NaT", latest
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
