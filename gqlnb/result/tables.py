"""The tables of an answer: one per list level, with its columns and where their values stand.

A shape is turned into a tree of what is read: a `ResultTable` for each list, a `ObjectPlan` for each object
in its rows. What is not asked for is not in the tree, and thus neither decoded nor looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from gqlnb.document import scalars
from gqlnb.document.paging_conventions import TOTAL_FIELDS
from gqlnb.result.shape import Shape, find_connection_path

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = [
    "DATA_TABLE",
    "NODE",
    "ObjectPlan",
    "ReadPlan",
    "ResultColumn",
    "ResultTable",
    "find_value_path",
    "follow_path",
    "get_read_plan",
    "iter_rows_with_paths",
    "list_rows",
]

DATA_TABLE = "data"  # the name of the one table of an answer without lists
NODE = -1  # stands in an edge where its node does
Name = tuple[str, ...]


@dataclass(slots=True, eq=False)
class ResultColumn:
    """One column of a table.

    Attributes
    ----------
    name
        Dotted response names, without the plumbing of connections.
    shape
        The shape of its values: a leaf, or a list that is kept in one cell.
    nullable
        Whether schema and document let a value be missing.
    node
        For a cell with the edges of a connection: the response name of their node.
    in_connection
        Whether the cells hold the edges or nodes of a connection.
    """

    name: str
    shape: Shape
    nullable: bool
    node: str | None = None
    in_connection: bool = False


@dataclass(slots=True, eq=False)
class ObjectPlan:
    """What is read of the objects at one place, by response name in the order of selection.

    A member is the number of a column, objects with members of their own, or the rows of a table.
    """

    name: str
    members: list[tuple[str, int | ObjectPlan | ResultTable]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ResultTable:
    """One list level of an answer.

    Attributes
    ----------
    name
        The dotted response names that lead to it, without the plumbing of connections.
    parent
        The table in whose rows the lists stand; None for the outermost of all, the data.
    path
        The response names that lead from a row of the parent to the list.
    node
        The response name of the row in an item, for the edges of a connection; else None.
    total_name
        The response name, beside the list, of the connection's count of all there are.
    columns
        Its columns.
    row
        What a row is: an object, a list whose items are rows of another table, or the number of the
        one column of a list of values.
    edge
        What is read of an edge: the node first, then what stands beside it.
    inner_tables
        The tables in its rows.
    key
        The column that names a row to inner tables: ``id``, where it is never null in a row that
        has inner rows.
    """

    name: str
    parent: ResultTable | None
    path: Name = ()
    node: str | None = None
    total_name: str | None = None
    columns: list[ResultColumn] = field(default_factory=list)
    row: ObjectPlan | ResultTable | int = 0
    edge: ObjectPlan | None = None
    inner_tables: list[ResultTable] = field(default_factory=list)
    key: ResultColumn | None = None

    @property
    def short_name(self) -> str:
        """The last part of the name, by which the keys of inner tables call it."""
        return self.name.rpartition(".")[2]

    @property
    def outermost(self) -> ResultTable:
        """The list in the data that its rows stand in: it, or one it stands in."""
        above = self.parent
        return self if above is None or above.parent is None else above.outermost

    def walk(self) -> Iterator[ResultTable]:
        """Yield this table and all in its rows."""
        yield self
        for table in self.inner_tables:
            yield from table.walk()


@dataclass(slots=True, eq=False)
class ReadPlan:
    """What to read of an answer.

    Attributes
    ----------
    root
        The table whose one row is the data.
    wanted
        The tables to be read, by name. Of those on the way to them only keys are read.
    decoders
        What reads them from bytes, once it was needed; see :mod:`gqlnb.result.decoder`.
    """

    root: ResultTable
    wanted: dict[str, ResultTable]
    decoders: Any = None


def get_read_plan(
    shape: Shape, wanted: frozenset[str] | None = None, cells: str | None = None
) -> ReadPlan:
    """Return what to read of an answer of this shape.

    Parameters
    ----------
    shape
        The shape of the data.
    wanted
        The names of the tables to read; None for all.
    cells
        The table whose inner lists, and those of the wanted lists in its rows, stay in one cell
        each, unless they are wanted; None for none.

    Returns
    -------
    Plan
        The same one each time, until a scalar is registered.
    """
    key = (wanted, cells, scalars.get_version())
    found: ReadPlan | None = shape.cache.get(key)
    if found is None:
        builder = _PlanBuilder(wanted, cells)
        root = builder.build_root(shape)
        full = {table.name: table for table in root.walk() if builder.is_full(table)}
        if root.name != DATA_TABLE:
            full.pop("", None)
        found = shape.cache.setdefault(key, ReadPlan(root, full))
    return found


class _PlanBuilder:
    """Builds the tables of a shape; the arguments are those of :func:`get_read_plan`."""

    def __init__(self, wanted: frozenset[str] | None, cells: str | None) -> None:
        self.wanted = wanted
        self.cells = cells
        self.used_names: set[str] = set()

    def build_root(self, shape: Shape) -> ResultTable:
        """Return the table whose one row is the data; it has columns if there is no list."""
        root = ResultTable("" if _has_lists(shape) else DATA_TABLE, None)
        root.row = self.build_object(shape, (), root, nullable=False)
        return root

    def is_full(self, table: ResultTable) -> bool:
        """Tell whether all of a table is read."""
        if table.parent is None:
            return table.name == DATA_TABLE
        return self.wanted is None or table.name in self.wanted

    def build_object(
        self, shape: Shape, path: Name, table: ResultTable, *, nullable: bool
    ) -> ObjectPlan:
        """Return what is read of an object that stands at `path` in the rows of `table`.

        A row that happens to have ``nodes`` is a row; an object in one is a connection.
        """
        steps = find_connection_path(shape) if path else None
        key = None if path else _find_key(shape)
        place = ObjectPlan(".".join(path))
        for name, child in shape.children.items():
            here = (*path, name)
            optional = nullable or child.nullable or child.is_conditional
            target: int | ObjectPlan | ResultTable | None
            if child.lists and steps is not None and steps.items == name:
                target = self.add_list(child, path, here, table, steps.node)
                if isinstance(target, ResultTable):
                    target.total_name = _find_total(shape)
            elif child.lists:
                target = self.add_list(child, here, here, table, None)
            elif child.composite:
                target = self.build_object(child, here, table, nullable=optional)
                target = target if target.members else None
            else:
                target = self.add_leaf(child, here, table, nullable=optional, key=child is key)
            if target is not None:
                place.members.append((name, target))
        return place

    def add_leaf(
        self, shape: Shape, path: Name, table: ResultTable, *, nullable: bool, key: bool
    ) -> int | None:
        """Return the column of a leaf; None if it is not read."""
        if not key and not self.is_full(table):
            return None
        number = _add_column(table, ResultColumn(".".join(path), shape, nullable))
        if key:
            table.key = table.key or table.columns[number]
        return number

    def add_list(
        self, shape: Shape, path: Name, place: Name, table: ResultTable, node: str | None
    ) -> int | ResultTable | None:
        """Return what is read of a list: the rows of a table, a cell, or None for nothing."""
        name = self.name_list(path, table)
        if self.keeps_list_cells(table) and name not in (self.wanted or ()):
            plumbed = path != place
            cell = ResultColumn(
                ".".join(path), shape, nullable=True, node=node, in_connection=plumbed
            )
            return _add_column(table, cell)
        if not self.is_needed(name):
            return None
        made = ResultTable(name, table, place, node)
        table.inner_tables.append(made)
        row = shape.get_item_shape() if node is None else shape.children[node]
        made.row = self.build_row(row, made)
        if node is not None:
            beside = {key: child for key, child in shape.children.items() if key != node}
            aside = Shape(children=beside)
            if _has_lists(aside) and made.key and not _is_certain(made.key.shape, row.objects):
                made.key = None  # the lists of an edge stand beside nodes of all types
            edge = self.build_object(aside, (), made, nullable=False)
            made.edge = ObjectPlan("", [(node, NODE), *edge.members])
        return made

    def build_row(self, shape: Shape, table: ResultTable) -> ObjectPlan | ResultTable | int:
        """Return what a row of a table is."""
        name = f"{table.name}[]"
        if shape.lists and not (self.keeps_list_cells(table) and name not in (self.wanted or ())):
            inner = ResultTable(name, table)
            if self.is_needed(inner.name):
                table.inner_tables.append(inner)
                inner.row = self.build_row(shape.get_item_shape(), inner)
                return inner
            if not self.is_full(table):
                return ObjectPlan("")
        if shape.composite and not shape.lists:
            return self.build_object(shape, (), table, nullable=False)
        nullable = shape.nullable or shape.is_conditional
        return _add_column(table, ResultColumn(table.short_name.rstrip("[]"), shape, nullable))

    def name_list(self, path: Name, table: ResultTable) -> str:
        """Return the name of a list, numbered where plumbing alone tells it from another."""
        wished = ".".join((table.name, *path) if table.name else path)
        found = next(name for name in iter_numbered_names(wished) if name not in self.used_names)
        self.used_names.add(found)
        return found

    def keeps_list_cells(self, table: ResultTable) -> bool:
        """Tell whether the lists in the rows of a table stay in cells."""
        return self.cells is not None and self.is_full(table)

    def is_needed(self, name: str) -> bool:
        """Tell whether a table is to be read, or one in its rows is."""
        if self.wanted is None or name in self.wanted:
            return True
        return any(each.startswith((f"{name}.", f"{name}[")) for each in self.wanted)


def iter_numbered_names(name: str) -> Iterator[str]:
    """Yield a name, then the same with a number."""
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def _find_key(shape: Shape) -> Shape | None:
    """Return the ``id`` of rows; None where one can be missing in a row that has inner rows."""
    found = shape.children.get("id")
    if found is None or found.field_name != "id" or found.nullable or found.lists:
        return None
    inner = [child for child in shape.children.values() if child.lists or _has_lists(child)]
    return found if all(_is_certain(found, child.possible_objects) for child in inner) else None


def _is_certain(shape: Shape, objects: frozenset[Any]) -> bool:
    """Tell whether a field is asked of all of these objects for certain."""
    return not shape.is_conditional or objects <= shape.certain_objects


def _has_lists(shape: Shape) -> bool:
    return any(child.lists or _has_lists(child) for child in shape.children.values())


def _add_column(table: ResultTable, column: ResultColumn) -> int:
    """Add a column; what stands beside a node gives way to what the node has of that name."""
    taken = {each.name for each in table.columns}
    while column.name in taken:
        column.name = f"edge.{column.name}"
    table.columns.append(column)
    return len(table.columns) - 1


def _find_total(shape: Shape) -> str | None:
    """Return the response name of a connection's count of all there are."""
    counts = {
        child.field_name: name
        for name, child in shape.children.items()
        if child.type == "Int" and not child.lists
    }
    others = [name for field, name in counts.items() if field.endswith("Count")]
    return next((counts[name] for name in TOTAL_FIELDS if name in counts), next(iter(others), None))


Path = tuple[str | int, ...]


def iter_rows_with_paths(table: ResultTable, data: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the rows of a list with the response path of their item, in the order of the frame."""
    for path, row in _iter_parent_rows(table, data):
        found = follow_path(row, table.path)
        if not isinstance(found, (list, tuple)):
            continue
        here = (*path, *table.path)
        for number, item in enumerate(found):
            node = item
            if table.node is not None:
                node = item.get(table.node) if isinstance(item, dict) else None
            if node is not None or not isinstance(table.row, ObjectPlan):
                yield (*here, number), node


def follow_path(value: Any, path: tuple[str, ...]) -> Any:
    """Return what stands at a path of names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _iter_parent_rows(table: ResultTable, data: Any) -> Iterator[tuple[Path, Any]]:
    parent = table.parent
    if parent is None or parent.parent is None:
        yield (), data
        return
    for path, row in iter_rows_with_paths(parent, data):
        yield (path if parent.node is None else (*path, parent.node)), row


def list_rows(data: Any, table: ResultTable) -> list[Any]:
    """Return the rows of a list as they came; null edges, nodes and objects are left out."""
    if table.parent is None:
        return [data] if data is not None else []
    return [row for _, row in iter_rows_with_paths(table, data)]


def find_value_path(table: ResultTable, column: ResultColumn, row: int, data: Any) -> Path | None:
    """Return the response path of one value: of a column, in a row of its table.

    None where there is no such row.
    """
    path: Path = ()
    if table.parent is not None:
        found = next(islice(iter_rows_with_paths(table, data), row, None), None)
        if found is None:
            return None
        path = found[0]
    number = table.columns.index(column)
    beside = _find_member_names(table.edge, number) if table.edge is not None else None
    if beside is not None:
        return (*path, *beside)
    inside = (
        _find_member_names(table.row, number) or () if isinstance(table.row, ObjectPlan) else ()
    )
    return (*path, *(() if table.node is None else (table.node,)), *inside)


def _find_member_names(place: ObjectPlan, number: int) -> tuple[str, ...] | None:
    """Return the response names that lead to a column; None if it is not there."""
    for name, target in place.members:
        if isinstance(target, int) and target == number:
            return (name,)
        below = _find_member_names(target, number) if isinstance(target, ObjectPlan) else None
        if below is not None:
            return (name, *below)
    return None
