#!/usr/bin/env bash
# pydeck: the times of a DataFrame are empty objects on the map.
#
# Guessed before: a column of timestamps reaches the page as text in ISO form, as in the JSON of
# pandas, or is refused.
# What happens: each timestamp, and each missing one, is written as `{}`. Nothing is reported; a
# layer or a tooltip that uses the column gets an object without members. The same value as a
# `datetime` of Python, in a list of dictionaries, is written as text.
# Versions: pydeck 0.9.3, pandas 2.3.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pydeck==0.9.3 pandas==2.3.3 2>/dev/null
cat >run.py <<'PYTHON'
import json
from datetime import datetime

import pandas as pd
import pydeck

LAYER = "ScatterplotLayer"
times = pd.Series(pd.to_datetime(["2026-01-01T00:30:00", None]))


def write(rows):
    return [row["at"] for row in json.loads(pydeck.Layer(LAYER, rows).to_json())["data"]]


found = {
    kind: write(pd.DataFrame({"at": column}))
    for kind, column in (
        ("without a zone", times),
        ("in UTC", times.dt.tz_localize("UTC")),
        ("microseconds", times.astype("datetime64[us]")),
    )
}
found["a list of dictionaries"] = write([{"at": datetime(2026, 1, 1, 0, 30)}])
print(found)
empty = [{}, {}]
assert found == {
    "without a zone": empty,
    "in UTC": empty,
    "microseconds": empty,
    "a list of dictionaries": ["2026-01-01 00:30:00"],
}, found
PYTHON
venv/bin/python run.py
