#!/usr/bin/env bash
# pluck-graphql: the objects of a JSON scalar are left out, and an empty list adds a row.
#
# Guessed before: a query with nested lists has a row for each leaf, and columns for what it
# selects, whatever the rows have; numbers beside nulls keep their digits.
# What happens: where a selected field without subfields has an object, as a JSON scalar may, the
# column is missing, or NaN beside a null. With `@frame` in a list, an empty list adds a row of NaN,
# which makes integers floats, and a null adds none. A column of an object that is null in all rows
# is missing.
# Versions: pluck-graphql 0.4.0, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pluck-graphql==0.4.0 pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import pluck
from pluck.client import GraphQLClient, GraphQLResponse


class Answer(GraphQLClient):
    def __init__(self, rows):
        self.rows = rows

    def execute(self, request):
        return GraphQLResponse({"rows": self.rows}, None)


def read(query, rows):
    (frame,) = pluck.execute(query, url="http://localhost", client=Answer(rows))
    return frame.to_dict("list")


rows = [
    {"id": 1, "json": {"size": 3}, "team": None, "parts": [{"n": 1}]},
    {"id": 2, "json": {"size": 4}, "team": None, "parts": []},
    {"id": 3, "json": {"size": 5}, "team": None, "parts": None},
]
scalars = read("{ rows @frame { id json } }", rows)
objects = read("{ rows @frame { id team { name } } }", rows)
lists = read("{ rows { parts @frame { n } } }", rows)
print(scalars, objects, lists, sep="\n")
assert list(scalars) == list(objects) == ["id"]
assert lists["n"][0] == 1.0 and len(lists["n"]) == 2
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
