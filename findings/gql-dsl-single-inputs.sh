#!/usr/bin/env bash
# gql: in its DSL, an input object that stands for a list of one becomes an empty list.
#
# Guessed before: one value for a list is written as the specification coerces it, nested inputs
# too. A text for [String] is, and as a variable (`serialize_variable_values`) the object is.
# What happens: the argument is `[]`, for filters too: `any={"name": "bob"}` asks for all rows. A
# list of the one object is right. A field that the input object does not have is left out as
# well, without the error that a mistyped argument gets: the filter `{"nam": "bob"}` is `{}`.
# Versions: gql 4.4.0, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gql==4.4.0 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from gql.dsl import DSLQuery, DSLSchema, dsl_gql
from gql.utilities import serialize_variable_values
from graphql import build_schema, graphql_sync, parse, print_ast

schema = build_schema("""
  input Filter { name: String }
  type Query { rows(any: [Filter!], names: [String]): [String] }
""")


class Root:
    def rows(self, _info, any=(), names=()):
        names = [*names, *(condition["name"] for condition in any if condition)]
        return [row for row in ("ann", "bob") if row in names or not names]


fields = DSLSchema(schema)
bob = {"name": "bob"}
found = {}
for arguments in ({"names": "bob"}, {"any": [bob]}, {"any": bob}, {"any": [{"nam": "bob"}]}):
    query = print_ast(dsl_gql(DSLQuery(fields.Query.rows.args(**arguments))).document)
    found[" ".join(query.split())] = graphql_sync(schema, query, Root()).data
document = parse("query ($any: [Filter!]) { rows(any: $any) }")
found["variable"] = serialize_variable_values(schema, document, {"any": bob})
print(found)
assert found == {
    '{ rows(names: "bob") }': {"rows": ["bob"]},
    '{ rows(any: [{ name: "bob" }]) }': {"rows": ["bob"]},
    "{ rows(any: []) }": {"rows": ["ann", "bob"]},
    "{ rows(any: [{ }]) }": {"rows": ["ann", "bob"]},
    "variable": {"any": [bob]},
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
