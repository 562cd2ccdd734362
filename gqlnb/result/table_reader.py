"""Reading an answer by a plan: lists become rows, values become columns.

The same walk reads two kinds of objects: structs with numbered fields, decoded from bytes, and
dicts of data in this process. All values of one place are taken at once and added to their column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd

from gqlnb.errors import StrictError, sanitize_text
from gqlnb.result.column_batch import ColumnBatch
from gqlnb.result.column_builder import ColumnBuilder, ColumnValueError
from gqlnb.result.decoder import (
    DataSource,
    DecimalData,
    Envelope,
    RowDecoders,
    decode_untyped,
    get_row_decoders,
    join_pieces,
    remove_decimals,
    restore_decimals,
)
from gqlnb.result.shape import NO_FORMS, ScalarForms
from gqlnb.result.tables import DATA_TABLE, ObjectPlan, ResultTable, find_value_path, record_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gqlnb.result.decoder import Data
    from gqlnb.result.shape import Shape
    from gqlnb.result.tables import DataHolder, Path, ReadPlan, ResultColumn

CHUNK_BYTES = 1 << 18  # of rows decoded at a time: their structs fit into the processor's cache
# A chunk of a wide table may be larger by as much for each column: a column takes as long for each
# chunk as for a hundred values.
CHUNK_COLUMN_BYTES = 1 << 12


class TableRows:
    """The rows of one table.

    Attributes
    ----------
    columns
        Its columns.
    count
        The number of rows.
    dropped
        The number of edges, nodes and items that were null, and are left out.
    parent_parts
        For each row, the number of its parent's row, in parts.
    """

    def __init__(
        self, table: ResultTable, kept: frozenset[ResultColumn], answer: AnswerData
    ) -> None:
        self.table = table
        self.columns = [
            ColumnBuilder(
                column,
                table.name,
                kept=column in kept,
                decimals=answer.has_decimals,
                form=answer.forms.known.get(column.shape, ""),
            )
            for column in table.columns
        ]
        self.count = 0
        self.dropped = 0
        self.parent_parts: list[NDArray[np.int64]] = []

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """For each row, the number of its parent's row; only after all rows were added."""
        return np.concatenate([np.zeros(0, np.int64), *self.parent_parts])

    @cached_property
    def key(self) -> ColumnBuilder | None:
        """The key column; None if its values are not unique within each list."""
        found = next((found for found in self.columns if found.column is self.table.key), None)
        if found is None:
            return None
        try:
            ids, _ = pd.factorize(found.to_pandas())
        except TypeError:  # objects or lists instead of ids
            return None
        # Ids need to be unique within each list only: number the pairs of (list, id).
        there = ids >= 0
        lists = self.parents if self.parent_parts else np.zeros(self.count, np.int64)
        pairs = lists[there] * (ids.max(initial=0) + 1) + ids[there]
        return found if len(np.unique(pairs)) == len(pairs) else None


@dataclass(eq=False)
class AnswerData:
    """The data of an answer, as values or as bytes.

    Attributes
    ----------
    holder
        The object with the data.
    shape
        The shape of the data.
    source
        The response or the exact data to read from; None to read the data of `holder`.
    forms
        The forms of scalars seen on earlier pages.
    mark
        Called with these data, path and ``attrs`` of each frame that is read; returns them with
        those of the result.
    renumbered
        The lists whose ids are not unique, so that lists in their rows have row numbers as keys.
    remarks
        Sentences about the columns that were read, in order, as keys and as values.
    row_count
        The number of rows of the longest list that was read.
    infers
        Whether columns of unknown scalars get the dtype of their values: not in one of several
        frames, as of pages, since another may have other values.
    inferred
        The dtypes that were inferred, by scalar.
    """

    holder: DataHolder
    shape: Shape
    source: DataSource | None = None
    forms: ScalarForms = NO_FORMS
    mark: Callable[..., dict[Any, object]] | None = None
    renumbered: set[str] = field(default_factory=set)
    remarks: dict[str, str] = field(default_factory=dict)
    row_count: int = 0
    infers: bool = False
    inferred: dict[str, str] = field(default_factory=dict)

    @property
    def has_decimals(self) -> bool:
        """Whether the data hold decimals for JSON numbers."""
        return isinstance(self.source, DecimalData)

    def read_outline(self) -> Data:
        """Return the data; of a response, items of lists are pieces of JSON."""
        found = msgspec.UNSET if self.source is None else self.source.outline
        return self.holder.data if found is msgspec.UNSET else found

    def convert_to_json(self, value: object) -> float | str:
        """Return a value that JSON does not have as text, or a restored decimal as a number."""
        return float(value) if self.has_decimals and type(value) is Decimal else str(value)


def read_tables(
    answer: AnswerData,
    plan: ReadPlan,
    *,
    strict: bool = True,
    limit: int | None = None,
    checked: bool = False,
) -> tuple[dict[str, TableRows], Data]:
    """Read the tables of a plan, and those on the way to them.

    Parameters
    ----------
    answer
        The answer to read.
    plan
        The parts of it to read.
    strict
        Whether a value that does not fit its column is an error. Otherwise that column keeps all
        its values unchanged, and a value in place of an object or a list counts as null.
    limit
        The maximum number of items of an outermost list to read; None for all.
    checked
        Whether rows must fit the shape of the answer completely, null and missing fields included.

    Returns
    -------
    (dict, object)
        The rows by the name of their table, and the outline of the data, in which lists may be
        pieces of JSON.

    Raises
    ------
    FrameError
        If a value does not fit; the message names column and row.
    QuickCheckError
        If rows are checked and one does not fit.
    """
    source = answer.source
    found: tuple[dict[str, TableRows], Data] | None = None
    if source is not None and limit is None and not checked:
        record_plan(plan)
        found = source.take_prepared(plan)
    untyped: frozenset[ResultColumn] = frozenset()
    # A column that does not fit is only found while reading; without `strict` the answer is read
    # again with that column untyped, which happens once per such column at most.
    while found is None:
        outline = answer.read_outline()
        reader = _TableReader(plan, untyped, answer, strict, limit, checked)
        try:
            reader.read_data(outline)
        except ColumnValueError as error:
            if strict and checked:
                raise
            if strict and not error.column.hinted_dtype:
                raise _locate_error(error, plan, answer) from None
            untyped |= {error.column}
        else:
            found = reader.rows, outline
    answer.row_count = 0
    for rows in found[0].values():
        answer.row_count = max(answer.row_count, rows.count)
        for builder in rows.columns:
            if answer.infers and limit is None and builder.infer_dtype() and not builder.remark:
                answer.inferred[str(builder.column.shape.type)] = builder.kind.dtype
            _add_remarks(answer, builder)
    return found


def _add_remarks(answer: AnswerData, builder: ColumnBuilder) -> None:
    """Add the sentences about a column that was read."""
    if builder.remark:
        answer.remarks[builder.remark] = builder.remark
    if builder.column.shape in answer.forms.late:
        remark = (
            f"Column {builder.column.name!r} is {builder.kind.dtype} from this page on. In "
            "frames of earlier pages all of its values are null, and its dtype is another: "
            "pandas.concat would make objects of it, gqlnb.concat does not. "
            "client.execute_all() makes one frame."
        )
        answer.remarks[remark] = remark


def _locate_error(error: ColumnValueError, plan: ReadPlan, answer: AnswerData) -> ColumnValueError:
    """Return an error with the response path of its value."""
    table = next((table for table in plan.tables if error.column in table.columns), None)
    path: Path | None = None
    if table is not None and error.row is not None:
        path = find_value_path(table, error.column, error.row, answer.holder.data)
    return ColumnValueError(error.column, error.table, error.reason, error.row, path)


@dataclass(eq=False)
class _TableReader:
    plan: ReadPlan
    untyped_columns: frozenset[ResultColumn]
    answer: AnswerData
    strict: bool
    limit: int | None
    checked: bool
    # Whether the objects of the current chunk are structs, whose members have the types in the
    # plan; else they are dicts.
    typed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.rows = {
            it.name: TableRows(it, self.untyped_columns, self.answer) for it in self.plan.tables
        }

    @cached_property
    def decoders(self) -> RowDecoders:
        """Decoders of rows from bytes; made only if there are bytes."""
        if self.untyped_columns:
            return RowDecoders(self.plan, self.untyped_columns)
        return get_row_decoders(self.plan, checked=self.checked)

    def read_data(self, outline: Data) -> None:
        """Read all tables of the data."""
        root = self.plan.root
        data = [outline]
        self.check_kinds(root, data, dict, "")
        if root.name == DATA_TABLE and data[0] is not None:
            source = self.answer.source
            if isinstance(source, Envelope) and source.has_exact_numbers:
                # A second pass over the body: only answers without lists are read from it.
                data = [remove_decimals(data[0], self.plan.shape)]  # a copy
                restore_decimals(data[0], self.plan.shape, source.body)
            self.add_items(root, data)
        for table in root.inner_tables:
            place = data
            for end, name in enumerate(table.path, 1):
                place = [None if place[0] is None else place[0].get(name)]
                kind = dict if end < len(table.path) else (list, tuple, ColumnBatch)
                self.check_kinds(root, place, kind, ".".join(table.path[:end]))
            self.add_outermost_list(table, place[0] or ())
        for rows in self.rows.values():
            for builder in rows.columns:
                builder.close()

    def add_values(
        self, table: ResultTable, target: ObjectPlan | ResultTable | int, values: list[object]
    ) -> None:
        """Add one value for each of the next rows of a table: objects, lists, or of a column."""
        if isinstance(target, ObjectPlan):
            self.add_members(table, target, values)
        elif isinstance(target, ResultTable):
            self.add_lists(target, values)
        else:
            self.rows[table.name].columns[target].add_values(values, checked=self.typed)

    def add_members(
        self, table: ResultTable, place: ObjectPlan, objects: list[object], first: int = 0
    ) -> None:
        """Add the members of objects, one object for each of the next rows of a table."""
        for number in range(first, len(place.members)):
            values = self.take_member(table, place, objects, number)
            self.add_values(table, place.members[number][1], values)

    def take_member(
        self, table: ResultTable, place: ObjectPlan, objects: list[Any], number: int
    ) -> list[Any]:
        """Return one member of objects, None for a missing one."""
        name = place.members[number][0]
        if isinstance(objects, ColumnBatch):
            found: Any = objects.members[name]
            return found
        if not self.typed:
            try:
                return [*map(itemgetter(name), objects)]
            except (KeyError, TypeError):  # null, missing, or not an object
                self.check_kinds(table, objects, dict, place.name)
            return [None if found is None else found.get(name) for found in objects]

        # The quick one has no test for null, which has no such attribute.
        quick, careful = compile_getters(number)
        try:
            return quick(objects)
        except AttributeError:
            return careful(objects)

    def add_lists(self, table: ResultTable, lists: list[Any]) -> None:
        """Add a list for each of the next rows of a table's parent."""
        parent = table.parent or table
        if not self.typed:
            self.check_kinds(parent, lists, (list, tuple), ".".join(table.path))
        if not all(lists):  # one is null or empty
            lists = [found if found is not None else () for found in lists]
        begin = self.rows[parent.name].count
        parents = np.repeat(np.arange(begin, begin + len(lists)), [*map(len, lists)])
        self.add_items(table, [*chain.from_iterable(lists)], parents)

    def add_outermost_list(self, table: ResultTable, items: Sequence[Any]) -> None:
        """Add the items of an outermost list, a chunk at a time."""
        # The structs of a chunk are freed before the next one is decoded, so memory does not grow
        # with the number of rows. Items have about the same size, unless there are other lists.
        columns = sum(len(rows.columns) for rows in self.rows.values())
        most = max(CHUNK_BYTES, CHUNK_COLUMN_BYTES * columns)
        size = len(getattr(self.answer.source, "body", b"")) or most
        count = -(-len(items) * most // size)
        items = items if self.limit is None else items[: self.limit]
        if isinstance(items, ColumnBatch):
            self.add_items(table, items)
            return
        for start in range(0, len(items), count or 1):
            chunk = list(items[start : start + count])
            self.typed = type(chunk[0]) is msgspec.Raw
            if self.typed:
                try:
                    chunk = self.decoders.decode_items(table, chunk)
                except msgspec.ValidationError:  # other types than declared
                    self.typed, chunk = False, decode_untyped(join_pieces(chunk))
            self.add_items(table, chunk)

    def add_items(
        self, table: ResultTable, items: list[object], parents: NDArray[np.int64] | None = None
    ) -> None:
        """Add the items of a table's lists, which are its rows or edges of them."""
        rows, edge, nodes = self.rows[table.name], table.edge, items
        if edge is not None:
            nodes = self.take_member(table, edge, items, 0)
        may_drop = isinstance(table.row, ObjectPlan) and not isinstance(nodes, ColumnBatch)
        if may_drop and not all(nodes):
            present = [number for number, node in enumerate(nodes) if node is not None]
            rows.dropped += len(nodes) - len(present)
            nodes = [nodes[number] for number in present]
            items = [items[number] for number in present] if edge is not None else items
            parents = parents[present] if parents is not None else None
        if parents is not None:
            rows.parent_parts.append(parents)
        if edge is not None:
            self.add_members(table, edge, items, first=1)
        self.add_values(table, table.row, nodes)
        rows.count += len(nodes)

    def check_kinds(
        self, table: ResultTable, values: list[Any], kind: type | tuple[type, ...], path: str
    ) -> None:
        """Raise if a value is neither of a kind nor null; set it to None if not strict."""
        for number, value in enumerate(values):
            if value is None or isinstance(value, kind):
                continue
            if not self.strict:
                values[number] = None
                continue
            row = f" in row {self.rows[table.name].count + number:,} of {table.name!r}"
            shown = sanitize_text(repr(value), 80)
            msg = (
                f"The answer does not have the shape of its query: "
                f"{repr(path) if path else 'an item'}{row if table.name else ''} is {shown}, "
                f"not {'an object' if kind is dict else 'a list'}."
            )
            raise StrictError(msg)


@cache
def compile_getters(number: int) -> tuple[Callable[..., list[object]], ...]:
    """Return functions that take a numbered member of structs; the second also takes None."""
    # A comprehension with the attribute in its code takes half the time of `attrgetter`.
    values = (f"row.f{number}", f"None if row is None else row.f{number}")
    return tuple(eval(f"lambda rows: [{value} for row in rows]") for value in values)  # noqa: S307 - our own text
