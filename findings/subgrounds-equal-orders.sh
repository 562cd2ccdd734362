#!/usr/bin/env bash
# subgrounds: rows with equal values of `orderBy` are one row if a list in them is selected, too.
#
# Guessed before: pools in the order of their fees are the same pools whether only their own fields
# are selected or their swaps as well, since the library reads all pages by itself.
# What happens: where a list is nested, it asks for one outer row after the other, each with
# `first: 1` and `fee_lt` of the row before. Of three pools with the fees 30, 30 and 5 the second is
# in no answer, and nothing says so. Without the swaps all three come, and so they do in the order of
# `id`. In flat lists the same happens behind every 900th row (issue 11 of its repository).
# Versions: subgrounds 1.9.1, pandas 2.3.3, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet subgrounds==1.9.1 pandas==2.3.3 graphql-core==3.3.2 2>/dev/null
cat >run.py <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import graphql
from subgrounds import Subgrounds

arguments = "first: Int = 100, skip: Int = 0, orderBy: {0}_orderBy, orderDirection: OrderDirection"
sdl = """
enum OrderDirection { asc desc }
enum Pool_orderBy { id fee }
enum Swap_orderBy { id }
input Pool_filter { id_gt: ID id_lt: ID fee_gt: Int fee_lt: Int }
input Swap_filter { id_gt: ID id_lt: ID }
type Swap { id: ID! }
type Pool { id: ID! fee: Int! swaps(SWAPS, where: Swap_filter): [Swap!]! }
type Query { pools(POOLS, where: Pool_filter): [Pool!]! }
""".replace("SWAPS", arguments.format("Swap")).replace("POOLS", arguments.format("Pool"))
schema = graphql.build_schema(sdl)


def read(rows):
    """Return a resolver with the rules of a subgraph: filters, then order, then `skip`, `first`."""

    def resolve(info, first, skip, orderBy="id", orderDirection="asc", where=None):
        kept = list(rows)
        for name, value in (where or {}).items():
            field, operator = name.split("_")
            kept = [r for r in kept if (r[field] > value) == (operator == "gt") and r[field] != value]
        kept.sort(key=lambda row: row["id"])
        kept.sort(key=lambda row: row[orderBy], reverse=orderDirection == "desc")
        return kept[skip : skip + first]

    return resolve


pools = [
    {"id": name, "fee": fee, "swaps": read([{"id": f"{name}-{n}"} for n in range(2)])}
    for name, fee in (("a", 30), ("b", 30), ("c", 5))
]


class Subgraph(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = graphql.graphql_sync(
            schema,
            request["query"],
            {"pools": read(pools)},
            variable_values=request.get("variables"),
        )
        body = json.dumps(answer.formatted).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), Subgraph)
threading.Thread(target=server.serve_forever, daemon=True).start()
with Subgrounds() as client:
    api = client.load_subgraph(f"http://127.0.0.1:{server.server_port}/")
    by_fee = api.Query.pools(orderBy=api.Pool.fee, orderDirection="desc")
    by_id = api.Query.pools()
    frames = {
        "fees": client.query_df([by_fee.id, by_fee.fee]),
        "fees and swaps": client.query_df([by_fee.id, by_fee.fee, by_fee.swaps.id]),
        "ids and swaps": client.query_df([by_id.id, by_id.fee, by_id.swaps.id]),
    }
server.shutdown()
found = {name: " ".join(dict.fromkeys(frame["pools_id"])) for name, frame in frames.items()}
print(found)
assert found == {"fees": "a b c", "fees and swaps": "a c", "ids and swaps": "a b c"}, found
PYTHON
venv/bin/python run.py
