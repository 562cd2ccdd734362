#!/usr/bin/env bash
# Strawberry: a name of no operation in the document is answered with plain text.
#
# One would expect: JSON with `errors`, as Strawberry answers syntax errors, unknown fields and
# wrong variables (all with status 200).
# What happens: status 400 and a sentence as text/plain. A client that reads JSON reports a broken
# endpoint instead of the misspelled name.
# Versions: strawberry-graphql 0.341.2, graphql-core 3.3.2, starlette 1.10.0, httpx 0.28.1, Python
# 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-graphql==0.341.2 graphql-core==3.3.2 \
  starlette==1.10.0 httpx==0.28.1 python-multipart 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import strawberry
from starlette.testclient import TestClient
from strawberry.asgi import GraphQL


@strawberry.type
class Query:
    @strawberry.field
    def double(self, n: int) -> int:
        return 2 * n


client = TestClient(GraphQL(strawberry.Schema(Query)))
query = "query Double($n: Int!) { double(n: $n) }"
requests = {
    "valid": {"query": query, "variables": {"n": 2}},
    "unknown field": {"query": "{ nope }"},
    "wrong variable": {"query": query, "variables": {"n": "x"}},
    "unknown operation": {"query": query, "variables": {"n": 2}, "operationName": "Other"},
}
found = {}
for name, request in requests.items():
    response = client.post("/", json=request)
    found[name] = response.status_code, response.headers["content-type"].partition(";")[0]
print(found)
as_json = 200, "application/json"
assert list(found.values()) == [as_json, as_json, as_json, (400, "text/plain")], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
