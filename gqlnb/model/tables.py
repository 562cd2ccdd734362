"""The tables of an answer: one per list level, with its columns and where their values stand.

A shape is turned into a tree of what is read: a `Table` for each list, a `Place` for each object
in its rows. What is not asked for is not in the tree, and thus neither decoded nor looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from gqlnb.model import scalars
from gqlnb.model.shape import Shape, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALONE", "NODE", "TOTALS", "Column", "Place", "Plan", "Table", "plan_of"]

ALONE = "data"  # the name of the one table of an answer without lists
NODE = -1  # stands in an edge where its node does
TOTALS = ("totalCount", "total", "count")  # then whatever ends in Count: GitHub's repositoryCount
Name = tuple[str, ...]


@dataclass(slots=True, eq=False)
class Column:
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
    connection
        Whether the cells hold the edges or nodes of a connection.
    """

    name: str
    shape: Shape
    nullable: bool
    node: str | None = None
    connection: bool = False


@dataclass(slots=True, eq=False)
class Place:
    """What is read of the objects at one place, by response name in the order of selection.

    A member is the number of a column, objects with members of their own, or the rows of a table.
    """

    name: str
    members: list[tuple[str, int | Place | Table]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Table:
    """One list level of an answer.

    Attributes
    ----------
    name
        The dotted response names that lead to it, without the plumbing of connections.
    parent
        The table in whose rows the lists stand; None for the outermost of all, the data.
    place
        The response names that lead from a row of the parent to the list.
    node
        The response name of the row in an item, for the edges of a connection; else None.
    total
        The response name, beside the list, of the connection's count of all there are.
    columns
        Its columns.
    row
        What a row is: an object, a list whose items are rows of another table, or the number of the
        one column of a list of values.
    edge
        What is read of an edge: the node first, then what stands beside it.
    inner
        The tables in its rows.
    key
        The column that names a row to inner tables: ``id``, where it is never null in a row that
        has inner rows.
    """

    name: str
    parent: Table | None
    place: Name = ()
    node: str | None = None
    total: str | None = None
    columns: list[Column] = field(default_factory=list)
    row: Place | Table | int = 0
    edge: Place | None = None
    inner: list[Table] = field(default_factory=list)
    key: Column | None = None

    @property
    def short(self) -> str:
        """The last part of the name, by which the keys of inner tables call it."""
        return self.name.rpartition(".")[2]

    @property
    def outermost(self) -> Table:
        """The list in the data that its rows stand in: it, or one it stands in."""
        above = self.parent
        return self if above is None or above.parent is None else above.outermost

    def walk(self) -> Iterator[Table]:
        """Yield this table and all in its rows."""
        yield self
        for table in self.inner:
            yield from table.walk()


@dataclass(slots=True, eq=False)
class Plan:
    """What to read of an answer.

    Attributes
    ----------
    root
        The table whose one row is the data.
    wanted
        The tables to be read, by name. Of those on the way to them only keys are read.
    decoders
        What reads them from bytes, once it was needed; see :mod:`gqlnb.model.decode`.
    """

    root: Table
    wanted: dict[str, Table]
    decoders: Any = None


def plan_of(shape: Shape, wanted: frozenset[str] | None = None, cells: str | None = None) -> Plan:
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
    key = (wanted, cells, scalars.version())
    found: Plan | None = shape.plans.get(key)
    if found is None:
        builder = _Builder(wanted, cells)
        root = builder.root(shape)
        full = {table.name: table for table in root.walk() if builder.full(table)}
        if root.name != ALONE:
            full.pop("", None)
        found = shape.plans.setdefault(key, Plan(root, full))
    return found


class _Builder:
    """Builds the tables of a shape; the arguments are those of :func:`plan_of`."""

    def __init__(self, wanted: frozenset[str] | None, cells: str | None) -> None:
        self.wanted = wanted
        self.cells = cells
        self.named: set[str] = set()

    def root(self, shape: Shape) -> Table:
        """Return the table whose one row is the data; it has columns if there is no list."""
        root = Table("" if _has_lists(shape) else ALONE, None)
        root.row = self.place(shape, (), root, nullable=False)
        return root

    def full(self, table: Table) -> bool:
        """Tell whether all of a table is read."""
        if table.parent is None:
            return table.name == ALONE
        return self.wanted is None or table.name in self.wanted

    def place(self, shape: Shape, path: Name, table: Table, *, nullable: bool) -> Place:
        """Return what is read of an object that stands at `path` in the rows of `table`.

        A row that happens to have ``nodes`` is a row; an object in one is a connection.
        """
        steps = steps_of(shape) if path else None
        key = None if path else _key(shape)
        place = Place(".".join(path))
        for name, child in shape.children.items():
            here = (*path, name)
            optional = nullable or child.nullable or child.sometimes
            target: int | Place | Table | None
            if child.lists and steps is not None and steps.items == name:
                target = self.lists(child, path, here, table, steps.node)
                if isinstance(target, Table):
                    target.total = _total(shape)
            elif child.lists:
                target = self.lists(child, here, here, table, None)
            elif child.composite:
                target = self.place(child, here, table, nullable=optional)
                target = target if target.members else None
            else:
                target = self.leaf(child, here, table, nullable=optional, key=child is key)
            if target is not None:
                place.members.append((name, target))
        return place

    def leaf(
        self, shape: Shape, path: Name, table: Table, *, nullable: bool, key: bool
    ) -> int | None:
        """Return the column of a leaf; None if it is not read."""
        if not key and not self.full(table):
            return None
        number = _column(table, Column(".".join(path), shape, nullable))
        if key:
            table.key = table.key or table.columns[number]
        return number

    def lists(
        self, shape: Shape, path: Name, place: Name, table: Table, node: str | None
    ) -> int | Table | None:
        """Return what is read of a list: the rows of a table, a cell, or None for nothing."""
        name = self.name(path, table)
        if self.keeps(table) and name not in (self.wanted or ()):
            plumbed = path != place
            cell = Column(".".join(path), shape, nullable=True, node=node, connection=plumbed)
            return _column(table, cell)
        if not self.leads(name):
            return None
        made = Table(name, table, place, node)
        table.inner.append(made)
        row = shape.item() if node is None else shape.children[node]
        made.row = self.row(row, made)
        if node is not None:
            beside = {key: child for key, child in shape.children.items() if key != node}
            aside = Shape(children=beside)
            if _has_lists(aside) and made.key and not _surely(made.key.shape, row.objects):
                made.key = None  # the lists of an edge stand beside nodes of all types
            edge = self.place(aside, (), made, nullable=False)
            made.edge = Place("", [(node, NODE), *edge.members])
        return made

    def row(self, shape: Shape, table: Table) -> Place | Table | int:
        """Return what a row of a table is."""
        name = f"{table.name}[]"
        if shape.lists and not (self.keeps(table) and name not in (self.wanted or ())):
            inner = Table(name, table)
            if self.leads(inner.name):
                table.inner.append(inner)
                inner.row = self.row(shape.item(), inner)
                return inner
            if not self.full(table):
                return Place("")
        if shape.composite and not shape.lists:
            return self.place(shape, (), table, nullable=False)
        nullable = shape.nullable or shape.sometimes
        return _column(table, Column(table.short.rstrip("[]"), shape, nullable))

    def name(self, path: Name, table: Table) -> str:
        """Return the name of a list, numbered where plumbing alone tells it from another."""
        wished = ".".join((table.name, *path) if table.name else path)
        found = next(name for name in numbered(wished) if name not in self.named)
        self.named.add(found)
        return found

    def keeps(self, table: Table) -> bool:
        """Tell whether the lists in the rows of a table stay in cells."""
        return self.cells is not None and self.full(table)

    def leads(self, name: str) -> bool:
        """Tell whether a table is to be read, or one in its rows is."""
        if self.wanted is None or name in self.wanted:
            return True
        return any(each.startswith((f"{name}.", f"{name}[")) for each in self.wanted)


def numbered(name: str) -> Iterator[str]:
    """Yield a name, then the same with a number."""
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def _key(shape: Shape) -> Shape | None:
    """Return the ``id`` of rows; None where one can be missing in a row that has inner rows."""
    found = shape.children.get("id")
    if found is None or found.own != "id" or found.nullable or found.lists:
        return None
    inner = [child for child in shape.children.values() if child.lists or _has_lists(child)]
    return found if all(_surely(found, child.maybe) for child in inner) else None


def _surely(shape: Shape, objects: frozenset[Any]) -> bool:
    """Tell whether a field is asked of all of these objects for certain."""
    return not shape.sometimes or objects <= shape.sure


def _has_lists(shape: Shape) -> bool:
    return any(child.lists or _has_lists(child) for child in shape.children.values())


def _column(table: Table, column: Column) -> int:
    """Add a column; what stands beside a node gives way to what the node has of that name."""
    taken = {each.name for each in table.columns}
    while column.name in taken:
        column.name = f"edge.{column.name}"
    table.columns.append(column)
    return len(table.columns) - 1


def _total(shape: Shape) -> str | None:
    """Return the response name of a connection's count of all there are."""
    counts = {
        child.own: name
        for name, child in shape.children.items()
        if child.type == "Int" and not child.lists
    }
    others = [name for field, name in counts.items() if field.endswith("Count")]
    return next((counts[name] for name in TOTALS if name in counts), next(iter(others), None))
