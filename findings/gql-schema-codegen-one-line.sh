#!/usr/bin/env bash
# gql-schema-codegen: a type that is written in one line has no fields.
#
# Guessed before: each type of a valid schema has a class with its fields. Line breaks are nothing
# to GraphQL.
# What happens: the class of the one line is empty, and so is an enum's, without a warning: a type
# checker then refuses each key. A comma after a field becomes a part of the next one, or the type.
# Versions: gql-schema-codegen 1.0.1, graphql-core 3.2.0, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet gql-schema-codegen==1.0.1 graphql-core==3.2.0 2>/dev/null
cat >one.graphql <<'SDL'
enum Colour { RED BLUE }
type Row { id: ID! name: String }
type Query { row: Row }
SDL
venv/bin/python -c "
from graphql import build_schema, print_schema
print(print_schema(build_schema(open('one.graphql').read())))" >three.graphql
cat >run.py <<'PYTHON'
import subprocess
import sys
from importlib import import_module

found = {}
for name in ("one", "three"):
    command = [sys.executable, "-m", "gql_schema_codegen", "-p", f"{name}.graphql", "-t"]
    subprocess.run([*command, f"{name}_types.py"], check=True, capture_output=True)
    types = import_module(f"{name}_types")
    found[name] = [*types.Row.__annotations__], [colour.name for colour in types.Colour]
print(found)
assert found == {"one": ([], []), "three": (["id", "name"], ["RED", "BLUE"])}, found
PYTHON
venv/bin/python run.py
