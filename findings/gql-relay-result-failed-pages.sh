#!/usr/bin/env bash
# gql-relay-result: a page that fails ends the list, which is returned as if it were all of it.
#
# Guessed before: `fetch_all` returns all rows of a connection, or raises what a request raised.
# What happens: the error of a later page is printed, and the rows so far are the result. A time-out
# behind the second page of three makes four of six rows, with nothing in the value or the object that
# says so. What fails at the first page is raised.
# Versions: gql-relay-result 0.0.6, gql 4.4.0, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gql-relay-result==0.0.6 gql==4.4.0 graphql-core==3.3.2 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from gql_relay_result import GqlRelayResult

QUERY = """query ($after: String) {
  rows(after: $after) {
    edges { node { id } }
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}"""


async def fetch(query, variables, *, fails=False):
    start = int(variables.get("after") or 0)
    if fails and start == 4:
        raise TimeoutError("the third page took too long")
    page = [{"node": {"id": number}} for number in range(start, start + 2)]
    info = {"startCursor": str(start), "endCursor": str(start + 2)}
    info |= {"hasNextPage": start < 4, "hasPreviousPage": start > 0}
    return {"rows": {"edges": page, "pageInfo": info}}


async def fetch_all(fails: bool) -> list[int]:
    def execute(query, variables):
        return fetch(query, variables, fails=fails)

    rows = GqlRelayResult(await execute(QUERY, {}), QUERY, {}, execute)
    return [edge["node"]["id"] for edge in await GqlRelayResult.fetch_all(rows)]


found = [asyncio.run(fetch_all(fails)) for fails in (False, True)]
print(found)
assert found == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3]], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py" 2>"$folder/errors.txt"
grep TimeoutError "$folder/errors.txt"
