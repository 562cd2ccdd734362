"""Benchmarks of frames: ``python tests/benchmarks/frames.py [names...]``."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.json
from graphql import build_schema, parse, validate

from gqlnb.model.decode import decoders_of, envelope
from gqlnb.model.document import Document
from gqlnb.model.result import Result
from gqlnb.model.shape import shape_of
from gqlnb.model.tables import plan_of
from tests.benchmarks.measure import OURS, Costs, Goal, Sides, Workload, main

if TYPE_CHECKING:
    from collections.abc import Iterator

NORMALIZE = "json + json_normalize"
ARROW = "pyarrow.json"
HAND = "by hand"
BYTES = "the bytes"
PARSING = "parse + validate"
MANY = 100_000
COLUMNS = 100
KIB = 1024

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


def in_process(size: int) -> Sides:
    """Make a frame of the data of this process, against column comprehensions."""
    data, asked = json.loads(body_of(size))["data"], document()
    return {OURS: lambda: Result(data, document=asked).frame(), HAND: partial(by_hand, data)}


def new_documents(size: int) -> Sides:
    """Make shape and decoders of documents never seen before, against checking a document."""
    fields = " ".join(f"f{n}: {('Int', 'String!', 'Float', 'ID!')[n % 4]}" for n in range(size))
    schema = build_schema(f"type Query {{ rows: [Row] }} type Row {{ {fields} }}")
    texts = selections(size)
    documents = (Document(text, ast, ast.definitions[0], schema) for text, ast in texts)
    parsing = selections(size)

    def ours() -> int:
        shape = shape_of(next(documents))
        assert shape is not None
        plan = plan_of(shape, frozenset({"rows"}), "rows")
        decoders_of(plan)
        envelope(b'{"data":{"rows":[]}}', shape)  # makes the decoder of the response
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
    size = len(sides[OURS]())
    code = f"from tests.benchmarks.frames import peak; print(peak({size}))"
    root = Path(__file__).parents[2]
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True)
        found.append(float(done.stdout))
    return {OURS: found, BYTES: [float(len(body_of(size)))] * rounds}


def peak(size: int) -> int:
    """Return the bytes that this process holds at most while it makes a frame, body included."""
    asked = document()
    Result.from_bytes(body_of(3), asked).frame()
    body = body_of(size)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest mark
    before = status("VmRSS")
    made = Result.from_bytes(body, asked).frame()
    return status("VmHWM") - before + len(body) if len(made) == size else 0


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
    framed(
        "bytes",
        partial(from_bytes, holes=False),
        (Goal(NORMALIZE, 12), Goal(ARROW, 2.5, most=True)),
    ),
    framed("bytes-nulls", partial(from_bytes, holes=True), (Goal(ARROW, 2.5, most=True),)),
    framed("in-process", in_process, (Goal(HAND, 1, most=True),)),
    Workload(
        "new-document", new_documents, (Goal(PARSING, 1, most=True),), COLUMNS, COLUMNS, text=str
    ),
    Workload("memory", memory, (Goal(BYTES, 3, most=True),), MANY, 30_000, peaks, 5, values),
]

if __name__ == "__main__":
    main(__file__, WORKLOADS)
