#!/usr/bin/env bash
# graphql-core: an input type that becomes a one-of type is no change at all.
#
# One would expect: `find_breaking_changes` reports it, since a value with two members was right
# before and is refused afterwards.
# What happens: neither the breaking nor the dangerous changes name it, although the same library
# then refuses the query. A check of schemas that relies on them is green.
# Versions: graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import build_schema, graphql_sync
from graphql.utilities import find_breaking_changes, find_dangerous_changes

fields = "{ id: Int name: String } type Query { row(by: By): String }"
before, after = build_schema(f"input By {fields}"), build_schema(f"input By @oneOf {fields}")
changes = [*find_breaking_changes(before, after), *find_dangerous_changes(before, after)]
query = '{ row(by: {id: 1, name: "a"}) }'
errors = [len(graphql_sync(schema, query).errors or []) for schema in (before, after)]
print(changes, errors)
assert (changes, errors) == ([], [0, 1]), (changes, errors)
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
