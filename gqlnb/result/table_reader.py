"""Reading an answer by a plan: lists become rows, values become columns.

The same walk reads two kinds of objects: structs with numbered fields, decoded from bytes, and
dicts of data in this process. All values of one place are taken at once and added to their column.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from gqlnb.errors import StrictError, sanitize_text
from gqlnb.result.column_builder import ColumnBuilder, ColumnValueError
from gqlnb.result.decoder import (
    DecimalData,
    Envelope,
    RowDecoders,
    decode_untyped,
    get_row_decoders,
    join_pieces,
)
from gqlnb.result.scalar_forms import NO_FORMS, ScalarForms
from gqlnb.result.tables import DATA_TABLE, ObjectPlan, ResultTable, find_value_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from gqlnb.result.shape import Shape
    from gqlnb.result.tables import ReadPlan, ResultColumn

    TakeMember = Callable[[Sequence[object], int, str], list[object]]

__all__ = ["AnswerData", "TableRows", "read_tables"]

CHUNK = 3000  # rows decoded at a time: their structs fit into the processor's cache
COMPILED_FROM = 256  # rows; below, compiling a getter takes longer than it saves


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
        self._parents: list[NDArray[np.int64]] = []

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
        lists = self.parents if self._parents else np.zeros(self.count, np.int64)
        pairs = lists[there] * (ids.max(initial=0) + 1) + ids[there]
        return found if len(np.unique(pairs)) == len(pairs) else None

    @property
    def parents(self) -> NDArray[np.int64]:
        """For each row, the number of its parent's row."""
        return np.concatenate([np.zeros(0, np.int64), *self._parents])

    def add_parents(self, parents: NDArray[np.int64]) -> None:
        """Add the parents' rows of the next rows."""
        self._parents.append(parents)


class AnswerData:
    """The data of an answer, as values or as bytes.

    Parameters
    ----------
    shape
        The shape of the data.
    data
        Returns the data as mappings and lists.
    source
        The response or the exact data to read from; None to read `data`.
    forms
        The forms of scalars seen on earlier pages.

    Attributes
    ----------
    renumbered
        The lists whose ids are not unique, so that lists in their rows have row numbers as keys.
    remarks
        Sentences about the columns that were read, in order.
    """

    def __init__(
        self,
        shape: Shape,
        data: Callable[[], Any],
        source: Envelope | DecimalData | None = None,
        forms: ScalarForms = NO_FORMS,
    ) -> None:
        self.shape = shape
        self.data = data
        self.renumbered: set[str] = set()
        self.remarks: dict[str, None] = {}
        self.forms = forms
        self._source = source

    @property
    def outline(self) -> Any:
        """The data; of a response, items of lists are pieces of JSON."""
        found = msgspec.UNSET if self._source is None else self._source.outline
        return self.data() if found is msgspec.UNSET else found

    @property
    def exact_outline(self) -> Any:
        """The data of an answer without lists, with exact decimals."""
        source = self._source
        if not isinstance(source, Envelope) or not source.has_exact_numbers:
            return self.outline
        is_raw = source.outline is msgspec.UNSET
        return self.outline if is_raw else source.decode_exact_outline(self.shape)

    def convert_to_json(self, value: object) -> float | str:
        """Return a value that JSON does not have as text, or a restored decimal as a number."""
        return float(value) if self.has_decimals and type(value) is Decimal else str(value)

    @property
    def has_decimals(self) -> bool:
        """Whether the data hold decimals for JSON numbers."""
        return isinstance(self._source, DecimalData)

    def add_remarks(self, read: Collection[TableRows]) -> None:
        """Collect the remarks about columns that were read."""
        columns = list(chain.from_iterable(rows.columns for rows in read))
        self.remarks.update(dict.fromkeys(column.remark for column in columns if column.remark))
        for column in columns:
            if column.column.shape in self.forms.late:
                remark = (
                    f"Column {column.column.name!r} is {column.kind.dtype} from this page on. In "
                    "frames of earlier pages all of its values are null, and its dtype is another: "
                    "pandas.concat would make objects of it. client.execute_all() makes one frame."
                )
                self.remarks[remark] = None

    def take_prepared(self, plan: ReadPlan) -> Any:
        """Return the tables read by a plan while the answer was checked, once; else None."""
        return None if self._source is None else self._source.take_prepared(plan)


def read_tables(
    answer: AnswerData,
    plan: ReadPlan,
    *,
    strict: bool = True,
    limit: int | None = None,
    checked: bool = False,
) -> tuple[dict[str, TableRows], Any]:
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
    prepared: tuple[dict[str, TableRows], Any] | None = None
    if limit is None and not checked:
        prepared = answer.take_prepared(plan)
    if prepared is not None:
        answer.add_remarks(prepared[0].values())
        return prepared
    outline = answer.outline
    untyped: frozenset[ResultColumn] = frozenset()
    # A column that does not fit is only found while reading; without `strict` the answer is read
    # again with that column untyped, which happens once per such column at most.
    while True:
        reader = _TableReader(plan, untyped, answer, strict=strict, limit=limit, checked=checked)
        try:
            reader.read_data(answer.exact_outline if plan.root.name == DATA_TABLE else outline)
            for column in chain.from_iterable(rows.columns for rows in reader.rows.values()):
                column.close()
        except ColumnValueError as error:
            fault = error
        else:
            answer.add_remarks(reader.rows.values())
            return {rows.table.name: rows for rows in reader.rows.values()}, outline
        if strict:
            table = next((t for t in plan.root.walk() if fault.column in t.columns), None)
            if table is not None and fault.row is not None:
                path = find_value_path(table, fault.column, fault.row, answer.data())
                fault = ColumnValueError(fault.column, fault.table, fault.reason, fault.row, path)
            raise fault
        untyped |= {fault.column}


class _TableReader:
    def __init__(
        self,
        plan: ReadPlan,
        untyped: frozenset[ResultColumn],
        answer: AnswerData,
        *,
        strict: bool,
        limit: int | None,
        checked: bool,
    ) -> None:
        self.plan = plan
        self.untyped_columns = untyped
        self.strict = strict
        self.limit = limit
        self.checked = checked
        self.rows = {table: TableRows(table, untyped, answer) for table in plan.root.walk()}

    @cached_property
    def decoders(self) -> RowDecoders:
        """Decoders of rows from bytes; made only if there are bytes."""
        if self.untyped_columns:
            return RowDecoders(self.plan, self.untyped_columns)
        return get_row_decoders(self.plan, checked=self.checked)

    def read_data(self, outline: Any) -> None:
        """Read the data, which are the only row of the root."""
        if outline is not None:
            self.check_kinds(self.plan.root, [outline], dict, "")
            self.add_rows(self.plan.root, [outline], DICT_ACCESS)

    def add_rows(self, table: ResultTable, rows: list[object], access: MemberAccess) -> None:
        """Add rows of a table: objects, lists or values."""
        target, found = table.row, self.rows[table]
        if isinstance(target, ObjectPlan):
            self.add_members(table, target, rows, access)
        elif isinstance(target, ResultTable):
            self.add_lists(target, rows, access)
        else:
            found.columns[target].add_values(rows, found.count, checked=access.is_typed)
        found.count += len(rows)

    def add_members(
        self,
        table: ResultTable,
        place: ObjectPlan,
        objects: list[object],
        access: MemberAccess,
        first: int = 0,
    ) -> None:
        """Add the members of objects, one object for each of the next rows of a table."""
        rows = self.rows[table]
        is_compiled = access.is_typed and len(objects) >= COMPILED_FROM
        for number in range(first, len(place.members)):
            target = place.members[number][1]
            # `owner { login }`: one comprehension for both levels instead of two passes.
            column = get_only_column(target) if is_compiled else None
            if column is not None and (values := take_inner_leaves(objects, number)) is not None:
                rows.columns[column].add_values(values, rows.count, checked=True)
                continue
            values = self.take_member(table, place, objects, access, number)
            if isinstance(target, ObjectPlan):
                self.add_members(table, target, values, access)
            elif isinstance(target, ResultTable):
                self.add_lists(target, values, access)
            else:
                rows.columns[target].add_values(values, rows.count, checked=access.is_typed)

    def take_member(
        self,
        table: ResultTable,
        place: ObjectPlan,
        objects: list[object],
        access: MemberAccess,
        number: int,
    ) -> list[object]:
        """Return one member of objects, None for a missing one."""
        name = place.members[number][0]
        try:
            return access.take(objects, number, name)
        except (KeyError, TypeError, AttributeError):  # null, missing, or not an object
            if not access.is_typed:
                self.check_kinds(table, objects, dict, place.name)
            return access.take_or_none(objects, number, name)

    def add_lists(self, table: ResultTable, lists: list[Any], access: MemberAccess) -> None:
        """Add a list for each of the next rows of a table's parent."""
        parent = table.parent or table
        if not access.is_typed:
            self.check_kinds(parent, lists, (list, tuple), ".".join(table.path))
        if not all(lists):  # one is null or empty
            lists = [found if found is not None else () for found in lists]
        if parent is self.plan.root:
            self.add_outermost_list(table, lists[0], access)
            return
        begin = self.rows[parent].count
        parents = np.repeat(np.arange(begin, begin + len(lists)), [*map(len, lists)])
        self.add_items(table, [*chain.from_iterable(lists)], access, parents)

    def add_outermost_list(
        self, table: ResultTable, items: Sequence[Any], access: MemberAccess
    ) -> None:
        """Add the items of an outermost list, some thousands at a time."""
        items = items if self.limit is None else items[: self.limit]
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            if type(chunk[0]) is not msgspec.Raw:
                self.add_items(table, list(chunk), access)
                continue
            try:
                structs = self.decoders.decode_items(table, chunk)
            except msgspec.ValidationError:  # other types than declared
                self.add_items(table, decode_untyped(join_pieces(chunk)), DICT_ACCESS)
            else:
                self.add_items(table, structs, STRUCT_ACCESS)

    def add_items(
        self,
        table: ResultTable,
        items: list[object],
        access: MemberAccess,
        parents: NDArray[np.int64] | None = None,
    ) -> None:
        """Add the items of a table's lists, which are its rows or edges of them."""
        rows, edge, nodes = self.rows[table], table.edge, items
        if edge is not None:
            nodes = self.take_member(table, edge, items, access, 0)
        if isinstance(table.row, ObjectPlan) and not all(nodes):
            present = [number for number, node in enumerate(nodes) if node is not None]
            rows.dropped += len(nodes) - len(present)
            nodes = [nodes[number] for number in present]
            items = [items[number] for number in present] if edge is not None else items
            parents = parents[present] if parents is not None else None
        if parents is not None:
            rows.add_parents(parents)
        if edge is not None:
            self.add_members(table, edge, items, access, first=1)
        self.add_rows(table, nodes, access)

    def check_kinds(
        self,
        table: ResultTable,
        values: list[object],
        kind: type | tuple[type, ...],
        path: str,
    ) -> None:
        """Raise if a value is neither of a kind nor null; set it to None if not strict."""
        wrong = {t for t in set(map(type, values)) if t is not type(None)}
        wrong = {t for t in wrong if not issubclass(t, kind)}
        if not wrong:
            return
        for number, value in enumerate(values):
            if type(value) not in wrong:
                continue
            if not self.strict:
                values[number] = None
                continue
            row = f" in row {self.rows[table].count + number:,} of {table.name!r}"
            shown = sanitize_text(repr(value), 80)
            msg = (
                f"The answer does not have the shape of its query: "
                f"{repr(path) if path else 'an item'}{row if table.name else ''} is {shown}, "
                f"not {'an object' if kind is dict else 'a list'}."
            )
            raise StrictError(msg)


# -- taking a member of objects


class MemberAccess(NamedTuple):
    """Access to the members of objects of one kind.

    Attributes
    ----------
    take
        Takes the member with a number and a name from objects that all have it, or raises.
    take_or_none
        Takes None instead of a missing member, and from None.
    is_typed
        Whether the values are known to have the types in the plan.
    """

    take: TakeMember
    take_or_none: TakeMember
    is_typed: bool


def take_by_name(objects: Sequence[Any], _number: int, name: str) -> list[object]:
    return [*map(itemgetter(name), objects)]


def take_by_name_or_none(objects: Sequence[Any], _number: int, name: str) -> list[object]:
    return [None if found is None else found.get(name) for found in objects]


def take_by_number(objects: Sequence[object], number: int, _name: str) -> list[object]:
    if len(objects) < COMPILED_FROM:
        return [*map(attrgetter(f"f{number}"), objects)]
    return compile_getters(number)[0](objects)


def take_by_number_or_none(objects: Sequence[object], number: int, _name: str) -> list[object]:
    if len(objects) < COMPILED_FROM:
        get = attrgetter(f"f{number}")
        return [None if found is None else get(found) for found in objects]
    return compile_getters(number)[1](objects)


def get_only_column(target: int | ObjectPlan | ResultTable) -> int | None:
    """Return the column of an object with a single selected leaf, such as ``owner.login``."""
    if not isinstance(target, ObjectPlan) or len(target.members) != 1:
        return None
    column = target.members[0][1]
    return column if isinstance(column, int) else None


def take_inner_leaves(objects: Sequence[object], number: int) -> list[object] | None:
    """Return the first member of a member of structs; None if that member is null anywhere."""
    try:
        return compile_getters(number)[2](objects)
    except AttributeError:
        return None


@cache
def compile_getters(number: int) -> tuple[Callable[..., list[object]], ...]:
    """Return functions that take a numbered member of structs."""
    # A comprehension with the attribute in its code takes half the time of `attrgetter`.
    space: dict[str, Callable[..., list[object]]] = {}
    text = (
        f"def quick(rows): return [row.f{number} for row in rows]\n"
        f"def careful(rows): return [None if row is None else row.f{number} for row in rows]\n"
        f"def leaves(rows): return [row.f{number}.f0 for row in rows]\n"
    )
    exec(text, space)  # noqa: S102 - our own text with a number
    return space["quick"], space["careful"], space["leaves"]


DICT_ACCESS = MemberAccess(take_by_name, take_by_name_or_none, is_typed=False)
STRUCT_ACCESS = MemberAccess(take_by_number, take_by_number_or_none, is_typed=True)
