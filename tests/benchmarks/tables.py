"""Benchmarks of tables beside other readers of JSON: ``python tests/benchmarks/tables.py``.

Each side makes a DataFrame of pandas, and Polars one of its own, of the bytes of the same answer:
100,000 rows of plain values (``plain``), as many with objects in them (``flat``), or 1,000 rows
with 100 items in each, a row for each item (``nested``). Without objects json_normalize only calls
``DataFrame``. In ``http`` each side requests the answer from a server in a process of its own.
"""

from __future__ import annotations

import atexit
import io
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.json
import requests
from graphql import build_schema

from gqlnb import Client, Result
from gqlnb.document.document import Document
from tests.benchmarks.measure import OURS, Goal, Sides, Workload, main

if TYPE_CHECKING:
    from collections.abc import Callable

NORMALIZE = "orjson + json_normalize"
POLARS = "polars.read_json"
ARROW = "pyarrow.json"
ITEMS = 100  # in each row of the nested answer
ROOT = Path(__file__).parents[2]
SDL = """
type Query { users: [User!]! }
type User {
  id: ID! name: String! plan: Plan age: Int score: Float
  owner: Owner! stars: Stars! orders: [Order!]!
}
type Owner { login: String! }
type Stars { totalCount: Int! }
type Order { number: Int! total: Float! note: String }
enum Plan { FREE PRO }
"""
PLAIN = "{ users { id name plan age score } }"
FLAT = "{ users { name owner { login } stars { totalCount } } }"
NESTED = "{ users { id name orders { number total note } } }"


def user(number: int) -> dict[str, Any]:
    """Return a row without lists; some values are null."""
    return {
        "id": str(number),
        "name": f"user {number}",
        "plan": "PRO" if number % 3 else "FREE",
        "age": None if number % 10 == 7 else number % 90,
        "score": number / 7,
    }


def owned(number: int) -> dict[str, Any]:
    """Return a row with objects, as of a search at GitHub."""
    owner, stars = {"login": f"owner {number % 1000}"}, {"totalCount": number}
    return {"name": f"repository {number}", "owner": owner, "stars": stars}


def order(number: int) -> dict[str, Any]:
    """Return an item of a row."""
    return {"number": number, "total": number * 1.5, "note": f"note {number}"}


def plain_body(size: int) -> bytes:
    """Return an answer of rows of plain values."""
    return orjson.dumps({"data": {"users": [user(number) for number in range(size)]}})


def flat_body(size: int) -> bytes:
    """Return an answer of rows with objects."""
    return orjson.dumps({"data": {"users": [owned(number) for number in range(size)]}})


def nested_body(size: int) -> bytes:
    """Return an answer of rows with lists."""
    rows = []
    for number in range(max(size // ITEMS, 1)):
        first = number * ITEMS
        items = [order(it) for it in range(first, first + ITEMS)]
        rows.append({"id": str(number), "name": f"user {number}", "orders": items})
    return orjson.dumps({"data": {"users": rows}})


# -- the readers


def normalize_flat(body: bytes) -> pd.DataFrame:
    """Read flat rows by json_normalize."""
    return pd.json_normalize(orjson.loads(body)["data"]["users"])


def normalize_nested(body: bytes) -> pd.DataFrame:
    """Read the items of all rows by json_normalize, beside their rows."""
    rows = orjson.loads(body)["data"]["users"]
    frame = pd.json_normalize(rows, "orders", ["id", "name"], record_prefix="orders.")
    return frame[["id", "name", *(name for name in frame if name.startswith("orders."))]]


def polars_plain(body: bytes) -> pl.DataFrame:
    """Read plain rows by Polars."""
    return pl.read_json(body).unnest("data").explode("users").unnest("users")


def polars_flat(body: bytes) -> pl.DataFrame:
    """Read flat rows by Polars."""
    return polars_plain(body).unnest("owner", "stars", separator=".")


def polars_nested(body: bytes) -> pl.DataFrame:
    """Read the items of all rows by Polars, beside their rows."""
    frame = polars_plain(body).explode("orders")
    items = frame["orders"].struct.unnest()
    return frame.drop("orders").hstack(items.rename(lambda name: f"orders.{name}"))


def arrow_users(body: bytes) -> pa.Table:
    """Read the rows by Arrow."""
    options = pa.json.ReadOptions(block_size=len(body) + 1)
    data = pa.json.read_json(io.BytesIO(body), read_options=options)["data"].combine_chunks()
    return pa.Table.from_struct_array(data.field("users").flatten())


def arrow_plain(body: bytes) -> pd.DataFrame:
    """Read plain rows by Arrow."""
    return arrow_users(body).to_pandas()


def arrow_flat(body: bytes) -> pd.DataFrame:
    """Read flat rows by Arrow."""
    return arrow_users(body).flatten().to_pandas()


def arrow_nested(body: bytes) -> pd.DataFrame:
    """Read the items of all rows by Arrow, beside their rows."""
    table = arrow_users(body)
    orders = table["orders"].combine_chunks()
    items = pa.Table.from_struct_array(orders.flatten())
    rows = table.select(["id", "name"]).take(orders.value_parent_indices())
    for name in items.column_names:
        rows = rows.append_column(f"orders.{name}", items[name])
    return rows.to_pandas()


READERS: dict[str, dict[str, Callable[[bytes], Any]]] = {
    "plain": {NORMALIZE: normalize_flat, POLARS: polars_plain, ARROW: arrow_plain},
    "flat": {NORMALIZE: normalize_flat, POLARS: polars_flat, ARROW: arrow_flat},
    "nested": {NORMALIZE: normalize_nested, POLARS: polars_nested, ARROW: arrow_nested},
}
BODIES = {"plain": plain_body, "flat": flat_body, "nested": nested_body}
TEXTS = {"plain": PLAIN, "flat": FLAT, "nested": NESTED}


def values(frame: pd.DataFrame | pl.DataFrame) -> str:
    """Return columns and values of a frame as text, whatever its dtypes."""
    if isinstance(frame, pl.DataFrame):
        columns = frame.to_dict(as_series=False)
    else:
        plain = frame.astype(object).where(frame.notna(), None)
        columns = {name: plain[name].tolist() for name in frame.columns}
    numbers = {k: [float(v) if isinstance(v, int) else v for v in c] for k, c in columns.items()}
    return json.dumps(numbers)


def read(result: Result, kind: str) -> pd.DataFrame:
    """Return our frame."""
    return result.frame(explode="orders" if kind == "nested" else None)


def from_bytes(size: int, kind: str) -> Sides:
    """Make a frame of the bytes of an answer."""
    body, document = BODIES[kind](size), Document.parse(TEXTS[kind], build_schema(SDL))
    sides: Sides = {OURS: lambda: read(Result.from_bytes(body, document), kind)}
    for name, reader in READERS[kind].items():
        sides[name] = partial(reader, body)
    return sides


SERVE = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tests.benchmarks.tables import BODIES

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass

BODY = BODIES[KIND](SIZE)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def start_server(size: int, kind: str) -> str:
    """Start a server that answers with the bytes, in a process that ends with this one."""
    server = subprocess.Popen(
        [sys.executable, "-c", f"SIZE, KIND = {size}, {kind!r}{SERVE}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    atexit.register(server.terminate)
    assert server.stdout is not None
    return f"http://127.0.0.1:{server.stdout.readline().strip()}/graphql"


def over_http(size: int, kind: str) -> Sides:
    """Request an answer and make a frame of it."""
    url, session = start_server(size, kind), requests.Session()
    client, asked = Client(url, schema=build_schema(SDL)), {"query": TEXTS[kind]}
    reader = READERS[kind][NORMALIZE]
    return {
        OURS: lambda: read(client.execute(TEXTS[kind]), kind),
        NORMALIZE: lambda: reader(session.post(url, json=asked, timeout=60).content),
    }


def framed(
    name: str, sides: Any, goals: tuple[Goal, ...], size: int = 100_000, small: int = 2_000
) -> Workload:
    """Return a workload whose answers are frames."""
    return Workload(name, sides, goals, size, small, rounds=7, text=values)


GOALS = (Goal(NORMALIZE, 12), Goal(POLARS, 1), Goal(ARROW, 0.4))
WORKLOADS = [
    framed("plain", partial(from_bytes, kind="plain"), (Goal(POLARS, 1), Goal(ARROW, 0.4))),
    framed("flat", partial(from_bytes, kind="flat"), GOALS),
    framed("nested", partial(from_bytes, kind="nested"), GOALS),
    framed("flat-http", partial(over_http, kind="flat"), (Goal(NORMALIZE, 10),)),
    framed("nested-http", partial(over_http, kind="nested"), (Goal(NORMALIZE, 10),)),
]

if __name__ == "__main__":
    main(__file__, WORKLOADS)
