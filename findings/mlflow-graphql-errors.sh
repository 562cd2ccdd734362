#!/usr/bin/env bash
# MLflow: errors are texts instead of objects, and the usual introspection query is too deep.
#
# One would expect: each error is an object with a `message`, and its `path` where it is of a field,
# as the GraphQL specification demands; and a server that answers introspection answers the query
# that graphql-core, GraphiQL and code generators send.
# What happens: `errors` holds plain texts, also beside a field that is null, without a path or a
# location; and where there are none the member is null. The introspection query of graphql-core is
# refused, since it is nested more than ten levels; one with types three levels deep is answered.
# A client that reads `error["message"]` fails on each refusal, this one among them.
# Versions: mlflow 3.17.2, graphene 3.4.3, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet mlflow==3.17.2 graphene==3.4.3 graphql-core==3.2.14 2>/dev/null
export _MLFLOW_SERVER_FILE_STORE=sqlite:///rows.db _MLFLOW_SERVER_ARTIFACT_ROOT=./artifacts
cat >main.py <<'PY'
import sys

from graphql import get_introspection_query
from mlflow.server import app

web = app.test_client()


def ask(query):
    return web.post("/graphql", json={"query": query}).get_json()


found = {
    "unknown field": ask("{ nope }")["errors"],
    "argument of a field": ask('{ mlflowGetRun(input: {runId: 1}) { apiError { code } } }'),
    "no error": ask("{ __typename }")["errors"],
    "introspection": ask(get_introspection_query())["errors"],
    "three levels": "__schema" in (ask(get_introspection_query(type_depth=3))["data"] or {}),
}
for name, answer in found.items():
    print(f"{name}: {answer}")
sys.exit(
    found["unknown field"] != ["Cannot query field 'nope' on type 'Query'."]
    or not all(isinstance(error, str) for error in found["argument of a field"]["errors"])
    or found["no error"] is not None
    or found["introspection"] != ["Query exceeds maximum depth of 10"]
    or not found["three levels"]
)
PY
venv/bin/python main.py 2>/dev/null
