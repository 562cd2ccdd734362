#!/usr/bin/env bash
# articuno: nested fields that the first hundred rows do not have are left out of all rows.
#
# Guessed before: the models of 137 rows hold all values of the rows, as `owner` is an object in each.
# What happens: of the 137 owners of a pandas frame, the last 27 are organizations, with a field `seats`
# that users do not have. Fields of objects are taken from the first hundred values, and `seats` is in
# none of the models: 27 values are lost, and `max_scan=5000` changes nothing. Where the organizations
# come first, all 27 are there. In rows that are dicts, a column takes the type of its first value: after
# a 0.5, the integer 9007199254740993 is 9007199254740992.0. No error or warning says so.
# Versions: articuno 0.10.0, pandas 2.2.3, pydantic 2.12.5, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  articuno==0.10.0 pandas==2.2.3 pydantic==2.12.5
cat >"$folder/main.py" <<'PY'
import pandas as pd
from articuno import df_to_pydantic

users = [{"id": number, "owner": {"login": f"u{number}"}} for number in range(110)]
organizations = [
    {"id": number, "owner": {"login": f"o{number}", "seats": number}} for number in range(110, 137)
]


def count_seats(rows):
    models = df_to_pydantic(pd.DataFrame(rows), max_scan=5000)
    return sum(model.model_dump()["owner"].get("seats") is not None for model in models)


values = [{"size": 0.5}, {"size": 9007199254740993}]
found = [
    f"organizations last: {count_seats(users + organizations)} of 27",
    f"organizations first: {count_seats(organizations + users)} of 27",
    f"sizes: {[model.size for model in df_to_pydantic(values)]}",
]
print("\n".join(found))
assert found == [
    "organizations last: 0 of 27",
    "organizations first: 27 of 27",
    "sizes: [0.5, 9007199254740992.0]",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
