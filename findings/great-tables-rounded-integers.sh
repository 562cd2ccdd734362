#!/usr/bin/env bash
# great_tables: formatted integers above 2**53 are other integers.
#
# Guessed before: fmt_integer writes the digits of an integer of 64 bits, with separators.
# What happens: it writes the nearest number that a float can hold, of any integer dtype of pandas,
# and of Python's integers; fmt_number with drop_trailing_zeros too. Without a format the cell has
# the right digits, and a Decimal keeps its digits in fmt_number. Keys of 64 bits, as of posts and
# users of social networks, are shown as those of others.
# Versions: great-tables 1.1.0, pandas 2.3.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet great-tables==1.1.0 pandas==2.3.3 2>/dev/null
cat >run.py <<'PYTHON'
import re
from decimal import Decimal

import pandas as pd
from great_tables import GT

EXACT, ROUNDED = "9,007,199,254,740,993", "9,007,199,254,740,992"


def show(value, dtype, method, **options):
    table = GT(pd.DataFrame({"key": pd.Series([value], dtype=dtype)}))
    if method:
        table = getattr(table, method)("key", **options)
    return re.findall(r"<td[^>]*>(.*?)</td>", table.as_raw_html())


value = 2**53 + 1
found = {dtype: show(value, dtype, "fmt_integer") for dtype in ("int64", "Int64", "object")}
found["fmt_number"] = show(value, "int64", "fmt_number", drop_trailing_zeros=True)
found["Decimal"] = show(Decimal(value), "object", "fmt_number", decimals=0)
found["no format"] = show(value, "int64", "")
print(found)
assert found == {
    **dict.fromkeys(("int64", "Int64", "object", "fmt_number"), [ROUNDED]),
    "Decimal": [EXACT],
    "no format": ["9007199254740993"],
}, found
PYTHON
venv/bin/python run.py
