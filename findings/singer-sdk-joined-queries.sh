#!/usr/bin/env bash
# singer-sdk: a comment in a query of several lines swallows the rest of the query.
#
# One would expect: `query` is sent as it is written; what GraphQL ignores, such as a comment up to
# the end of its line, changes nothing.
# What happens: `GraphQLStream` strips the lines and joins them with spaces. After a `#`, nothing of
# the query is left, and as the stream does not look at the errors of an answer with status 200, it
# has no rows, and the run succeeds. The lines of a block string become one: another value is sent.
# Versions: singer-sdk 0.54.9, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet singer-sdk==0.54.9 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from graphql import build_schema, graphql_sync
from singer_sdk import Tap
from singer_sdk import typing as th
from singer_sdk.streams import GraphQLStream

schema = build_schema("type Row { id: ID } type Query { rows(note: String): [Row] }")


class Root:
    def rows(self, _info, note="none"):
        return [{"id": note}]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(graphql_sync(schema, body["query"], Root()).formatted).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()


class Rows(GraphQLStream):
    name = "rows"
    url_base = f"http://127.0.0.1:{server.server_port}"
    schema = th.PropertiesList(th.Property("id", th.StringType)).to_dict()


class Example(Tap):
    name = "tap-example"
    config_jsonschema = th.PropertiesList().to_dict()

    def discover_streams(self):
        return []


logging.disable()
found = {}
queries = {
    "plain": """query {
      rows {
        id
      }
    }""",
    "comment": """query {
      rows { # all of them
        id
      }
    }""",
    "block string": '''query {
      rows(note: """
        one
        two
      """) { id }
    }''',
}
for name, query in queries.items():
    Rows.query = query
    found[name] = [row["id"] for row in Rows(tap=Example()).get_records(None)]
    found[name] += [row["id"] for row in graphql_sync(schema, query, Root()).data["rows"]]
server.shutdown()
print(found)
assert found == {
    "plain": ["none", "none"],
    "comment": ["none"],
    "block string": [" one two ", "one\ntwo"],
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
