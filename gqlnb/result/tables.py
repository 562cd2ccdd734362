"""The tables of an answer: one per list level, with its columns and the places of their values.

A shape is turned into a plan of the values to read: a `ResultTable` for each list, an `ObjectPlan`
for each object in its rows. Fields that are not needed are not in the plan, and are neither decoded
nor looked at.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from gqlnb.document import scalars
from gqlnb.document.paging_conventions import LAST_FLAGS, MORE_FLAGS, TOTAL_FIELDS
from gqlnb.document.scalars import UNKNOWN, Scalar
from gqlnb.document.suspect_lists import is_count_name
from gqlnb.errors import FrameError, format_count, sanitize_text
from gqlnb.result.shape import ObjectSet, Shape, find_connection_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    Data = Any  # JSON values, or the dicts and lists of this process

ALIASES = "*"  # stands for the aliases in a path
DATA_TABLE = "data"  # the name of the only table of an answer without lists
NODE = -1  # the member of an edge that is its node
Name = tuple[str, ...]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What is read of an answer: the options that the methods of a result share.

    Attributes
    ----------
    path
        The name of the list; None if at most one list is not inside another.
    short
        Whether to shorten column names to their shortest unique suffix.
    explode
        The name of a list in its rows whose items become rows; None to keep it in cells.
    strict
        Whether a value that does not fit its column is an error.
    """

    path: str | None = None
    short: bool = False
    explode: str | None = None
    strict: bool = True


class DataHolder(Protocol):
    """An object with the data of an answer, such as a result; they may be decoded on access."""

    @property
    def data(self) -> Data:
        """The data as mappings and lists."""


@dataclass(slots=True, eq=False)
class ResultColumn:
    """One column of a table.

    Attributes
    ----------
    name
        Dotted response names, without ``edges``, ``node`` and ``nodes`` of connections.
    shape
        The shape of its values: a leaf, or a list that is kept in one cell.
    nullable
        Whether schema and document let a value be missing.
    node
        For a cell with the edges of a connection: the response name of their node.
    in_connection
        Whether the cells hold the edges or nodes of a connection.
    kind
        The scalar of its values; unknown for lists in cells.
    hinted_dtype
        The dtype that the name of the scalar only suggests; empty for other scalars.
    """

    name: str
    shape: Shape
    nullable: bool
    node: str | None = None
    in_connection: bool = False
    kind: Scalar = field(init=False)
    hinted_dtype: str = field(init=False)

    def __post_init__(self) -> None:
        """Look up the scalar."""
        kind = scalars.get_scalar(self.shape)
        self.kind = UNKNOWN if self.shape.lists else kind
        self.hinted_dtype = kind.dtype if kind.is_hint else ""


class ObjectPlan(msgspec.Struct, eq=False):
    """The members to read of the objects at one place, by response name.

    A member is the number of a column, an object with members of its own, or an inner table.
    """

    name: str
    members: list[tuple[str, int | ObjectPlan | ResultTable]] = msgspec.field(default_factory=list)


@dataclass(slots=True, eq=False)
class ResultTable:
    """One list level of an answer.

    Attributes
    ----------
    name
        The dotted response names that lead to it, without those of connections.
    parent
        The table whose rows contain the lists; None for the root table, the data.
    path
        The response names that lead from a row of the parent to the list.
    node
        The response name of the row in an item, for the edges of a connection; else None.
    total_name
        The response name of the connection's total count, beside the list.
    columns
        Its columns.
    row
        The kind of its rows: an object, a list whose items are rows of another table, or the number
        of the only column of a list of values.
    edge
        The members to read of an edge: the node first, then the fields beside it.
    inner_tables
        The tables in its rows.
    key
        The column that identifies a row in inner tables: ``id``, if it is never null in a row that
        has inner rows.
    outermost
        The table itself or its ancestor that is directly below the root.
    full_path
        The response names that lead from the data to the list.
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
    outermost: ResultTable = field(init=False)
    full_path: Name = field(init=False)

    def __post_init__(self) -> None:
        """Set the attributes that are derived from the parent."""
        self.outermost, self.full_path = self, self.path
        if self.parent is not None and self.parent.parent is not None:
            self.outermost = self.parent.outermost
            node = () if self.parent.node is None else (self.parent.node,)
            self.full_path = (*self.parent.full_path, *node, *self.path)

    @property
    def short_name(self) -> str:
        """The last part of the name, used in the names of key columns."""
        return self.name.rpartition(".")[2]

    def walk(self) -> Iterator[ResultTable]:
        """Yield this table and all tables in its rows."""
        yield self
        for table in self.inner_tables:
            yield from table.walk()


# One plan serves both kinds of data: bytes become structs, a few thousand rows at a time, data of
# this process are dicts, and the same traversal makes columns of either. Values that do not fit
# the declared types fall back to dicts, where the error can name value and path.
class ReadPlan(msgspec.Struct, eq=False):
    """The parts of an answer to read.

    Attributes
    ----------
    shape
        The shape of the data.
    root
        The table whose only row is the data.
    tables
        All tables, parents first. Only keys are read of those that are not wanted.
    wanted
        The tables to read, by name.
    decoders
        Decoders of rows by whether they check, made by :mod:`gqlnb.result.decoder`.
    """

    shape: Shape
    root: ResultTable
    tables: list[ResultTable]
    wanted: dict[str, ResultTable]
    decoders: dict[bool, Any] = msgspec.field(default_factory=dict)


def get_read_plan(
    shape: Shape, wanted: frozenset[str] | None = None, cells: str | None = None
) -> ReadPlan:
    """Return the plan for reading an answer.

    Parameters
    ----------
    shape
        The shape of the data.
    wanted
        The names of the tables to read; None for all.
    cells
        The table whose inner lists, and those of the wanted lists in its rows, stay in one cell
        each unless they are wanted; None for none.

    Returns
    -------
    ReadPlan
        The same object each time, until a scalar is registered.
    """

    def build_plan() -> ReadPlan:
        builder = _PlanBuilder(wanted, cells)
        # The only row of the root is the data; it has columns where there are no lists.
        root = ResultTable("" if _has_lists(shape) else DATA_TABLE, None)
        root.row = builder.build_object(shape, (), root, nullable=False)
        tables = list(root.walk())
        full = {table.name: table for table in tables if builder.is_full(table)}
        return ReadPlan(shape, root, tables, full)

    return shape.get_cached((wanted, cells, scalars.get_version()), build_plan)


def record_plan(plan: ReadPlan) -> None:
    """Record that an answer was read by a plan, as the next answer of its shape may be."""
    plan.shape.cache["last plan", scalars.get_version()] = plan


def get_last_plan(shape: Shape) -> ReadPlan | None:
    """Return the plan by which an answer of a shape was read last; None before the first."""
    plan: ReadPlan | None = shape.cache.get(("last plan", scalars.get_version()))
    return plan


class _PlanBuilder:
    """Builds the tables of a shape; the arguments are those of :func:`get_read_plan`."""

    def __init__(self, wanted: frozenset[str] | None, cells: str | None) -> None:
        self.wanted = wanted
        self.cells = cells
        self.used_names: set[str] = set()
        self.column_names: defaultdict[ResultTable, set[str]] = defaultdict(set)

    def is_full(self, table: ResultTable) -> bool:
        """Return whether all columns of a table are read."""
        if table.parent is None:
            return table.name == DATA_TABLE
        return self.wanted is None or table.name in self.wanted

    def build_object(
        self,
        shape: Shape,
        path: Name,
        table: ResultTable,
        *,
        nullable: bool,
        around: tuple[str, ...] = (),
    ) -> ObjectPlan:
        """Return the plan for the objects at `path` in the rows of `table`.

        `around` are the names of wanted lists in the object that holds these.
        """
        # A row with a field ``nodes`` is a row; only an object inside of one is a connection.
        connection = find_connection_path(shape) if path else None
        key = None if path else _find_key(shape)
        place = ObjectPlan(".".join(path))
        # What counts the rows of a wanted list, or says that it goes on, is read for its verdict.
        wanted = around or self.list_wanted(shape, path, table)
        for name, child in shape.children.items():
            here = (*path, name)
            optional = nullable or child.nullable or child.is_conditional
            target: int | ObjectPlan | ResultTable | None
            if child.lists and connection is not None and connection.items == name:
                target = self.add_list(child, path, here, table, connection.node)
                if isinstance(target, ResultTable):
                    target.total_name = _find_total(shape)
            elif child.lists:
                target = self.add_list(child, here, here, table, None)
            elif child.composite:
                target = self.build_object(child, here, table, nullable=optional, around=wanted)
                target = target if target.members else None
            elif (
                child is key
                or self.is_full(table)
                or (wanted and is_sign(child.field_name, wanted))
            ):
                column = ResultColumn(".".join(here), child, optional)
                target = self.add_column(table, column)
                if child is key:
                    table.key = table.key or column
            else:
                target = None
            if target is not None:
                place.members.append((name, target))
        return place

    def list_wanted(self, shape: Shape, path: Name, table: ResultTable) -> tuple[str, ...]:
        """Return the names of the lists to read in the objects at `path` in the rows of a table."""
        if self.wanted is None or table.parent is None or self.is_full(table):
            return ()
        here = ".".join((table.name, *path))
        names = [name for name, child in shape.children.items() if child.lists]
        is_page = bool(path) and self.is_needed(here)
        return tuple(name for name in names if is_page or self.is_needed(f"{here}.{name}"))

    def add_list(
        self, shape: Shape, path: Name, place: Name, table: ResultTable, node: str | None
    ) -> int | ResultTable | None:
        """Return the target of a list: a table, the column of its cells, or None if not read.

        `path` names the list, `place` leads to it from a row; they differ for connections.
        """
        wished = ".".join((table.name, *path) if table.name else path)
        # Two lists differ only in names of connections, such as ``nodes`` beside ``edges``.
        numbered = (f"{wished}_{number}" if number > 1 else wished for number in count(1))
        name = next(name for name in numbered if name not in self.used_names)
        self.used_names.add(name)
        if self.keeps_list_cells(table) and name not in (self.wanted or ()):
            cell = ResultColumn(
                ".".join(path), shape, nullable=True, node=node, in_connection=path != place
            )
            return self.add_column(table, cell)
        if not self.is_needed(name):
            return None
        inner = ResultTable(name, table, place, node)
        table.inner_tables.append(inner)
        row = shape.get_item_shape() if node is None else shape.children[node]
        inner.row = self.build_row(row, inner)
        if node is not None:
            beside = Shape(children={k: child for k, child in shape.children.items() if k != node})
            if _has_lists(beside) and inner.key and not _is_certain(inner.key.shape, row.objects):
                inner.key = None  # the lists of an edge stand beside nodes of all types
            edge = self.build_object(beside, (), inner, nullable=False)
            inner.edge = ObjectPlan("", [(node, NODE), *edge.members])
        return inner

    def build_row(self, shape: Shape, table: ResultTable) -> ObjectPlan | ResultTable | int:
        """Return the plan for the rows of a table."""
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
        return self.add_column(table, ResultColumn(table.short_name.rstrip("[]"), shape, nullable))

    def add_column(self, table: ResultTable, column: ResultColumn) -> int:
        """Add a column and return its number; a name of the node wins over one of its edge."""
        taken = self.column_names[table]
        while column.name in taken:
            column.name = f"edge.{column.name}"
        taken.add(column.name)
        table.columns.append(column)
        return len(table.columns) - 1

    def keeps_list_cells(self, table: ResultTable) -> bool:
        """Return whether the lists in the rows of a table stay in cells."""
        return self.cells is not None and self.is_full(table)

    def is_needed(self, name: str) -> bool:
        """Return whether a table, or one in its rows, is to be read."""
        if self.wanted is None or name in self.wanted:
            return True
        return any(wanted.startswith((f"{name}.", f"{name}[")) for wanted in self.wanted)


def is_sign(name: str, lists: Collection[str]) -> bool:
    """Return whether a field may count the rows of lists beside it, or say that they go on."""
    return (
        name in (*MORE_FLAGS, *LAST_FLAGS) or name.endswith("Count") or is_count_name(name, lists)
    )


def _find_key(shape: Shape) -> Shape | None:
    """Return the ``id`` of rows; None if it can be missing in a row that has inner rows."""
    key = shape.children.get("id")
    if key is None or key.field_name != "id" or key.nullable or key.lists:
        return None
    inner = [child for child in shape.children.values() if child.lists or _has_lists(child)]
    return key if all(_is_certain(key, child.possible_objects) for child in inner) else None


def _is_certain(shape: Shape, objects: ObjectSet) -> bool:
    """Return whether a field is selected for all of these objects without a condition."""
    return not shape.is_conditional or objects <= shape.certain_objects


def _has_lists(shape: Shape) -> bool:
    return any(child.lists or _has_lists(child) for child in shape.children.values())


def _find_total(shape: Shape) -> str | None:
    """Return the response name of a connection's total count."""
    counts = {
        child.field_name: name
        for name, child in shape.children.items()
        if child.type == "Int" and not child.lists
    }
    # GitHub's search has repositoryCount and the like.
    others = [name for field, name in counts.items() if field.endswith("Count")]
    return next((counts[name] for name in TOTAL_FIELDS if name in counts), next(iter(others), None))


# -- rows in decoded data


def iter_rows_with_paths(table: ResultTable, data: object) -> Iterator[tuple[Path, Any]]:
    """Yield the rows of a list with the response path of their item, in the order of the frame."""
    parent, above = table.parent, iter([((), data)])
    if parent is not None and parent.parent is not None:
        node_path = () if parent.node is None else (parent.node,)
        above = (((*path, *node_path), row) for path, row in iter_rows_with_paths(parent, data))
    for path, row in above:
        items = follow_path(row, table.path)
        if not isinstance(items, (list, tuple)):
            continue
        here = (*path, *table.path)
        for number, item in enumerate(items):
            node = item
            if table.node is not None:
                node = item.get(table.node) if isinstance(item, dict) else None
            if node is not None or not isinstance(table.row, ObjectPlan):
                yield (*here, number), node


def follow_path(value: object, path: tuple[str, ...]) -> Data:
    """Return the value at a path of names, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def list_rows(data: object, table: ResultTable) -> list[Any]:
    """Return the rows of a list unchanged, without null edges, nodes and objects."""
    if table.parent is None:
        return [data] if data is not None else []
    return [row for _, row in iter_rows_with_paths(table, data)]


def find_value_path(
    table: ResultTable, column: ResultColumn, row: int, data: object
) -> Path | None:
    """Return the response path of a column's value in a row; None if no such row exists."""
    path: Path = ()
    if table.parent is not None:
        place = next(islice(iter_rows_with_paths(table, data), row, None), None)
        if place is None:
            return None
        path = place[0]
    number = table.columns.index(column)
    beside = _find_member_names(table.edge, number)
    if beside is not None:
        return (*path, *beside)
    node = () if table.node is None else (table.node,)
    return (*path, *node, *(_find_member_names(table.row, number) or ()))


def _find_member_names(place: object, number: int) -> tuple[str, ...] | None:
    """Return the response names that lead from an object to a column."""
    if not isinstance(place, ObjectPlan):
        return None
    for name, target in place.members:
        if isinstance(target, int) and target == number:
            return (name,)
        below = _find_member_names(target, number)
        if below is not None:
            return (name, *below)
    return None


# -- choosing a list


def choose_table(shape: Shape, holder: DataHolder, path: str | None) -> ResultTable:
    """Return the list of that name, or the only one; the data without a list.

    Parameters
    ----------
    shape
        The shape of the data.
    holder
        The object with the data, whose rows an error counts.
    path
        The name of the list; None for the only one.

    Raises
    ------
    FrameError
        If the list does not exist, or one must be chosen.
    """
    root = get_read_plan(shape).root
    if path is None and root.name == DATA_TABLE:
        return root
    if path is None and len(root.inner_tables) == 1:
        return root.inner_tables[0]
    chosen = next((table for table in root.walk() if table.name == path and path), None)
    if chosen is not None:
        return chosen
    if path is not None:
        raise FrameError(describe_missing_list(shape, holder, path))
    outer = root.inner_tables
    listed = _describe_lists(outer, holder)
    msg = f"The answer holds {len(outer)} lists. Choose one with path=: {listed}."
    nested = [table for one in outer for table in one.walk() if table is not one]
    if nested:
        msg += f" Lists in their rows, also for path=: {_describe_lists(nested, holder)}."
    raise FrameError(msg)


def describe_missing_list(shape: Shape, holder: DataHolder, path: str) -> str:
    """Return the message that there is no list of that name, with the names of the others."""
    tables = [table for table in get_read_plan(shape).root.walk() if table.parent]
    name, listed = sanitize_text(path, 80), _describe_lists(tables, holder) or "no list at all"
    return f"The answer has no list at {name!r}. It has: {listed}."


def _describe_lists(tables: Iterable[ResultTable], holder: DataHolder) -> str:
    """Return the names of lists with the number of their rows."""
    data = holder.data
    counts = {table.name: sum(1 for _ in iter_rows_with_paths(table, data)) for table in tables}
    return ", ".join(f"{name!r} ({format_count(rows, 'row')})" for name, rows in counts.items())
