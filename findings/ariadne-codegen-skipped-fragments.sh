#!/usr/bin/env bash
# ariadne-codegen: a fragment that a variable leaves out is required by the generated class.
#
# One would expect: `...Rows @include(if: $all)` makes the fields of the fragment optional, as
# `rows @include(if: $all)` does for a field.
# What happens: the class inherits the fields as required. With `all: false` the endpoint answers
# rightly without them, and the client raises a validation error about a missing field.
# Versions: ariadne-codegen 0.19.0, graphql-core 3.2.14, pydantic 2.14.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet ariadne-codegen==0.19.0 graphql-core==3.2.14 pydantic==2.14.4 2>/dev/null
cat >schema.graphql <<'SDL'
type Query { hello: String rows: [Int!]! }
SDL
cat >queries.graphql <<'QUERY'
query ByField($all: Boolean!) { hello rows @include(if: $all) }
query ByFragment($all: Boolean!) { hello ...Rows @include(if: $all) }
fragment Rows on Query { rows }
QUERY
cat >pyproject.toml <<'TOML'
[tool.ariadne-codegen]
schema_path = "schema.graphql"
queries_path = "queries.graphql"
target_package_name = "generated"
TOML
venv/bin/ariadne-codegen >/dev/null
cat >run.py <<'PYTHON'
from pathlib import Path

from graphql import build_schema, graphql_sync
from pydantic import ValidationError

from generated import ByField, ByFragment

schema = build_schema(Path("schema.graphql").read_text())
text = Path("queries.graphql").read_text()
root = {"hello": "hello", "rows": [1]}
found = {}
for model in (ByField, ByFragment):
    for both in (True, False):
        answer = graphql_sync(
            schema, text, root, variable_values={"all": both}, operation_name=model.__name__
        )
        try:
            model.model_validate(answer.data)
            found[model.__name__, both] = "read"
        except ValidationError as error:
            found[model.__name__, both] = error.errors()[0]["type"]
print(found)
assert list(found.values()) == ["read", "read", "read", "missing"], found
PYTHON
venv/bin/python run.py
