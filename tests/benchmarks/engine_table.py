"""The engine on every kind of row with every kind of field.

    python -m tests.benchmarks.engine_table              print the table
    python -m tests.benchmarks.engine_table --notebook   and put it into notebook 13

A cell has two ratios of processor time: graphql-core to gqlnb, and gqlnb to a loop by hand. Each is
about rows with four fields of one kind; the answers of all three are equal.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict, UserDict, namedtuple
from dataclasses import make_dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import graphql
import pydantic
from graphql import GraphQLScalarType, build_schema, parse

import gqlnb.engine
from tests.benchmarks.measure import Workload, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.benchmarks.measure import Sides

NAMES = "abcd"
ROWS, ROUNDS = 500, 5
CORE, OURS, HAND = "graphql-core", "gqlnb", "by hand"
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "13_speed.ipynb"
MARK = "<!-- tests/benchmarks/engine_table.py -->\n\n"
COLUMNS = 6  # of kinds of fields beside each other
COLORS = {1: "RED", 2: "GREEN"}
NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)


class Kind(NamedTuple):
    """A kind of field.

    Attributes
    ----------
    type
        Its GraphQL type.
    make
        Returns a value of a row, by the row's number.
    by_hand
        What a loop makes of a value, as source with a placeholder for it.
    """

    type: str
    make: Callable[[int], Any]
    by_hand: str = "{}"


FIELDS = {
    "String": Kind("String", lambda n: f"text {n}"),
    "Int": Kind("Int", lambda n: n),
    "Float": Kind("Float!", lambda n: n / 2),
    "Boolean": Kind("Boolean", lambda n: n % 2 == 0),
    "ID (int)": Kind("ID!", lambda n: n, "str({})"),
    "enum": Kind("Color", lambda n: 1 + n % 2, "COLORS[{}]"),
    "custom scalar": Kind("DateTime", lambda _: NOON, "{}.isoformat()"),
    "list": Kind("[String!]", lambda n: ["x", str(n), "z"], "[item for item in {}]"),
    "object": Kind("Inner", lambda n: {"name": str(n)}, "{{'name': {}['name']}}"),
    "null": Kind("String", lambda _: None),
    "resolver": Kind("Int", lambda n: n, "resolve(row, None)"),
}


class Properties:
    """A row whose fields are computed."""

    def __init__(self, **values: Any) -> None:
        self.values = values


for _name in NAMES:
    setattr(Properties, _name, property(lambda self, name=_name: self.values[name]))


class Proxy:
    """A row that finds its attributes in another object."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None


class Row:
    """A plain object."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


MAKERS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "other Mapping": lambda **values: UserDict(values),
    "object": Row,
    "dataclass with slots": make_dataclass("Point", list(NAMES), slots=True),
    "named tuple": namedtuple("Named", list(NAMES)),
    "pydantic model": pydantic.create_model("Model", **dict.fromkeys(NAMES, (Any, None))),
    "object with properties": Properties,
    "object with __getattr__": Proxy,
}
MAPPINGS = ("dict", "OrderedDict", "other Mapping")


def write_schema(kind: Kind, *, resolved: bool) -> graphql.GraphQLSchema:
    """Return a schema of rows with four fields of a kind."""
    fields = " ".join(f"{name}: {kind.type}" for name in NAMES)
    schema: Any = build_schema(
        "scalar DateTime enum Color { RED GREEN } type Inner { name: String } "
        f"type Query {{ rows: [Row!]! }} type Row {{ {fields} }}"
    )
    colors = graphql.GraphQLEnumType("Color", {name: value for value, name in COLORS.items()})
    for name in NAMES:
        field = schema.type_map["Row"].fields[name]
        if kind.type == "Color":
            field.type = colors
        if kind.type == "DateTime":
            field.type = GraphQLScalarType("DateTime", serialize=datetime.isoformat)
        if resolved:
            field.resolve = resolve
    return schema  # type: ignore[no-any-return]


def resolve(_source: Any, _info: Any) -> int:
    """Resolve a field."""
    return 7


def make_sides(maker: str, field: str, size: int) -> Sides:
    """Return the three sides of a cell."""
    kind = FIELDS[field]
    schema = write_schema(kind, resolved=field == "resolver")
    rows = [MAKERS[maker](**{name: kind.make(n) for name in NAMES}) for n in range(size)]
    selection = " ".join(f"{name} {{ name }}" if field == "object" else name for name in NAMES)
    given = (schema, parse(f"{{ rows {{ {selection} }} }}"), {"rows": rows})
    read = "row[{!r}]" if maker in MAPPINGS else "row.{}"
    members = (f"{name!r}: {kind.by_hand.format(read.format(name))}" for name in NAMES)
    space: dict[str, Any] = {"COLORS": COLORS, "resolve": resolve}
    exec(f"def loop(rows): return [{{{', '.join(members)}}} for row in rows]", space)
    return {
        OURS: lambda: gqlnb.engine.execute(*given),
        CORE: lambda: graphql.execute(*given),
        HAND: lambda: {"rows": space["loop"](rows)},
    }


def measure_cell(maker: str, field: str, size: int = ROWS, rounds: int = ROUNDS) -> str:
    """Return the ratios of a row type and a kind of field."""
    workload = Workload(f"{maker}, {field}", lambda n: make_sides(maker, field, n), ())
    costs = {side: median(found) for side, found in measured(workload, size, rounds).items()}
    return f"{costs[CORE] / costs[OURS]:.0f} · {costs[OURS] / costs[HAND]:.1f}"


def write_table(size: int = ROWS, rounds: int = ROUNDS) -> str:
    """Return the table in Markdown, in two parts."""
    cells = {
        (maker, field): measure_cell(maker, field, size, rounds)
        for maker in MAKERS
        for field in FIELDS
    }
    return format_table(cells)


def format_table(cells: Mapping[tuple[str, str], str]) -> str:
    """Return two tables, whose rows need no line break where a page is 700 pixels wide."""
    parts = []
    for fields in (list(FIELDS)[:COLUMNS], list(FIELDS)[COLUMNS:]):
        lines = [f"| rows | {' | '.join(fields)} |", f"|---{'|---' * len(fields)}|"]
        for maker in MAKERS:
            row = [cells[maker, field].replace(" ", "&nbsp;") for field in fields]
            name = maker.replace("__getattr__", "`__getattr__`")
            lines.append(f"| {name} | {' | '.join(row)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def put_into_notebook(table: str) -> None:
    """Replace the table in the notebook."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if MARK in "".join(cell["source"])]
    text, _, _ = "".join(cell["source"]).partition(MARK)
    about = f"graphql-core {graphql.__version__}, Python {sys.version.split()[0]}."
    cell["source"] = f"{text}{MARK}{table}\n\n{about}".splitlines(keepends=True)
    written = json.dumps(notebook, ensure_ascii=False, indent=1)
    NOTEBOOK.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    table = write_table()
    sys.stdout.write(f"{table}\n")
    if "--notebook" in sys.argv:
        put_into_notebook(table)
