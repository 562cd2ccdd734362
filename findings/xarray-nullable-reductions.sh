#!/usr/bin/env bash
# xarray: reductions of a Dataset leave out variables with the nullable dtypes of pandas.
#
# Guessed before: `Dataset.mean()` has every numeric variable, with Int64 read as numbers and its
# missing values left out, or it raises an error.
# What happens: the Dataset made from the frame has the three variables with their dtypes, and the
# result of mean() and sum() has only the one of float64. Nothing says that two are gone.
# Versions: xarray 2026.9.0, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import warnings

import pandas as pd
import xarray

warnings.simplefilter("error")
frame = pd.DataFrame(
    {
        "stars": pd.array([1, 2, None], dtype="Int64"),
        "score": pd.array([1.5, 2.5, 3.5], dtype="Float64"),
        "plain": [1.0, 2.0, 3.0],
    }
)
dataset = xarray.Dataset.from_dataframe(frame)
found = {
    "variables": sorted(dataset.data_vars),
    "mean": sorted(dataset.mean().data_vars),
    "sum": sorted(dataset.sum().data_vars),
}
print(found)
expected = {"variables": ["plain", "score", "stars"], "mean": ["plain"], "sum": ["plain"]}
raise SystemExit(found != expected)
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
