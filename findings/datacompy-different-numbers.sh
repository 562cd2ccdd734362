#!/usr/bin/env bash
# datacompy: integers and Decimals that differ are reported as equal.
#
# Guessed before: without tolerances, which are 0 by default, a comparison of two frames is exact;
# whole numbers of 64 bits and Decimals are compared as such.
# What happens: both columns are made floats first. Two ids of 16 digits that differ by one, and two
# amounts that differ by a cent, are the same value, and `matches()` is true. The report says that
# all rows are equal. The same digits as texts differ.
# Versions: datacompy 1.1.0, pandas 3.0.6, NumPy 2.4.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datacompy==1.1.0 pandas==3.0.6 numpy==2.4.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from decimal import Decimal

import datacompy
import pandas as pd

pairs = {
    "int64": ([9007199254740993], [9007199254740992]),
    "Int64": (pd.array([9007199254740993], "Int64"), pd.array([9007199254740992], "Int64")),
    "Decimal": ([Decimal("12345678901234567.89")], [Decimal("12345678901234567.88")]),
    "text": (["12345678901234567.89"], ["12345678901234567.88"]),
}
found = {}
for name, (old, new) in pairs.items():
    assert old[0] != new[0]
    frames = [pd.DataFrame({"key": [1], "value": values}) for values in (old, new)]
    found[name] = bool(datacompy.PandasCompare(*frames, join_columns="key").matches())
print(f"reported as equal: {found}")
assert found == {"int64": True, "Int64": True, "Decimal": True, "text": False}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
