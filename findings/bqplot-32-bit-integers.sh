#!/usr/bin/env bash
# bqplot and ipydatagrid: an integer beyond 32 bits is shown as another one, which may be negative.
#
# Guessed before: browsers have no integers of 64 bits, so they are sent as floats, exact up to 2**53.
# What happens: bqplot sends them as integers of 32 bits without a look at their size, and
# ipydatagrid sends its columns by bqplot. 3,000,000,000 bytes are -1294967296, and times in
# milliseconds are any number. If one value of the column is missing, it is sent as floats, and all
# others are right. ipydatagrid has an issue of 2024 on that (546).
# Versions: bqplot 0.13.1, ipydatagrid 1.4.0, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bqplot==0.13.1 ipydatagrid==1.4.0 pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import bqplot
import ipydatagrid
import numpy as np
import pandas as pd

SIZES = [3_000_000_000, 1]


def read(sent):
    return np.frombuffer(sent["value"], sent["dtype"]).tolist()


scales = {"x": bqplot.LinearScale(), "y": bqplot.LinearScale()}
marks = bqplot.Scatter(x=np.array(SIZES), y=np.array(SIZES), scales=scales)
frame = pd.DataFrame({"all": SIZES, "some": pd.array([SIZES[0], None], dtype="Int64")})
columns = ipydatagrid.DataGrid(frame).get_state("_data")["_data"]["data"]
found = {
    "marks": read(marks.get_state("x")["x"]),
    "all": read(columns["all"]),
    "some": read(columns["some"])[:1],
}
print(found)
wrong = [-1294967296, 1]
assert found == {"marks": wrong, "all": wrong, "some": [3_000_000_000.0]}, found
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/run.py"
