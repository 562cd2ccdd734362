"""Reading an answer by a plan: lists become rows, values become columns.

One walk serves both roads. From bytes, objects are structs whose members are numbered; from data of
this process they are dicts. Either way all values of one place are taken at once, object by object
of the same place, and go into their column together.
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

    TakeMember = Callable[[Sequence[Any], int, str], list[Any]]

__all__ = ["AnswerData", "TableRows", "read_tables"]

CHUNK = 3000  # rows decoded at a time: their structs fit into the processor's cache
COMPILED_FROM = 256  # rows from which on it pays to compile what takes a member of them


class TableRows:
    """What was read of one table.

    Attributes
    ----------
    columns
        Its columns.
    count
        The number of rows.
    dropped
        How many edges, nodes and items were null, and are no rows.
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
        """The column that tells the rows of each list from each other; None where ids repeat."""
        found = next((each for each in self.columns if each.column is self.table.key), None)
        if found is None:
            return None
        try:
            ids, _ = pd.factorize(found.to_pandas())
        except TypeError:  # objects or lists, which stand there only by mistake
            return None
        there = ids >= 0
        lists = self.parents if self._parents else np.zeros(self.count, np.int64)
        pairs = lists[there] * (ids.max(initial=0) + 1) + ids[there]
        return found if len(np.unique(pairs)) == len(pairs) else None

    @property
    def parents(self) -> NDArray[np.int64]:
        """Return, for each row, the number of its parent's row."""
        return np.concatenate([np.zeros(0, np.int64), *self._parents])

    def add_parents(self, parents: NDArray[np.int64]) -> None:
        """Note the parents' rows of the rows that come next."""
        self._parents.append(parents)


class AnswerData:
    """The data of an answer, as values or as the bytes they came in.

    Parameters
    ----------
    shape
        The shape of the data.
    data
        Returns the data as mappings and lists.
    came
        The response they came in; None where there was none.
    forms
        What earlier pages have shown of the values, where it is a page.

    Attributes
    ----------
    renumbered
        The lists whose ids were found not to tell their rows from each other, so that what is in
        the rows is keyed by their number.
    remarks
        What a person should know of the values that were read, each a sentence, in their order.
    """

    def __init__(
        self,
        shape: Shape,
        data: Callable[[], Any],
        came: Envelope | DecimalData | None = None,
        forms: ScalarForms = NO_FORMS,
    ) -> None:
        self.shape = shape
        self.data = data
        self.renumbered: set[str] = set()
        self.remarks: dict[str, None] = {}
        self.forms = forms
        self._came = came

    @property
    def outline(self) -> Any:
        """The data; of a response, items of lists are pieces of JSON."""
        found = msgspec.UNSET if self._came is None else self._came.outline
        return self.data() if found is msgspec.UNSET else found

    @property
    def exact_outline(self) -> Any:
        """The data of an answer without lists, with the digits of all their decimals."""
        came = self._came
        if (
            not isinstance(came, Envelope)
            or not came.has_exact_numbers
            or came.outline is msgspec.UNSET
        ):
            return self.outline
        return came.decode_exact_outline(self.shape)

    def convert_to_json(self, value: Any) -> float | str:
        """Return a value that is not JSON as one that is.

        A decimal that was put in place of a JSON number is that number again.
        """
        return float(value) if self.has_decimals and type(value) is Decimal else str(value)

    @property
    def has_decimals(self) -> bool:
        """Whether decimals stand in the data for JSON numbers."""
        return isinstance(self._came, DecimalData)

    def add_remarks(self, read: Collection[TableRows]) -> None:
        """Keep what there is to say of columns that were read."""
        said = (column.remark for rows in read for column in rows.columns)
        self.remarks.update(dict.fromkeys(filter(None, said)))
        for column in chain.from_iterable(rows.columns for rows in read):
            if column.column.shape not in self.forms.late:
                continue
            remark = (
                f"Column {column.column.name!r} is {column.kind.dtype} from this page on. In "
                "frames of earlier pages all of its values are null, and its dtype is another: "
                "pandas.concat would make objects of it. client.execute_all() makes one frame."
            )
            self.remarks[remark] = None

    def take_prepared(self, plan: ReadPlan) -> Any:
        """Return what was read by a plan while the answer was checked, once; else None."""
        return None if self._came is None else self._came.take_prepared(plan)


def read_tables(
    answer: AnswerData, plan: ReadPlan, *, strict: bool = True, limit: int | None = None
) -> tuple[dict[str, TableRows], Any]:
    """Read the tables of a plan, and those on the way to them.

    Parameters
    ----------
    answer
        What to read.
    plan
        What to read of it.
    strict
        Whether a value that does not fit its column is an error; otherwise that column keeps all
        its values as they came, and what stands where an object or a list should counts as null.
    limit
        How many items of an outermost list to read at most; None for all.

    Returns
    -------
    (dict, object)
        What was read, by the name of the table, and the outline of the data, in which lists may be
        pieces of JSON.

    Raises
    ------
    FrameError
        If a value does not fit; the message names column and row.
    """
    found: tuple[dict[str, TableRows], Any] | None = (
        answer.take_prepared(plan) if limit is None else None
    )
    if found is not None:
        answer.add_remarks(found[0].values())
        return found
    outline = answer.outline
    kept: frozenset[ResultColumn] = frozenset()
    while True:
        reading = _TableReader(plan, kept, answer, strict=strict, limit=limit)
        try:
            reading.read_data(answer.exact_outline if plan.root.name == DATA_TABLE else outline)
            reading.close_columns()
        except ColumnValueError as error:
            fault = error
        else:
            answer.add_remarks(reading.rows.values())
            return {rows.table.name: rows for rows in reading.rows.values()}, outline
        if strict:
            raise _add_response_path(fault, plan, answer)
        kept |= {fault.column}


def _add_response_path(
    error: ColumnValueError, plan: ReadPlan, answer: AnswerData
) -> ColumnValueError:
    """Return the error with the response path of the value."""
    table = next((t for t in plan.root.walk() if error.column in t.columns), None)
    if table is None or error.row is None:
        return error
    path = find_value_path(table, error.column, error.row, answer.data())
    return ColumnValueError(error.fact, error.column, error.row, path)


class _TableReader:
    def __init__(
        self,
        plan: ReadPlan,
        kept: frozenset[ResultColumn],
        answer: AnswerData,
        *,
        strict: bool,
        limit: int | None,
    ) -> None:
        self.plan = plan
        self.untyped_columns = kept
        self.strict = strict
        self.limit = limit
        self.rows = {table: TableRows(table, kept, answer) for table in plan.root.walk()}

    @cached_property
    def decoders(self) -> RowDecoders:
        """What decodes bytes; of a column that is kept, each value as it came."""
        return (
            RowDecoders(self.plan, self.untyped_columns)
            if self.untyped_columns
            else get_row_decoders(self.plan)
        )

    def read_data(self, outline: Any) -> None:
        """Read the data, which are the one row of the root."""
        if outline is not None:
            self.check_kinds(self.plan.root, [outline], dict, "")
            self.add_rows(self.plan.root, [outline], DICT_ACCESS)

    def close_columns(self) -> None:
        """Make the columns whose dtype is told by all values together."""
        for rows in self.rows.values():
            for column in rows.columns:
                column.close()

    def add_rows(self, table: ResultTable, rows: list[Any], road: MemberAccess) -> None:
        """Add rows of a table: objects, lists or values."""
        target, found = table.row, self.rows[table]
        if isinstance(target, ObjectPlan):
            self.add_members(table, target, rows, road)
        elif isinstance(target, ResultTable):
            self.add_lists(target, rows, road)
        else:
            found.columns[target].add_values(rows, found.count, checked=road.is_typed)
        found.count += len(rows)

    def add_members(
        self,
        table: ResultTable,
        place: ObjectPlan,
        objects: list[Any],
        road: MemberAccess,
        first: int = 0,
    ) -> None:
        """Take the members of objects, one object for each of the next rows of a table."""
        rows = self.rows[table]
        for number in range(first, len(place.members)):
            target = place.members[number][1]
            alone = (
                get_only_column(target) if road.is_typed and len(objects) >= COMPILED_FROM else None
            )
            if alone is not None and (found := take_inner_leaves(objects, number)) is not None:
                rows.columns[alone].add_values(found, rows.count, checked=True)
                continue
            values = self.take_member(table, place, objects, road, number)
            if isinstance(target, ObjectPlan):
                self.add_members(table, target, values, road)
            elif isinstance(target, ResultTable):
                self.add_lists(target, values, road)
            else:
                rows.columns[target].add_values(values, rows.count, checked=road.is_typed)

    def take_member(
        self,
        table: ResultTable,
        place: ObjectPlan,
        objects: list[Any],
        road: MemberAccess,
        number: int,
    ) -> list[Any]:
        """Return one member of objects, None where it is missing."""
        name = place.members[number][0]
        try:
            return road.take(objects, number, name)
        except (KeyError, TypeError, AttributeError):  # null, missing, or no object at all
            if not road.is_typed:
                self.check_kinds(table, objects, dict, place.name)
            return road.take_or_none(objects, number, name)

    def add_lists(self, table: ResultTable, lists: list[Any], road: MemberAccess) -> None:
        """Read a list of each of the next rows of a table's parent."""
        parent = table.parent or table
        if not road.is_typed:
            self.check_kinds(parent, lists, (list, tuple), ".".join(table.path))
        if not all(lists):  # one is null or empty
            lists = [each if each is not None else () for each in lists]
        if parent is self.plan.root:
            self.add_outermost_list(table, lists[0], road)
            return
        begin = self.rows[parent].count
        above = np.repeat(np.arange(begin, begin + len(lists)), [*map(len, lists)])
        self.add_items(table, [*chain.from_iterable(lists)], road, above)

    def add_outermost_list(
        self, table: ResultTable, items: Sequence[Any], road: MemberAccess
    ) -> None:
        """Read the items of an outermost list, some thousands at a time."""
        items = items if self.limit is None else items[: self.limit]
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            if type(chunk[0]) is not msgspec.Raw:
                self.add_items(table, list(chunk), road)
                continue
            try:
                made = self.decoders.decode_items(table, chunk)
            except msgspec.ValidationError:  # of another type than declared
                self.add_items(table, decode_untyped(join_pieces(chunk)), DICT_ACCESS)
            else:
                self.add_items(table, made, STRUCT_ACCESS)

    def add_items(
        self,
        table: ResultTable,
        items: list[Any],
        road: MemberAccess,
        above: NDArray[np.int64] | None = None,
    ) -> None:
        """Add the items of a table's lists, which are its rows or lead to them."""
        rows, edge, nodes = self.rows[table], table.edge, items
        if edge is not None:
            nodes = self.take_member(table, edge, items, road, 0)
        if isinstance(table.row, ObjectPlan) and not all(nodes):
            there = [number for number, node in enumerate(nodes) if node is not None]
            rows.dropped += len(nodes) - len(there)
            nodes = [nodes[number] for number in there]
            items = [items[number] for number in there] if edge is not None else items
            above = above[there] if above is not None else None
        if above is not None:
            rows.add_parents(above)
        if edge is not None:
            self.add_members(table, edge, items, road, first=1)
        self.add_rows(table, nodes, road)

    def check_kinds(self, table: ResultTable, values: list[Any], kind: Any, where: str) -> None:
        """Look for what is neither of a kind nor null, and make it null where that is allowed.

        Raises
        ------
        FrameError
            If there is one and reading is strict.
        """
        wrong = {t for t in set(map(type, values)) if not issubclass(t, (kind, type(None)))}
        if not wrong:
            return
        for number, value in enumerate(values):
            if type(value) not in wrong:
                continue
            if self.strict:
                raise StrictError(self.describe_misplaced(table, number, value, kind, where))
            values[number] = None

    def describe_misplaced(
        self, table: ResultTable, number: int, value: Any, kind: Any, where: str
    ) -> str:
        """Say that something else stands where the shape has an object or a list."""
        row = f"row {self.rows[table].count + number:,} of {table.name!r}" if table.name else ""
        place = f"{where!r}" if where else "an item"
        shown = sanitize_text(repr(value), 80)
        wanted = "an object" if kind is dict else "a list"
        within = f" in {row}" if row else ""
        return (
            f"The answer does not have the shape of its query: {place}{within} is {shown}, "
            f"not {wanted}."
        )


# -- taking a member of objects


class MemberAccess(NamedTuple):
    """How members are taken of objects.

    Attributes
    ----------
    take
        Takes the member of that number and name of objects that all have it, or raises.
    take_or_none
        Takes None for what is missing, and of None.
    is_typed
        Whether the values are known to be of the types in the plan.
    """

    take: TakeMember
    take_or_none: TakeMember
    is_typed: bool


def take_by_name(objects: Sequence[Any], _number: int, name: str) -> list[Any]:
    """Return a member of dicts."""
    return [*map(itemgetter(name), objects)]


def take_by_name_or_none(objects: Sequence[Any], _number: int, name: str) -> list[Any]:
    """Return a member of dicts and Nones."""
    return [None if each is None else each.get(name) for each in objects]


def take_by_number(objects: Sequence[Any], number: int, _name: str) -> list[Any]:
    """Return a member of structs."""
    if len(objects) < COMPILED_FROM:
        return [*map(attrgetter(f"f{number}"), objects)]
    return compile_getters(number)[0](objects)


def take_by_number_or_none(objects: Sequence[Any], number: int, _name: str) -> list[Any]:
    """Return a member of structs and Nones."""
    if len(objects) < COMPILED_FROM:
        get = attrgetter(f"f{number}")
        return [None if each is None else get(each) for each in objects]
    return compile_getters(number)[1](objects)


def get_only_column(target: int | ObjectPlan | ResultTable) -> int | None:
    """Return the column of an object of which a single value is asked, such as ``owner.login``."""
    if not isinstance(target, ObjectPlan) or len(target.members) != 1:
        return None
    column = target.members[0][1]
    return column if isinstance(column, int) else None


def take_inner_leaves(objects: Sequence[Any], number: int) -> list[Any] | None:
    """Return the first member of a member of structs; None where that is null anywhere."""
    try:
        return compile_getters(number)[2](objects)
    except AttributeError:
        return None


@cache
def compile_getters(number: int) -> tuple[Callable[..., list[Any]], ...]:
    """Return what takes a numbered member of structs, in half the time of an attrgetter."""
    space: dict[str, Any] = {}
    text = (
        f"def quick(rows): return [row.f{number} for row in rows]\n"
        f"def careful(rows): return [None if row is None else row.f{number} for row in rows]\n"
        f"def leaves(rows): return [row.f{number}.f0 for row in rows]\n"
    )
    exec(text, space)  # noqa: S102 - our own text with a number
    return space["quick"], space["careful"], space["leaves"]


DICT_ACCESS = MemberAccess(take_by_name, take_by_name_or_none, is_typed=False)
STRUCT_ACCESS = MemberAccess(take_by_number, take_by_number_or_none, is_typed=True)
