#!/usr/bin/env bash
# graphql-schema-diff: changes of default values are not seen.
#
# Guessed before: another default of an argument is listed; graphql-core calls it dangerous. One
# would expect more so that a default that goes away from a required argument is listed, as
# breaking.
# What happens: the schemas are the same to it. `size: Int! = 1` and `size: Int!` have no
# difference, though a query that gave no size is invalid after the change. A `@oneOf` or a
# `repeatable` that goes, and an interface's own interfaces, are not seen either.
# Versions: graphql-schema-diff 1.2.5, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-schema-diff==1.2.5 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import build_schema, parse, validate
from schemadiff import SchemaLoader, diff

changes = {
    "type": ("rows(size: Int!): Int", "rows(size: Int): Int"),
    "default": ("rows(size: Int = 1): Int", "rows(size: Int = 1000): Int"),
    "no default": ("rows(size: Int! = 1): Int", "rows(size: Int!): Int"),
}
found = {}
for name, fields in changes.items():
    before, after = (f"type Query {{ {field} }}" for field in fields)
    differences = diff(SchemaLoader.from_sdl(before), SchemaLoader.from_sdl(after))
    errors = [
        bool(validate(build_schema(schema), parse("{ rows }"))) for schema in (before, after)
    ]
    found[name] = len(differences), errors
print(found)
assert found == {
    "type": (1, [True, False]),
    "default": (0, [False, False]),
    "no default": (0, [False, True]),
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
