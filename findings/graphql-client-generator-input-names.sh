#!/usr/bin/env bash
# graphql-client-generator: inputs are sent with names that the schema does not have, and nulls.
#
# Guessed before: an input has the names of the schema, `name_like` as `name_like`, and only the
# fields that are given, so that the defaults of the schema apply to the others.
# What happens: names are made camel case from Python's names, with no memory of the schema's:
# `name_like` is sent as `nameLike`, `URL` as `uRL` and `_or` as `Or`, which the server does not
# know; in a schema that is written in snake case no input of two words can be sent. What is not
# given is sent as null: `size: Int = 5` is null instead of 5.
# Versions: graphql-client-generator 0.1.1, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet graphql-client-generator==0.1.1 graphql-core==3.2.14 2>/dev/null
cat >schema.graphql <<'SDL'
input Filter { name: String maxAge: Int name_like: String URL: String size: Int = 5 }
type Query { rows(filter: Filter): String }
SDL
venv/bin/graphql-client-generator schema.graphql --name rows --module --output . >/dev/null
cat >run.py <<'PYTHON'
from pathlib import Path

from graphql import build_schema, graphql_sync
from rows.inputs import Filter


class Root:
    def rows(self, _info, filter):
        return repr(filter)


schema = build_schema(Path("schema.graphql").read_text())
query = "query ($filter: Filter) { rows(filter: $filter) }"
given = {"maxAge": 3}
sent = Filter(max_age=3).to_dict()
print(sent)
assert sorted(sent) == ["maxAge", "name", "nameLike", "size", "uRL"]
result = graphql_sync(schema, query, Root(), variable_values={"filter": sent})
messages = [error.message for error in result.errors]
print(messages)
assert [name for name in ("nameLike", "uRL") if name in str(messages)] == ["nameLike", "uRL"]
known = {name: value for name, value in sent.items() if name not in ("nameLike", "uRL")}
rows = [
    graphql_sync(schema, query, Root(), variable_values={"filter": value}).data["rows"]
    for value in (given, known)
]
print(rows)
assert "'size': 5" in rows[0] and "'size': None" in rows[1]
PYTHON
venv/bin/python run.py
