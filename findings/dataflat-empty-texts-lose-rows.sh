#!/usr/bin/env bash
# dataflat: of dicts, items whose fields are empty texts or null are lost, of frames they are kept.
#
# Guessed before: the reviews of a pull request become one row each, with the text that each has, and a
# dict and a frame of the same data have the same rows.
# What happens: an approval without words has the body "". From a dict, empty texts are left out like nulls,
# and with them all reviews that have no other field: of 137 reviews, 92 come. The frame of the same pull
# request has all 137. Beside a field with a value, the body is a missing key instead of an empty text. A
# null in a list of numbers is the text "None" from a dict, and from a frame it is gone. No warning says so.
# Versions: dataflat 3.1.0, pandas 2.2.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  dataflat==3.1.0 pandas==2.2.3 pyarrow==21.0.0 2>/dev/null
cat >"$folder/main.py" <<'PY'
import logging

import pandas as pd
from dataflat import FlattenerOptions, handler

logging.disable(logging.CRITICAL)
reviews = [{"body": "" if n % 3 == 0 else f"review {n}"} for n in range(1, 138)]
pull = {"number": 7, "sizes": [1, None, 2], "reviews": {"nodes": reviews}}


def flatten(option, data):
    options = {"primary_key": "number", "entity_name": "pull"}
    return handler(option).flatten(data, **options)


of_dict = flatten(FlattenerOptions.DICTIONARY, pull)
of_frame = flatten(FlattenerOptions.PANDAS_DF, pd.DataFrame([pull]))
numbered = [{"number": n, **review} for n, review in enumerate(reviews)]
kept = flatten(FlattenerOptions.DICTIONARY, {**pull, "reviews": {"nodes": numbered}})
found = [
    f"dict: {len(of_dict['pull.reviews.nodes'])} of 137, sizes {of_dict['pull'][0]['sizes']}",
    f"frame: {len(of_frame['pull.reviews.nodes'])} of 137, sizes {of_frame['pull'].sizes[0]}",
    f"bodies: {sum('body' in row for row in kept['pull.reviews.nodes'])} of 137",
]
print("\n".join(found))
assert found == [
    "dict: 92 of 137, sizes 1|None|2",
    "frame: 137 of 137, sizes 1|2",
    "bodies: 92 of 137",
], found
PY
"$folder/venv/bin/python" "$folder/main.py"
