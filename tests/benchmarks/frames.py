"""Benchmarks of frames: ``python tests/benchmarks/frames.py [names...]``.

The client's road is measured twice over an HTTP server of the standard library, a process of its
own. In ``http`` each side asks it each time, so that both receive the bytes; the figures hold the
processor time that the asking process takes for that too. In the other ``client`` workloads one
response has come over that road and is handed to the client again and again, so that receiving is
in no figure: ours is all of ``Client.execute`` but the socket, the rival's what follows the bytes.
"""

from __future__ import annotations

import atexit
import io
import json
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pandas as pd
import pyarrow.json
import requests
from graphql import build_schema, parse, validate

from gqlnb import Client, Schema
from gqlnb.document.document import Document
from gqlnb.result.decoder import decode_envelope, get_row_decoders
from gqlnb.result.result import Result
from gqlnb.result.shape import build_shape
from gqlnb.result.tables import get_read_plan
from tests.benchmarks.measure import OURS, Costs, Goal, Sides, Workload, main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gqlnb.http.messages import Request, Response

NORMALIZE = "json + json_normalize"
LOADS = "json.loads"
ARROW = "pyarrow.json"
ORJSON = "orjson + DataFrame"
HAND = "by hand"
BYTES = "the bytes"
PARSING = "parse + validate"
MANY = 100_000
SEVERAL = 1_000  # edges: an answer that is large enough for its data to wait
COLUMNS = 100
WIDE_ROWS = 500
KIB = 1024
ROOT = Path(__file__).parents[2]

# -- what is asked, and what comes: search edges, with the nullability they have at GitHub

SDL = """
type Query { search(first: Int): SearchResultItemConnection! }
type SearchResultItemConnection { repositoryCount: Int! edges: [SearchResultItemEdge] }
type SearchResultItemEdge { cursor: String! node: SearchResultItem }
union SearchResultItem = Repository | User
type Repository { id: ID! name: String! owner: RepositoryOwner! stargazers: StargazerConnection! }
type User implements RepositoryOwner { login: String! }
interface RepositoryOwner { login: String! }
type StargazerConnection { totalCount: Int! }
"""
FIELDS = "name owner { login } stargazers { totalCount }"
SEARCH = f"{{ search {{ edges {{ node {{ ... on Repository {{ {FIELDS} }} }} }} }} }}"


def node(number: int, *, holes: bool) -> dict[str, Any]:
    """Return one repository; with holes, one in fifty has lost its owner."""
    owner = None if holes and number % 50 == 7 else {"login": f"owner-{number % 1000}"}
    stars = {"totalCount": 1_000 + number}
    return {"name": f"repository-{number}", "owner": owner, "stargazers": stars}


def body_of(size: int, *, holes: bool = False) -> bytes:
    """Return a response with as many edges."""
    edges = [{"node": node(n, holes=holes)} for n in range(size)]
    return json.dumps({"data": {"search": {"edges": edges}}}, separators=(",", ":")).encode()


def document() -> Document:
    """Return the search, checked."""
    return Document.parse(SEARCH, build_schema(SDL))


def normalized(body: bytes) -> pd.DataFrame:
    """Read a response as people do."""
    edges = json.loads(body)["data"]["search"]["edges"]
    return pd.json_normalize([edge["node"] for edge in edges])


def by_arrow(lines: bytes) -> pd.DataFrame:
    """Read rows as lines of JSON."""
    table = pyarrow.json.read_json(io.BytesIO(lines))
    frame: pd.DataFrame = table.flatten().to_pandas()
    return frame


def by_hand(data: dict[str, Any]) -> pd.DataFrame:
    """Build the frame of data of this process as a person would write it."""
    nodes = [edge["node"] for edge in data["search"]["edges"]]
    return pd.DataFrame(
        {
            "name": [node["name"] for node in nodes],
            "owner.login": [node["owner"]["login"] for node in nodes],
            "stargazers.totalCount": [node["stargazers"]["totalCount"] for node in nodes],
        }
    )


def values(frame: pd.DataFrame) -> str:
    """Return columns and values of a frame as text, whatever its dtypes."""
    plain = frame.astype(object).where(frame.notna(), None)
    columns = {name: plain[name].tolist() for name in frame.columns}
    numbers = {k: [float(v) if isinstance(v, int) else v for v in c] for k, c in columns.items()}
    return json.dumps(numbers, sort_keys=True)


# -- the client's road

SERVE = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tests.benchmarks.frames import body_of

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

BODY = body_of(SIZE)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def endpoint(size: int) -> str:
    """Start a server that answers with as many edges, in a process that ends with this one."""
    server = subprocess.Popen(
        [sys.executable, "-c", f"SIZE = {size}{SERVE}"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)
    atexit.register(server.terminate)
    assert server.stdout is not None
    return f"http://127.0.0.1:{server.stdout.readline().strip()}/graphql"


class Came:
    """A transport that hands over a response that has come over HTTP."""

    source = "benchmark"

    def __init__(self, size: int) -> None:
        with Client(endpoint(size)) as client:
            self.response = client.execute(SEARCH).response

    def send(self, _request: Request) -> Response:
        """Return the response."""
        return self.response  # type: ignore[no-any-return]

    async def asend(self, request: Request) -> Response:
        """Return the response."""
        return self.send(request)

    def close(self) -> None:
        """Do nothing."""


def over_http(size: int) -> Sides:
    """Ask a server and make a frame of its answer, receiving it included on both sides."""
    url = endpoint(size)
    client, session = Client(url, schema=build_schema(SDL)), requests.Session()
    asked = {"query": SEARCH}
    return {
        OURS: lambda: client.execute(SEARCH).frame(),
        NORMALIZE: lambda: normalized(session.post(url, json=asked, timeout=60).content),
    }


def of_a_response(size: int) -> Sides:
    """Make a frame of a response that has come, the client's checks included."""
    came = Came(size)
    client = Client(came, schema=build_schema(SDL))
    body = came.response.body
    return {OURS: lambda: client.execute(SEARCH).frame(), NORMALIZE: partial(normalized, body)}


def data_of_a_response(size: int) -> Sides:
    """Make the dicts of a response that has come, the client's checks included."""
    came = Came(size)
    client = Client(came, schema=build_schema(SDL))
    body = came.response.body
    return {OURS: lambda: client.execute(SEARCH).data, LOADS: lambda: json.loads(body)["data"]}


# -- the sides


def from_bytes(size: int, *, holes: bool) -> Sides:
    """Make a frame of the bytes of a response, as others do."""
    body, asked = body_of(size, holes=holes), document()
    rows = [node(n, holes=holes) for n in range(size)]
    lines = b"\n".join(json.dumps(row, separators=(",", ":")).encode() for row in rows)
    sides: Sides = {
        OURS: lambda: Result.from_bytes(body, asked).frame(),
        ARROW: partial(by_arrow, lines),
    }
    if not holes:  # json_normalize has a column "owner" of the nulls as well
        sides[NORMALIZE] = partial(normalized, body)
    return sides


def of_many_columns(size: int) -> Sides:
    """Make a frame of the bytes of a response with many columns."""
    kinds = ("Int", "String", "Float")
    names = [f"f{n}" for n in range(size)]
    fields = " ".join(f"{name}: {kinds[n % 3]}" for n, name in enumerate(names))
    schema = build_schema(f"type Query {{ rows: [Row!]! }} type Row {{ {fields} }}")
    asked = Document.parse(f"{{ rows {{ {' '.join(names)} }} }}", schema)
    rows = [
        {name: (row * n, f"text {row}", row / 2 + n)[n % 3] for n, name in enumerate(names)}
        for row in range(WIDE_ROWS)
    ]
    body = json.dumps({"data": {"rows": rows}}, separators=(",", ":")).encode()
    return {
        OURS: lambda: Result.from_bytes(body, asked).frame(),
        ORJSON: lambda: pd.DataFrame(orjson.loads(body)["data"]["rows"]),
    }


def in_process(size: int) -> Sides:
    """Make a frame of the data of this process, against column comprehensions."""
    data, asked = json.loads(body_of(size))["data"], document()
    return {OURS: lambda: Result(data, document=asked).frame(), HAND: partial(by_hand, data)}


ROW_TYPES = {"text": "String", "code": "ID!", "count": "Int", "size": "Float", "ok": "Boolean!"}


class Row:
    """A row as a program has them."""

    def __init__(self, number: int) -> None:
        self.text = None if number % 7 == 0 else f"repository-{number}"
        self.code = f"R_{number}"
        self.count = number % 5000
        self.size = number / 2
        self.ok = number % 3 == 0


def of_rows(names: tuple[str, ...], size: int) -> Sides:
    """Execute over rows and make a frame, against column comprehensions."""
    fields = " ".join(f"{name}: {ROW_TYPES[name]}" for name in names)
    schema = Schema(f"type Query {{ rows: [Row!]! }} type Row {{ {fields} }}")
    root = {"rows": [Row(number) for number in range(size)]}
    text = f"{{ rows {{ {' '.join(names)} }} }}"
    space: dict[str, Any] = {}
    columns = ", ".join(f"{name!r}: [row.{name} for row in rows]" for name in names)
    exec(f"def build(rows): return {{{columns}}}", space)
    return {
        OURS: lambda: schema.execute(text, root=root).frame(),
        HAND: lambda: pd.DataFrame(space["build"](root["rows"])),
    }


def new_documents(size: int) -> Sides:
    """Make shape and decoders of documents never seen before, against checking a document."""
    fields = " ".join(f"f{n}: {('Int', 'String!', 'Float', 'ID!')[n % 4]}" for n in range(size))
    schema = build_schema(f"type Query {{ rows: [Row] }} type Row {{ {fields} }}")
    texts = selections(size)
    documents = (Document(text, ast, ast.definitions[0], schema) for text, ast in texts)
    parsing = selections(size)

    def ours() -> int:
        shape = build_shape(next(documents))
        assert shape is not None
        plan = get_read_plan(shape, frozenset({"rows"}), "rows")
        get_row_decoders(plan)
        decode_envelope(b'{"data":{"rows":[]}}', shape)  # makes the decoder of the response
        return len(plan.wanted["rows"].columns)

    def theirs() -> int:
        text, _ = next(parsing)
        assert validate(schema, parse(text)) == []
        return size

    return {OURS: ours, PARSING: theirs}


def selections(size: int) -> Iterator[tuple[str, Any]]:
    """Yield one selection of as many columns after the other, parsed."""
    for number in count():
        text = f"{{ rows {{ {' '.join(f'a{number}_{n}: f{n}' for n in range(size))} }} }}"
        yield text, parse(text)


def memory(size: int) -> Sides:
    """Make a frame of bytes, against the bytes."""
    body, asked = body_of(size), document()
    return {OURS: lambda: Result.from_bytes(body, asked).frame(), BYTES: lambda: normalized(body)}


def peaks(sides: Sides, rounds: int) -> Costs:
    """Return the bytes of memory at the peak, each time in a process of its own, and of the body.

    The process is asked, not Python: Arrow and msgspec allocate on their own.
    """
    return peaks_by("peak", sides, rounds)


def client_peaks(sides: Sides, rounds: int) -> Costs:
    """Do as :func:`peaks`, for the frame of a client."""
    return peaks_by("client_peak", sides, rounds)


def peaks_by(name: str, sides: Sides, rounds: int) -> Costs:
    """Return what a function of this module says, each time in a process of its own."""
    size = len(sides[OURS]())
    code = f"from tests.benchmarks.frames import {name}; print({name}({size}))"
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        found.append(float(done.stdout))
    return {OURS: found, BYTES: [float(len(body_of(size)))] * rounds}


def peak(size: int) -> int:
    """Return the bytes that this process holds at most while it makes a frame, body included."""
    asked = document()
    Result.from_bytes(body_of(3), asked).frame()
    body = body_of(size)
    return highest(lambda: Result.from_bytes(body, asked), size) + len(body)


def client_peak(size: int) -> int:
    """Do as :func:`peak`, from when a client has received the response to when it has the frame."""
    schema, came = build_schema(SDL), Came(size)
    assert len(Client(Came(SEVERAL), schema=schema).execute(SEARCH).frame())  # all is imported
    client = Client(came, schema=schema)
    return highest(lambda: client.execute(SEARCH), size) + len(came.response.body)


def highest(ask: Callable[[], Result], size: int) -> int:
    """Return how many bytes this process takes at most, beyond those it has, to make a frame."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest mark
    before = status("VmRSS")
    result = ask()
    assert len(result.frame()) == size
    assert "data" not in vars(result)
    return status("VmHWM") - before


def status(name: str) -> int:
    """Return a figure of this process's memory in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * KIB for line in lines if line.startswith(f"{name}:"))


def framed(
    name: str, sides: Any, goals: tuple[Goal, ...], size: int = MANY, small: int = 300
) -> Workload:
    """Return a workload whose answers are frames."""
    return Workload(name, sides, goals, size, small, rounds=9, text=values)


WORKLOADS = [
    framed("bytes", partial(from_bytes, holes=False),
     (Goal(NORMALIZE, 12), Goal(ARROW, 2.5, most=True))),
    framed("bytes-nulls", partial(from_bytes, holes=True), (Goal(ARROW, 2.5, most=True),)),
    framed("wide", of_many_columns, (Goal(ORJSON, 1.5),), 2_000, 100),
    framed("in-process", in_process, (Goal(HAND, 1, most=True),)),
    framed("rows", partial(of_rows, tuple(ROW_TYPES)), (Goal(HAND, 1.5, most=True),)),
    framed("rows-text", partial(of_rows, ("text",)), (Goal(HAND, 1.5, most=True),)),
    framed("rows-numbers", partial(of_rows, ("count", "size")), (Goal(HAND, 1.5, most=True),)),
    Workload("new-document", new_documents, (Goal(PARSING, 1, most=True),), COLUMNS, COLUMNS,
     text=str),
    framed("client", of_a_response, (Goal(NORMALIZE, 12),), small=SEVERAL),
    framed("http", over_http, (Goal(NORMALIZE, 10),), small=SEVERAL),
    Workload("client-data", data_of_a_response, (Goal(LOADS, 1.15, most=True),), MANY, SEVERAL,
     rounds=9, text=json.dumps),
    Workload("client-memory", memory, (Goal(BYTES, 3, most=True),), MANY, 30_000, client_peaks, 5,
     values),
    Workload("memory", memory, (Goal(BYTES, 3, most=True),), MANY, 30_000, peaks, 5, values),
]  # fmt: skip

if __name__ == "__main__":
    main(__file__, WORKLOADS)
