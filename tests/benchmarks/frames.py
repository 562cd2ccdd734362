"""Benchmarks of frames: ``python tests/benchmarks/frames.py [names...]``.

In the ``client`` workloads a transport hands a response to the client again and again, so that
receiving is in no figure: ours is all of ``Client.execute`` but the socket, the rival's what
follows the bytes.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pandas as pd
import pyarrow.json
from graphql import build_schema

from gqlnb import Client, Schema
from gqlnb.document.document import Document
from gqlnb.http.messages import Response
from gqlnb.result.result import Result
from tests.benchmarks.measure import OURS, Costs, Goal, Sides, Workload, main

if TYPE_CHECKING:
    from gqlnb.http.messages import Request

NORMALIZE = "json + json_normalize"
LOADS = "json.loads"
ARROW = "pyarrow.json"
ORJSON = "orjson + DataFrame"
HAND = "by hand"
BYTES = "the bytes"
MANY = 100_000
SEVERAL = 1_000  # edges: an answer that is large enough for its data to wait
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


class Came:
    """A transport that hands over a response as it comes over HTTP."""

    source = "benchmark"

    def __init__(self, size: int) -> None:
        self.response = Response(200, {"content-type": "application/json"}, body_of(size))

    def send(self, _request: Request) -> Response:
        """Return the response."""
        return self.response  # type: ignore[no-any-return]

    async def asend(self, request: Request) -> Response:
        """Return the response."""
        return self.send(request)

    def close(self) -> None:
        """Do nothing."""


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


def memory(size: int) -> Sides:
    """Make a frame of bytes, against the bytes."""
    body, asked = body_of(size), document()
    return {OURS: lambda: Result.from_bytes(body, asked).frame(), BYTES: lambda: normalized(body)}


def peaks(sides: Sides, rounds: int) -> Costs:
    """Return the bytes of memory at the peak, each time in a process of its own, and of the body.

    The process is asked, not Python: Arrow and msgspec allocate on their own.
    """
    size = len(sides[OURS]())
    code = f"from tests.benchmarks.frames import peak; print(peak({size}))"
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        found.append(float(done.stdout))
    return {OURS: found, BYTES: [float(len(body_of(size)))] * rounds}


def peak(size: int) -> int:
    """Return the bytes that this process holds at most while a client makes a frame of a response.

    Those of the response are among them.
    """
    schema, came = build_schema(SDL), Came(size)
    assert len(Client(Came(SEVERAL), schema=schema).execute(SEARCH).frame())  # all is imported
    client = Client(came, schema=schema)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest mark
    before = status("VmRSS")
    result = client.execute(SEARCH)
    assert len(result.frame()) == size
    assert "data" not in vars(result)
    return status("VmHWM") - before + len(came.response.body)


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
    framed("client", of_a_response, (Goal(NORMALIZE, 12),), small=SEVERAL),
    Workload("client-data", data_of_a_response, (Goal(LOADS, 1.15, most=True),), MANY, SEVERAL,
     rounds=9, text=json.dumps),
    Workload("memory", memory, (Goal(BYTES, 3, most=True),), MANY, 30_000, peaks, 5, values),
]  # fmt: skip

if __name__ == "__main__":
    main(__file__, WORKLOADS)
