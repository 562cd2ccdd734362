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

from gqlnb.errors import plain
from gqlnb.model.columns import Filled, UnfitError
from gqlnb.model.decode import DecimalData, Decoders, Envelope, decoders_of, joined, untyped
from gqlnb.model.forms import NO_FORMS, Forms
from gqlnb.model.places import place_of
from gqlnb.model.strict import StrictError
from gqlnb.model.tables import ALONE, Place, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from gqlnb.model.shape import Shape
    from gqlnb.model.tables import Column, Plan

    Take = Callable[[Sequence[Any], int, str], list[Any]]

__all__ = ["Answer", "Rows", "read"]

CHUNK = 3000  # rows decoded at a time: their structs fit into the processor's cache
MANY = 256  # rows from which on it pays to compile what takes a member of them


class Rows:
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

    def __init__(self, table: Table, kept: frozenset[Column], answer: Answer) -> None:
        self.table = table
        self.columns = [
            Filled(
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
    def key(self) -> Filled | None:
        """The column that tells the rows of each list from each other; None where ids repeat."""
        found = next((each for each in self.columns if each.column is self.table.key), None)
        if found is None:
            return None
        try:
            ids, _ = pd.factorize(found.pandas())
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

    def under(self, parents: NDArray[np.int64]) -> None:
        """Note the parents' rows of the rows that come next."""
        self._parents.append(parents)


class Answer:
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
        forms: Forms = NO_FORMS,
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
        if not isinstance(came, Envelope) or not came.exact or came.outline is msgspec.UNSET:
            return self.outline
        return came.exact_outline(self.shape)

    def json_value(self, value: Any) -> float | str:
        """Return a value that is not JSON as one that is.

        A decimal that was put in place of a JSON number is that number again.
        """
        return float(value) if self.has_decimals and type(value) is Decimal else str(value)

    @property
    def has_decimals(self) -> bool:
        """Whether decimals stand in the data for JSON numbers."""
        return isinstance(self._came, DecimalData)

    def remark(self, read: Collection[Rows]) -> None:
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

    def taken(self, plan: Plan) -> Any:
        """Return what was read by a plan while the answer was checked, once; else None."""
        return None if self._came is None else self._came.taken(plan)


def read(
    answer: Answer, plan: Plan, *, strict: bool = True, limit: int | None = None
) -> tuple[dict[str, Rows], Any]:
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
    found: tuple[dict[str, Rows], Any] | None = answer.taken(plan) if limit is None else None
    if found is not None:
        answer.remark(found[0].values())
        return found
    outline = answer.outline
    kept: frozenset[Column] = frozenset()
    while True:
        reading = _Reading(plan, kept, answer, strict=strict, limit=limit)
        try:
            reading.data(answer.exact_outline if plan.root.name == ALONE else outline)
            reading.close()
        except UnfitError as error:
            fault = error
        else:
            answer.remark(reading.rows.values())
            return {rows.table.name: rows for rows in reading.rows.values()}, outline
        if strict:
            raise _placed(fault, plan, answer)
        kept |= {fault.column}


def _placed(error: UnfitError, plan: Plan, answer: Answer) -> UnfitError:
    """Return the error with the response path of the value."""
    table = next((t for t in plan.root.walk() if error.column in t.columns), None)
    if table is None or error.row is None:
        return error
    path = place_of(table, error.column, error.row, answer.data())
    return UnfitError(error.fact, error.column, error.row, path)


class _Reading:
    def __init__(
        self,
        plan: Plan,
        kept: frozenset[Column],
        answer: Answer,
        *,
        strict: bool,
        limit: int | None,
    ) -> None:
        self.plan = plan
        self.kept = kept
        self.strict = strict
        self.limit = limit
        self.rows = {table: Rows(table, kept, answer) for table in plan.root.walk()}

    @cached_property
    def decoders(self) -> Decoders:
        """What decodes bytes; of a column that is kept, each value as it came."""
        return Decoders(self.plan, self.kept) if self.kept else decoders_of(self.plan)

    def data(self, outline: Any) -> None:
        """Read the data, which are the one row of the root."""
        if outline is not None:
            self.check(self.plan.root, [outline], dict, "")
            self.add(self.plan.root, [outline], DICTS)

    def close(self) -> None:
        """Make the columns whose dtype is told by all values together."""
        for rows in self.rows.values():
            for column in rows.columns:
                column.close()

    def add(self, table: Table, rows: list[Any], road: Road) -> None:
        """Add rows of a table: objects, lists or values."""
        target, found = table.row, self.rows[table]
        if isinstance(target, Place):
            self.fill(table, target, rows, road)
        elif isinstance(target, Table):
            self.lists(target, rows, road)
        else:
            found.columns[target].add(rows, found.count, checked=road.typed)
        found.count += len(rows)

    def fill(
        self, table: Table, place: Place, objects: list[Any], road: Road, first: int = 0
    ) -> None:
        """Take the members of objects, one object for each of the next rows of a table."""
        rows = self.rows[table]
        for number in range(first, len(place.members)):
            target = place.members[number][1]
            alone = only(target) if road.typed and len(objects) >= MANY else None
            if alone is not None and (found := leaves(objects, number)) is not None:
                rows.columns[alone].add(found, rows.count, checked=True)
                continue
            values = self.take(table, place, objects, road, number)
            if isinstance(target, Place):
                self.fill(table, target, values, road)
            elif isinstance(target, Table):
                self.lists(target, values, road)
            else:
                rows.columns[target].add(values, rows.count, checked=road.typed)

    def take(
        self, table: Table, place: Place, objects: list[Any], road: Road, number: int
    ) -> list[Any]:
        """Return one member of objects, None where it is missing."""
        name = place.members[number][0]
        try:
            return road.quick(objects, number, name)
        except (KeyError, TypeError, AttributeError):  # null, missing, or no object at all
            if not road.typed:
                self.check(table, objects, dict, place.name)
            return road.careful(objects, number, name)

    def lists(self, table: Table, lists: list[Any], road: Road) -> None:
        """Read a list of each of the next rows of a table's parent."""
        parent = table.parent or table
        if not road.typed:
            self.check(parent, lists, (list, tuple), ".".join(table.place))
        if not all(lists):  # one is null or empty
            lists = [each if each is not None else () for each in lists]
        if parent is self.plan.root:
            self.outermost(table, lists[0], road)
            return
        begin = self.rows[parent].count
        above = np.repeat(np.arange(begin, begin + len(lists)), [*map(len, lists)])
        self.items(table, [*chain.from_iterable(lists)], road, above)

    def outermost(self, table: Table, items: Sequence[Any], road: Road) -> None:
        """Read the items of an outermost list, some thousands at a time."""
        items = items if self.limit is None else items[: self.limit]
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            if type(chunk[0]) is not msgspec.Raw:
                self.items(table, list(chunk), road)
                continue
            try:
                made = self.decoders.items(table, chunk)
            except msgspec.ValidationError:  # of another type than declared
                self.items(table, untyped(joined(chunk)), DICTS)
            else:
                self.items(table, made, STRUCTS)

    def items(
        self, table: Table, items: list[Any], road: Road, above: NDArray[np.int64] | None = None
    ) -> None:
        """Add the items of a table's lists, which are its rows or lead to them."""
        rows, edge, nodes = self.rows[table], table.edge, items
        if edge is not None:
            nodes = self.take(table, edge, items, road, 0)
        if isinstance(table.row, Place) and not all(nodes):
            there = [number for number, node in enumerate(nodes) if node is not None]
            rows.dropped += len(nodes) - len(there)
            nodes = [nodes[number] for number in there]
            items = [items[number] for number in there] if edge is not None else items
            above = above[there] if above is not None else None
        if above is not None:
            rows.under(above)
        if edge is not None:
            self.fill(table, edge, items, road, first=1)
        self.add(table, nodes, road)

    def check(self, table: Table, values: list[Any], kind: Any, where: str) -> None:
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
                raise StrictError(self.misplaced(table, number, value, kind, where))
            values[number] = None

    def misplaced(self, table: Table, number: int, value: Any, kind: Any, where: str) -> str:
        """Say that something else stands where the shape has an object or a list."""
        row = f"row {self.rows[table].count + number:,} of {table.name!r}" if table.name else ""
        place = f"{where!r}" if where else "an item"
        shown = plain(repr(value), 80)
        wanted = "an object" if kind is dict else "a list"
        within = f" in {row}" if row else ""
        return (
            f"The answer does not have the shape of its query: {place}{within} is {shown}, "
            f"not {wanted}."
        )


# -- taking a member of objects


class Road(NamedTuple):
    """How members are taken of objects.

    Attributes
    ----------
    quick
        Takes the member of that number and name of objects that all have it, or raises.
    careful
        Takes None for what is missing, and of None.
    typed
        Whether the values are known to be of the types in the plan.
    """

    quick: Take
    careful: Take
    typed: bool


def by_name(objects: Sequence[Any], _number: int, name: str) -> list[Any]:
    """Return a member of dicts."""
    return [*map(itemgetter(name), objects)]


def by_name_carefully(objects: Sequence[Any], _number: int, name: str) -> list[Any]:
    """Return a member of dicts and Nones."""
    return [None if each is None else each.get(name) for each in objects]


def by_number(objects: Sequence[Any], number: int, _name: str) -> list[Any]:
    """Return a member of structs."""
    if len(objects) < MANY:
        return [*map(attrgetter(f"f{number}"), objects)]
    return getters(number)[0](objects)


def by_number_carefully(objects: Sequence[Any], number: int, _name: str) -> list[Any]:
    """Return a member of structs and Nones."""
    if len(objects) < MANY:
        get = attrgetter(f"f{number}")
        return [None if each is None else get(each) for each in objects]
    return getters(number)[1](objects)


def only(target: int | Place | Table) -> int | None:
    """Return the column of an object of which a single value is asked, such as ``owner.login``."""
    if not isinstance(target, Place) or len(target.members) != 1:
        return None
    column = target.members[0][1]
    return column if isinstance(column, int) else None


def leaves(objects: Sequence[Any], number: int) -> list[Any] | None:
    """Return the first member of a member of structs; None where that is null anywhere."""
    try:
        return getters(number)[2](objects)
    except AttributeError:
        return None


@cache
def getters(number: int) -> tuple[Callable[..., list[Any]], ...]:
    """Return what takes a numbered member of structs, in half the time of an attrgetter."""
    space: dict[str, Any] = {}
    text = (
        f"def quick(rows): return [row.f{number} for row in rows]\n"
        f"def careful(rows): return [None if row is None else row.f{number} for row in rows]\n"
        f"def leaves(rows): return [row.f{number}.f0 for row in rows]\n"
    )
    exec(text, space)  # noqa: S102 - our own text with a number
    return space["quick"], space["careful"], space["leaves"]


DICTS = Road(by_name, by_name_carefully, typed=False)
STRUCTS = Road(by_number, by_number_carefully, typed=True)
