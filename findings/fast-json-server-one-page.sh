#!/usr/bin/env bash
# fast-json-server: `totalPages` is 1 on each page, and `totalItems` does not know of the filter.
#
# Guessed before: 137 rows in pages of 10 have 14 pages, and a filter that 27 rows fulfil has the total 27.
# What happens: the pages are counted after the rows are cut to one, so that `totalPages` is 1 whatever the
# size is, and a client that reads as many pages as it says has 10 of 137 rows. `totalItems` is counted
# before the filter: 137 beside the 27 rows of `stars: 3`. `itemCount` is the size that was asked for, also
# of the last page: 50 beside 37 rows. A page behind the end has `totalPages: 0`.
# Versions: fast-json-server 0.0.1, graphene 2.1.9, starlette 0.14.2, pandas 1.5.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  fast-json-server==0.0.1 fastapi==0.65.3 starlette==0.14.2 graphene==2.1.9 pydantic==1.10.21 \
  pandas==1.5.3 numpy==1.26.4 requests==2.32.3 setuptools==75.8.0 uvicorn==0.20.0
cat >"$folder/main.py" <<'PY'
import json
import pathlib

import uvicorn
from fast_json_server import graph_ql
from starlette.testclient import TestClient

folder = pathlib.Path(__file__).parent / "data"
folder.mkdir()
rows = [{"id": number, "stars": number % 5} for number in range(1, 138)]
(folder / "rows.json").write_text(json.dumps(rows))
# The server builds its schema where it is started; the requests below need no port.
uvicorn.run = lambda *args, **options: None
graph_ql.start_graphql(str(folder), "127.0.0.1", 0, "error")
client = TestClient(graph_ql.app)


def read_page(arguments):
    query = f"{{ rows({arguments}) {{ totalPages totalItems pageData {{ itemCount items {{ id }} }} }} }}"
    [page] = client.post("/api/v1/graphql", json={"query": query}).json()["data"]["rows"]
    data = page["pageData"]
    counts = f"{page['totalPages']} pages, {page['totalItems']} items, count {data['itemCount']}"
    return f"{arguments}: {len(data['items'])} rows, {counts}"


found = [
    read_page("pageSize: 10"),
    read_page("pageSize: 50, pageNum: 3"),
    read_page("pageSize: 50, pageNum: 4"),
    read_page("stars: 3, pageSize: 50"),
]
print("\n".join(found))
assert found == [
    "pageSize: 10: 10 rows, 1 pages, 137 items, count 10",
    "pageSize: 50, pageNum: 3: 37 rows, 1 pages, 137 items, count 50",
    "pageSize: 50, pageNum: 4: 0 rows, 0 pages, 137 items, count 50",
    "stars: 3, pageSize: 50: 27 rows, 1 pages, 137 items, count 50",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
