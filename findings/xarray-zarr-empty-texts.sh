#!/usr/bin/env bash
# xarray with zarr: texts that are empty are missing after the round trip, as null texts are.
#
# Guessed before: a column of texts with a null and an empty text comes back with both, or both are
# empty, as Zarr has no null.
# What happens: Zarr holds an empty text for either, and NumPy's type of text reads it. xarray takes
# each empty text of that type for missing: `count()` is one less than before, and `dropna()` leaves
# out a row that was complete. As pandas sees the same values, none is missing.
# Versions: xarray 2026.9.0, zarr 3.1.6, numpy 2.4.6, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 zarr==3.1.6 numpy==2.4.6 pandas==3.1.1 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import sys

import pandas as pd
import xarray as xr

folder = sys.argv[1]
dataset = pd.DataFrame({"note": ["x", None, ""]}).to_xarray()
dataset.to_zarr(f"{folder}/rows.zarr")
stored = xr.open_zarr(f"{folder}/rows.zarr").load()
found = {
    name: (
        data.note.isnull().values.tolist(),
        int(data.note.count()),
        data.dropna("index").sizes["index"],
        data.note.to_pandas().isna().tolist(),
    )
    for name, data in (("before", dataset), ("stored", stored))
}
print(found)
assert found == {
    "before": ([False, True, False], 2, 2, [False, True, False]),
    "stored": ([False, True, True], 1, 1, [False, False, False]),
}, found
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/run.py" "$folder"
