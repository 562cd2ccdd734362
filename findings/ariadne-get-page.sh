#!/usr/bin/env bash
# Ariadne: a query sent by GET is answered with a page for browsers, also where JSON is asked for.
#
# One would expect: `GET /?query=...` with `Accept: application/json` is executed, as the
# specification of GraphQL over HTTP allows, or refused with 405, as POST alone is served.
# What happens: status 200 with the HTML of GraphiQL, whatever the query and the Accept header. A
# client that looks at the status first takes the page for an answer. With the explorer switched off
# it is 405.
# Versions: ariadne 1.1.1, graphql-core 3.2.14, starlette 1.10.0, httpx 0.28.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ariadne==1.1.1 graphql-core==3.2.14 starlette==1.10.0 \
  httpx==0.28.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from ariadne import make_executable_schema
from ariadne.asgi import GraphQL
from ariadne.explorer import ExplorerHttp405
from starlette.testclient import TestClient

schema = make_executable_schema("type Query { hello: String }")
found = []
for options in ({}, {"explorer": ExplorerHttp405()}):
    client = TestClient(GraphQL(schema, **options))
    response = client.get(
        "/", params={"query": "{ hello }"}, headers={"Accept": "application/json"}
    )
    found.append((response.status_code, "<html" in response.text.lower()))
print(found)
assert found == [(200, True), (405, False)], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
