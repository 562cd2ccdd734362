#!/usr/bin/env bash
# rcsb-api: with a progress bar, the rows come in another order.
#
# Guessed before: `progress_bar=True` shows a bar, and the answer is the same.
# What happens: many ids are requested in batches, several at a time. Without a bar the batches are
# joined in the order of the ids. With one they are joined as they are answered: where the first of
# three takes longest, its rows are the last, and rows that are paired with the ids by their place
# belong to other structures. `rcsb_id`, which is added to the query, tells which row is whose.
# Versions: rcsb-api 1.7.3, httpx 0.28.1, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet rcsb-api==1.7.3 httpx==0.28.1 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from graphql import build_schema, graphql_sync
from rcsbapi.const import const

# The part of the schema of data.rcsb.org that is needed here.
schema = build_schema("""
type Query {
  entry(entry_id: String!): CoreEntry
  entries(entry_ids: [String!]!): [CoreEntry]
  assemblies(assembly_ids: [String]!): [CoreAssembly]
}
type CoreEntry { rcsb_id: String!  exptl: [Exptl]  assemblies: [CoreAssembly] }
type CoreAssembly { rcsb_id: String! }
type Exptl { method: String! }
""")


class Root:
    def entries(self, info: object, entry_ids: list) -> list:
        time.sleep(1 if "1AAA" in entry_ids else 0)
        return [{"rcsb_id": name, "exptl": [{"method": "method of " + name}]} for name in entry_ids]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"]
        content = json.dumps(graphql_sync(schema, query, Root()).formatted).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
object.__setattr__(const, "DATA_API_ENDPOINT", f"http://127.0.0.1:{server.server_port}/graphql")
from rcsbapi.data import DataQuery

names = ["1AAA", "1BBB", "1CCC"]


def fetch(progress_bar: bool) -> list:
    query = DataQuery(
        input_type="entries", input_ids=names, return_data_list=["entries.exptl.method"]
    )
    rows = query.exec(batch_size=1, progress_bar=progress_bar)["data"]["entries"]
    assert all(row["exptl"][0]["method"] == "method of " + row["rcsb_id"] for row in rows), rows
    return [row["rcsb_id"] for row in rows]


without, with_bar = fetch(progress_bar=False), fetch(progress_bar=True)
server.shutdown()
print(without, with_bar)
assert without == names, without
assert sorted(with_bar) == names and with_bar[-1] == "1AAA", with_bar
PYTHON
"$folder/venv/bin/python" "$folder/run.py" 2>/dev/null
