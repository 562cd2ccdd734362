#!/usr/bin/env bash
# A schema of graphql-core has an input type with @oneOf, and its introspection says so:
# isOneOf is true. One would expect that to stay so, whatever other schemas the process creates.
# Once it creates any Strawberry schema, also an unrelated one without one-of types, isOneOf is
# false for the type: Strawberry replaces the field of the introspection type that all schemas of
# graphql-core share, by one that knows the types of Strawberry only. A client that reads the
# introspection of the other schema then takes the type for a usual input object.
#
# Seen with strawberry-graphql 0.341.2 and graphql-core 3.3.2 on Python 3.11.
# Guessed before: the first schema is not affected (true, true).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-graphql==0.341.2 graphql-core==3.3.2 2>/dev/null
cat > "$folder/run.py" <<'PYTHON'
import strawberry
from graphql import build_schema, graphql_sync

schema = build_schema("type Query { a(by: By): Int } input By @oneOf { x: Int y: Int }")
question = '{ __type(name: "By") { isOneOf } }'


@strawberry.type
class Query:
    a: int = 1


before = graphql_sync(schema, question).data["__type"]["isOneOf"]
strawberry.Schema(Query)
after = graphql_sync(schema, question).data["__type"]["isOneOf"]
print(f"isOneOf of graphql-core's schema: {before}; after creating a Strawberry schema: {after}")
raise SystemExit((before, after) != (True, False))
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
