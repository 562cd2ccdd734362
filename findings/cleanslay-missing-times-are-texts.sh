#!/usr/bin/env bash
# cleanslay: missing times of a frame become the text "NaT", a flag of numpy the text "False".
#
# Guessed before: `sanitize` gives null for each missing value of a frame, a boolean for a boolean, and
# decimals as exact texts, as other values that JSON does not know are.
# What happens: beside nulls of integers and booleans, which are null, a missing time is the text "NaT", so
# that all rows look closed, and a missing float is a NaN, which no JSON has. `numpy.bool_(False)` is the
# text "False", which counts as true. The decimal 12345678901234567.89 is the float 12345678901234568.
# Versions: cleanslay 0.1.0, pandas 2.2.3, numpy 1.26.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  cleanslay==0.1.0 pandas==2.2.3 numpy==1.26.4
cat >"$folder/main.py" <<'PY'
import decimal
import json

import numpy as np
import pandas as pd
from cleanslay import JsonSanitizer

frame = pd.DataFrame(
    {
        "closedAt": pd.to_datetime(["2026-01-01", None]),
        "stars": pd.array([1, None], dtype="Int64"),
        "score": [1.5, None],
    }
)
sanitizer = JsonSanitizer()
found = [
    json.dumps(sanitizer.sanitize(frame)[1]),
    json.dumps(sanitizer.sanitize({"isPrivate": np.bool_(False)})),
    f"{sanitizer.sanitize(decimal.Decimal('12345678901234567.89')):.2f}",
]
print("\n".join(found))
assert found == [
    '{"closedAt": "NaT", "stars": null, "score": NaN}',
    '{"isPrivate": "False"}',
    "12345678901234568.00",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
