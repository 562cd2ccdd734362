#!/usr/bin/env bash
# df-compare-pl: frames with other numbers of rows are equal if their rows repeat.
#
# Guessed before: "both must have the same rows" is False of 137 rows and 38, and a null is no text.
# What happens: only whether each row is somewhere in the other frame is compared. 137 measurements, of
# which 100 look alike, are equal to the 38 that are left without the repetitions, and two of one value and
# one of another are equal to one and two. A null is equal to the text `__TEMP_NULL__`.
# Versions: df-compare-pl 0.2, polars 1.32.0, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check df-compare-pl==0.2 polars==1.32.0
cat >"$folder/main.py" <<'PY'
import polars as pl
from df_compare_pl import df_compare

rows = pl.DataFrame({"value": [3] * 100 + list(range(100, 137))})
found = [
    f"{rows.height} and {rows.unique().height} rows: {df_compare(rows, rows.unique())}",
    f"turns: {df_compare(pl.DataFrame({'value': [1, 1, 2]}), pl.DataFrame({'value': [1, 2, 2]}))}",
    f"null: {df_compare(pl.DataFrame({'v': ['a', None]}), pl.DataFrame({'v': ['a', '__TEMP_NULL__']}))}",
    f"lost: {df_compare(rows, rows.head(120))}",
]
print("\n".join(found))
assert found == [
    "137 and 38 rows: True",
    "turns: True",
    "null: True",
    "lost: False",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
