"""Frames hold exactly what an answer holds, with the dtypes of its schema, by whichever road.

Each case is made from a number, so a failure can be seen again: `FRAMES_SEED=123` for one case,
`FRAMES_CASES=20000` for more of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb.result import table_reader
from gqlnb.result.result import Result
from tests.examples import count_examples, make_blocks
from tests.property.framing import DTYPES, ENUM, Case, Leaf, Many, Member, Paged, Thing

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPES = {  # of the items of lists in cells that are not JSON as it came
    "DateTime": pd.Timestamp,
    "Date": pd.Timestamp,
    "Time": time,
    "BigInt": int,
    "Decimal": Decimal,
}


@dataclass
class Expected:
    """What a frame must hold, written down row by row."""

    parent: str | None
    columns: dict[str, str] = field(default_factory=dict)
    cells: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    dropped: int = 0
    key: bool = False

    def told_apart(self) -> bool:
        """Tell whether no list holds an id twice."""
        lists = self.above or [0] * len(self.rows)
        ids = [(n, row["id"]) for n, row in zip(lists, self.rows, strict=True) if row.get("id")]
        return len(ids) == len(set(ids))


class Oracle:
    """Walks a case as slowly and plainly as can be."""

    def __init__(self, case: Case) -> None:
        self.tables: dict[str, Expected] = {"": Expected(None)}
        self.declare(case.root, "", ())
        self.walk(case.root, case.data, "", (), {})

    def declare(self, members: dict[str, Member], table: str, path: tuple[str, ...]) -> None:
        """Note tables and columns."""
        for name, member in members.items():
            if not member.asked:
                continue
            here, kind = (*path, name), member.kind
            dotted = ".".join(here)
            if isinstance(kind, Leaf):
                self.tables[table].columns[dotted] = kind.type
            elif isinstance(kind, Thing):
                for fields in kind.fields:
                    self.declare(fields, table, here)
            elif isinstance(kind, Many):
                self.tables[table].cells[dotted] = kind
                self.rows(kind, named(table, dotted), table)
            else:
                self.tables[table].cells[dotted] = kind
                self.rows(kind.rows, named(table, dotted), table, kind.extra)
                self.declare(kind.extra, named(table, dotted), ())
                self.declare(kind.beside, table, here)

    def rows(
        self, kind: Many, name: str, parent: str, extra: dict[str, Member] | None = None
    ) -> None:
        """Note the table of a list, whose key is an id that all rows with inner rows have."""
        self.tables[name] = Expected(parent)
        if isinstance(kind.item, Leaf):
            self.tables[name].columns[short(name)] = kind.item.type
        elif isinstance(kind.item, Many):
            self.tables[name].cells[short(name)] = kind.item
            self.rows(kind.item, f"{name}[]", name)
        else:
            kinds = kind.item.fields
            needed = kinds if inner(extra or {}) else [fields for fields in kinds if inner(fields)]
            self.tables[name].key = all(map(named_by_id, needed))
            for fields in kinds:
                self.declare(fields, name, ())

    def walk(
        self,
        members: dict[str, Member],
        value: Any,
        table: str,
        path: tuple[str, ...],
        row: dict[str, Any],
    ) -> None:
        """Write the values of an object into a row, and its lists into their tables."""
        if value is None:
            return
        for name, member in members.items():
            if name not in value:
                continue
            here, kind, found = (*path, name), member.kind, value[name]
            dotted = ".".join(here)
            if isinstance(kind, Leaf):
                row[dotted] = found
            elif isinstance(kind, Thing):
                for fields in kind.fields:
                    self.walk(fields, found, table, here, row)
            elif isinstance(kind, Many):
                row[dotted] = found
                self.add(kind, found, named(table, dotted), table)
            else:
                row[dotted] = nodes(kind, found)
                items = found and found[kind.items]
                self.add(kind.rows, items, named(table, dotted), table, kind)
                self.walk(kind.beside, found, table, here, row)

    def add(
        self, kind: Many, items: Any, name: str, parent: str, paged: Paged | None = None
    ) -> None:
        """Write the rows of a list, which stand in the parent's last row."""
        table = self.tables[name]
        for item in items or ():
            edges = paged is not None and paged.node is not None
            node = (item and item[paged.node]) if edges and paged is not None else item
            if node is None and isinstance(kind.item, Thing):
                table.dropped += 1
                continue
            row: dict[str, Any] = {}
            table.rows.append(row)
            table.above.append(len(self.tables[parent].rows) - 1)
            if isinstance(kind.item, Thing):
                for fields in kind.item.fields:
                    self.walk(fields, node, name, (), row)
            else:
                row[short(name)] = node
            if isinstance(kind.item, Many):
                self.add(kind.item, node, f"{name}[]", name)
            if edges and paged is not None:
                self.walk(paged.extra, item, name, (), row)

    def keys(self, name: str) -> dict[str, list[Any]]:
        """Return the key columns of a table."""
        table = self.tables[name]
        if not table.parent:
            return {}
        parent = self.tables[table.parent]
        found = {k: [v[n] for n in table.above] for k, v in self.keys(table.parent).items()}
        own = table.parent.rpartition(".")[2]
        if parent.key and parent.told_apart():
            found[f"{own}.id"] = [parent.rows[n].get("id") for n in table.above]
        else:
            found[f"{own}_index"] = list(table.above)
        return found


def inner(members: dict[str, Member]) -> bool:
    """Tell whether there are lists in an object."""
    asked = [member.kind for member in members.values() if member.asked]
    return any(
        any(map(inner, kind.fields)) if isinstance(kind, Thing) else not isinstance(kind, Leaf)
        for kind in asked
    )


def named_by_id(members: dict[str, Member]) -> bool:
    """Tell whether an object has an id that is never null."""
    found = members.get("id")
    return found is not None and found.asked and not found.null


def named(table: str, dotted: str) -> str:
    """Return the name of a list in a table's rows."""
    return f"{table}.{dotted}" if table else dotted


def short(name: str) -> str:
    """Return the name of the one column of a list of values."""
    return name.rpartition(".")[2].replace("[]", "")


def nodes(kind: Paged, found: Any) -> Any:
    """Return what stands in the cell of a connection."""
    items = found and found[kind.items]
    if items is None:
        return None
    if kind.node is None:
        return [item for item in items if item is not None]
    rows = [(edge, edge[kind.node]) for edge in items if edge and edge[kind.node] is not None]
    return [
        {k if k not in node else f"edge.{k}": v for k, v in edge.items() if k != kind.node} | node
        for edge, node in rows
    ]


def plain(value: Any, kind: str) -> Any:
    """Return a value of a frame, or of JSON, in one form for both."""
    if isinstance(value, (list, dict)):
        return value
    if value is None or value is pd.NA or value is pd.NaT or value != value:  # noqa: PLR0124
        return None
    if kind == "DateTime":
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        return found.astimezone(UTC).isoformat(timespec="microseconds")
    if kind == "Date":
        return value if isinstance(value, str) else value.isoformat()[:10]
    if kind == "BigInt":
        return int(value)
    return Decimal(value) if kind == "Decimal" else str(value) if kind == "Time" else value


def plain_items(value: Any, kind: str) -> Any:
    """Return a list of values, at any depth, in one form for frames and JSON."""
    if isinstance(value, list):
        return [plain_items(item, kind) for item in value]
    return plain(value, kind)


def leaf_type(kind: Any) -> str:
    """Return the type of the values in a list of lists; empty where they are objects."""
    while isinstance(kind, Many):
        kind = kind.item
    return kind.type if isinstance(kind, Leaf) else ""


def compare_cells(frame: pd.DataFrame, cells: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Compare lists of values in cells: items are of the types that their own columns have."""
    for name, many in cells.items():
        kind = leaf_type(many)
        if kind in TYPES:
            found = frame[name].tolist()
            assert {type(item) for cell in found for item in leaves(cell)} <= {TYPES[kind]}, name
            wanted = [plain_items(row.get(name), kind) for row in rows]
            assert [plain_items(cell, kind) for cell in found] == wanted, name


def leaves(value: Any) -> Iterator[Any]:
    """Yield the values in lists that are not null."""
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value


def guess_dtype(values: list[Any]) -> str:
    """Return the dtype of a scalar that is not known: that of its values, if they are alike."""
    kinds = {type(value) for value in values if value is not None}
    dtypes = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
    if kinds == {int, float}:
        return "Float64"
    return dtypes.get(kinds.pop(), "object") if len(kinds) == 1 else "object"


def compare(frame: pd.DataFrame, columns: dict[str, str], rows: list[dict[str, Any]]) -> None:
    """Compare a frame with its expected columns, dtypes and values."""
    assert set(frame.columns) == set(columns)
    assert len(frame) == len(rows)
    for name, kind in columns.items():
        dtype = DTYPES.get(kind, "object")
        if kind == "Odd":
            dtype = guess_dtype([row.get(name) for row in rows])
        assert frame.dtypes[name] == dtype, name
        found = [plain(value, kind) for value in frame[name].tolist()]
        assert found == [plain(row.get(name), kind) for row in rows], name
        if kind == "Level":
            assert tuple(frame[name].cat.categories)[: len(ENUM)] == ENUM


def check(case: Case) -> None:
    """Hold all frames of a case to what is expected of them, on both roads."""
    oracle = Oracle(case)
    more = {"document": case.document, "variables": case.variables}
    here = Result(case.data, **more)
    there = Result.from_bytes(case.body, **more)
    tables = {name: table for name, table in oracle.tables.items() if name}
    if not tables:
        tables = {"data": oracle.tables[""]}
        tables["data"].rows = [{}]
        oracle.walk(case.root, case.data, "", (), tables["data"].rows[0])
        oracle.tables = tables
    assert set(here.frames) == set(there.frames) == set(tables)
    for name, table in tables.items():
        keys = oracle.keys(name)
        named_keys = dict.fromkeys(keys, "Key")
        for result in (here, there):
            frame = result.frames[name]
            assert frame.attrs["dropped"] == table.dropped
            for key, values in keys.items():
                assert [plain(v, "") for v in frame[key].tolist()] == values
            compare(frame.drop(columns=list(keys)), table.columns, table.rows)
            whole = result.frame(name).drop(columns=list(keys))
            compare_cells(whole, table.cells, table.rows)
            left = [cell for cell, kind in table.cells.items() if leaf_type(kind) not in TYPES]
            whole = whole.drop(columns=[cell for cell in table.cells if cell not in left])
            compare(whole, table.columns | dict.fromkeys(left, "Cell"), table.rows)
        assert list(here.frames[name].columns)[: len(keys)] == list(named_keys)
        pd.testing.assert_frame_equal(here.frames[name], there.frames[name])
        pd.testing.assert_frame_equal(here.frame(name), there.frame(name))
        assert here.arrow(name).equals(there.arrow(name))
        if here.arrow(name).num_columns:  # Arrow has no rows without columns
            assert here.arrow(name).num_rows == len(table.rows)
    assert there.data == case.data


@pytest.mark.parametrize(
    "numbers", make_blocks("FRAMES", count_examples(160), 20), ids=lambda numbers: str(numbers[0])
)
def test_frames_contain_all_values_of_the_response(numbers, monkeypatch):
    """Rows, values, dtypes, keys and counts of dropped items; in process and from bytes."""
    warnings.filterwarnings("ignore", "Ids in a list")
    for number in numbers:
        monkeypatch.setattr(table_reader, "CHUNK_BYTES", (50, 300, 1 << 18)[number % 3])
        monkeypatch.setattr(table_reader, "CHUNK_COLUMN_BYTES", 1)
        case = Case(number)
        try:
            check(case)
        except Exception as error:
            error.add_note(f"FRAMES_SEED={number}: {case.text}\n{' '.join(case.sdl)}\n{case.data}")
            raise
