#!/usr/bin/env bash
# graphql-from-struct: fractions are cut, and None becomes a text.
#
# Guessed before: Python's values are written as their JSON: 1.5, true, null.
# What happens: numbers are written as whole numbers (1.5 and True are 1), and None is the text
# "None". Where a Float or a String is expected the query is valid: `price: 0.9` asks for 0.
# Versions: graphql-from-struct 1.0.3, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-from-struct==1.0.3 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import build_schema, graphql_sync
from graphql_from_struct import GqlFromStruct

schema = build_schema("""
  type Row { name: String }
  type Query { rows(price: Float, name: String): Row }
""")


class Root:
    def rows(self, _info, **arguments):
        return {"name": repr(arguments)}


found = []
for arguments in ({"price": 0.9}, {"price": -1.5}, {"name": None}):
    struct = {"rows": {"@args": arguments, "@fields": ["name"]}}
    query = GqlFromStruct.from_struct(struct)
    found.append(graphql_sync(schema, query, Root()).data["rows"]["name"])
print(found)
assert found == ["{'price': 0.0}", "{'price': -1.0}", "{'name': 'None'}"], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
