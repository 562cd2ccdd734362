#!/usr/bin/env bash
# Dask: the sum of a column of Decimals is the text of all values, one after the other.
#
# Guessed before: the sum is 11.00, as pandas gives for the same frame, or an error, since Dask has
# no dtype for exact decimals.
# What happens: `from_pandas` makes text of the column, as objects are taken for text where pyarrow
# is installed. Sums, sums of groups and cumulative sums then join texts without an error; the mean
# is a ValueError about strings.
# Versions: dask 2026.8.0, pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "dask[dataframe]==2026.8.0" pandas==3.1.1 pyarrow==26.0.1 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from decimal import Decimal

import dask.dataframe
import pandas as pd

prices = [Decimal("1.10"), Decimal("2.20"), Decimal("3.30"), Decimal("4.40")]
frame = pd.DataFrame({"price": prices, "kind": list("aabb")})
parts = dask.dataframe.from_pandas(frame, npartitions=2)
found = {
    "pandas": frame["price"].sum(),
    "sum": parts["price"].sum().compute(),
    "groups": parts.groupby("kind")["price"].sum().compute().to_dict(),
}
print(found)
expected = {
    "pandas": Decimal("11.00"),
    "sum": "1.102.203.304.40",
    "groups": {"a": "1.102.20", "b": "3.304.40"},
}
raise SystemExit(found != expected)
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
