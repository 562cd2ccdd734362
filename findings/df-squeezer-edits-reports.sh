#!/usr/bin/env bash
# df-squeezer: a report that should change nothing rounds the numbers of the frame.
#
# Guessed before: `edit=False`, which only reports suggestions, leaves the frame as it is, and with
# `edit=True` a column becomes a smaller type only where its values fit.
# What happens: number columns of the given frame are converted in place with `edit=False`, too. Floats
# become 32-bit ones if they change by less than 0.0005: all 137 prices are others than before, their sum is
# 146329.70 before and 146329.69 after, as it is shown, and joining by latitude finds none of 137 rows.
# Versions: df-squeezer 0.0.12, pandas 2.2.3, numpy 1.26.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  df-squeezer==0.0.12 pandas==2.2.3 numpy==1.26.4
cat >"$folder/main.py" <<'PY'
import pandas as pd
from df_squeezer import df_squeezer

rows = [{"latitude": 52.520006 + n / 1e4, "price": 1000.1 + n} for n in range(137)]
before, frame = pd.DataFrame(rows), pd.DataFrame(rows)
df_squeezer(frame, report=False, edit=False)
found = [
    f"types: {frame.dtypes.astype(str).to_dict()}",
    f"other prices: {(before.price != frame.price.astype(float)).sum()}",
    f"sums: {before.price.sum():.2f}, {frame.price.sum():.2f}",
    f"joined by latitude: {len(before.merge(frame, on='latitude'))}",
]
print("\n".join(found))
assert found == [
    "types: {'latitude': 'float32', 'price': 'float32'}",
    "other prices: 137",
    "sums: 146329.70, 146329.69",
    "joined by latitude: 0",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
