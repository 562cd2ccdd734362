#!/usr/bin/env bash
# graphql-query: a text in a list argument is split at its commas, and loses its quotation marks.
#
# Guessed before: `Argument(name="names", value=["Smith, John"])` is written as a list of one text, as
# numbers and Booleans in lists are written one by one.
# What happens: it is `["Smith", "John"]`: a filter by a name finds the rows of two others. Written
# with quotation marks, as texts outside of lists have to be, '"Smith, John"' is the same. A quotation
# mark within a text, 5" pipe, is left out. All of that is valid, so no endpoint notices it.
# Versions: graphql-query 1.4.0, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-query==1.4.0 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import build_schema, graphql_sync
from graphql_query import Argument, Operation, Query

ROWS = ["Smith, John", "Smith", "John", '5" pipe', "5 pipe"]
schema = build_schema("type Query { rows(names: [String!]!): [String!]! }")
root = {"rows": lambda info, names: [row for row in ROWS if row in names]}


def read(names):
    rows = Query(name="rows", arguments=[Argument(name="names", value=names)])
    answer = graphql_sync(schema, Operation(type="query", queries=[rows]).render(), root)
    assert not answer.errors, answer.errors
    return answer.data["rows"]


found = [read(names) for names in (["Smith"], ["Smith, John"], ['"Smith, John"'], ['5" pipe'])]
print(found)
assert found == [["Smith"], ["Smith", "John"], ["Smith", "John"], ["5 pipe"]], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
