#!/usr/bin/env bash
# dlt: an error of GraphQL in the answer empties the table, and the load is a success.
#
# Guessed before: where the endpoint answers `errors` and null for `data`, with status 200 as the
# specification allows, the load of a `rest_api` source fails, or the table stays as it was.
# What happens: a `data_selector` that finds nothing is a page without rows, and the last one, and
# `errors` is not read. With "replace", a timeout on the second page leaves the first page as the
# whole table, and one on the first page leaves no rows; `has_failed_jobs` is false both times.
# Versions: dlt 1.31.0, duckdb 2.0.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "dlt[duckdb]==1.31.0" duckdb==2.0.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
import dlt
from dlt.sources.rest_api import rest_api_source

folder = sys.argv[1]
failing = set()  # the cursors of the pages that have an error
pages = {
    None: {"nodes": [{"id": 1}, {"id": 2}], "pageInfo": {"hasNextPage": True, "endCursor": "2"}},
    "2": {"nodes": [{"id": 3}], "pageInfo": {"hasNextPage": False, "endCursor": None}},
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        after = request["variables"].get("after")
        answer = {"data": {"users": pages[after]}}
        if after in failing:
            answer = {"errors": [{"message": "timeout", "path": ["users"]}], "data": None}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


def load() -> tuple:
    fields = "users(after: $after) {{ nodes {{ id }} pageInfo {{ hasNextPage endCursor }} }}"
    endpoint = {
        "path": "graphql",
        "method": "POST",
        "json": {"query": "query ($after: String) {{ %s }}" % fields, "variables": {}},
        "data_selector": "data.users.nodes",
        "paginator": {
            "type": "cursor",
            "cursor_path": "data.users.pageInfo.endCursor",
            "cursor_body_path": "variables.after",
        },
    }
    users = {"name": "users", "write_disposition": "replace", "endpoint": endpoint}
    client = {"base_url": f"http://127.0.0.1:{server.server_port}/"}
    database = dlt.destinations.duckdb(os.path.join(folder, "users.duckdb"))
    pipeline = dlt.pipeline(
        "rows", pipelines_dir=folder, destination=database, dataset_name="loaded"
    )
    info = pipeline.run(rest_api_source({"client": client, "resources": [users]}))
    with pipeline.sql_client() as sql:
        rows = sql.execute_sql("SELECT id FROM users ORDER BY id")
    return [row[0] for row in rows], info.has_failed_jobs


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
found = [load()]
failing.add("2")
found.append(load())
failing.add(None)
found.append(load())
server.shutdown()
print(found)
assert found == [([1, 2, 3], False), ([1, 2], False), ([], False)], found
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
