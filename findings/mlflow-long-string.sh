#!/usr/bin/env bash
# MLflow: a `LongString` is taken as a number only, and not at all beside a variable.
#
# One would expect: `LongString`, of which the answers are texts such as "1700000000136", takes a
# text as an argument; and a query with a variable for the page token, which is how every further
# page is asked for, works as one without.
# What happens: `maxResults: "10"` is ignored, so that all 40 versions come instead of 10, without
# an error; `maxResults: 10` works. In an input object beside a variable even the number is refused
# as an invalid value, whatever the variable holds: the scalar's method for literals takes no
# variables, and graphql-core hands them over where there are some.
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

from mlflow import MlflowClient
from mlflow.server import app

client = MlflowClient("sqlite:///rows.db")
client.create_registered_model("model")
for number in range(40):
    client.create_model_version("model", source=f"s3://bucket/{number}")
web = app.test_client()
QUERY = """query %s {
  mlflowSearchModelVersions(input: {maxResults: %s}) { modelVersions { version } } }"""


def ask(size, declared="", **variables):
    query = QUERY % (declared, size)
    answer = web.post("/graphql", json={"query": query, "variables": variables}).get_json()
    found = (answer["data"] or {}).get("mlflowSearchModelVersions")
    return len(found["modelVersions"]) if found else answer["errors"][0]


found = [
    ask("10"),
    ask('"10"'),
    ask("10, pageToken: $token", "($token: String)", token=None),
    ask("$size", "($size: LongString)", size="10"),
]
print(found)
refused = "Argument 'input' has invalid value {maxResults: 10, pageToken: $token}."
sys.exit(found != [10, 40, refused, 10])
PY
venv/bin/python main.py 2>/dev/null
