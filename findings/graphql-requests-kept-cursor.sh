#!/usr/bin/env bash
# graphql-requests: the next page is the first one again, and keys inside JSON values get other names.
#
# Guessed before: `extend_variables({"after": cursor})` of a request sends that cursor, and values of
# variables arrive as they are.
# What happens: a variable that the request has wins over the new one: after the first page, every
# `extend_variables` sends the cursor of that page, so that the third request has the rows of the
# second; the later pages are never read. Names are changed to camel case in the values too: the JSON
# filter `{"first_name": {"_eq": "x"}}` arrives as `{"firstName": {"Eq": "x"}}`, and of a JSON value
# with the keys "aB" and "a_b" the answer has one. Objects in lists keep their names both ways.
# Versions: graphql-requests 0.3.1, requests 2.32.5, graphql-core 3.2.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-requests==0.3.1 requests==2.32.5 \
  aiohttp==3.13.2 graphql-core==3.2.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json
from types import SimpleNamespace
from unittest.mock import patch

from graphql import build_schema, graphql_sync
from graphql_requests import Client, GraphQLRequest

schema = build_schema("""
type Query { rows(first: Int!, after: String): Rows! counts(filter: JSON): JSON! }
type Rows { nodes: [Int!]! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
scalar JSON
""")
filters = []


def resolve_rows(info, first: int, after: str | None = None) -> dict:
    start = int(after or 0)
    end = min(start + first, 137)
    page_info = {"hasNextPage": end < 137, "endCursor": str(end)}
    return {"nodes": list(range(start, end)), "pageInfo": page_info}


def resolve_counts(info, filter: dict | None = None) -> dict:
    filters.append(filter)
    return {"aB": 1, "a_b": 2, "list": [{"aB": 3}]}


def post(url: str, data: str, **options: object) -> SimpleNamespace:
    sent = json.loads(data)
    root = {"rows": resolve_rows, "counts": resolve_counts}
    answer = graphql_sync(schema, sent["query"], root, variable_values=sent["variables"])
    assert not answer.errors, answer.errors
    return SimpleNamespace(json=lambda: answer.formatted)


def send(request: GraphQLRequest) -> dict:
    client = Client("http://127.0.0.1/graphql")
    with patch("requests.post", post):
        return client.send(query=request.body, variables=request.variables)


body = """query ($first: Int!, $after: String) {
  rows(first: $first, after: $after) { nodes pageInfo { hasNextPage endCursor } }
}"""
request = GraphQLRequest(body=body, variables={"first": 50})
pages = []
for _ in range(3):
    rows = send(request)["rows"]
    pages.append((rows["nodes"][0], rows["nodes"][-1], rows["page_info"]["has_next_page"]))
    request = request.extend_variables({"after": rows["page_info"]["end_cursor"]})
body = "query ($filter: JSON) { counts(filter: $filter) }"
variables = {"filter": {"first_name": {"_eq": "x"}, "any": [{"last_name": "y"}]}}
counts = send(GraphQLRequest(body=body, variables=variables))["counts"]
print(pages, filters, counts)
assert pages == [(0, 49, True), (50, 99, True), (50, 99, True)], pages
assert filters == [{"firstName": {"Eq": "x"}, "any": [{"last_name": "y"}]}], filters
assert counts == {"a_b": 2, "list": [{"aB": 3}]}, counts
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
