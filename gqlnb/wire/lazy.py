"""Answers of which no dicts are made before somebody looks at their data.

A large answer is taken apart: the items of its outermost lists, which are nearly all of it, and the
frame around them. The frame is read as every answer is; the items are decoded some thousands at a
time by types that accept what :class:`gqlnb.wire.typed.Typed` accepts, and are let go. So what does
not fit is found at once, and by the same rule. Data are put together on first touch.

The one frame that people ask for most, that of a single list of plain columns, is filled from the
same objects by which the list is checked: decoding them is most of the work of either.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, compress, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gqlnb.errors import FrameError
from gqlnb.model import scalars, tables
from gqlnb.model.decode import envelope, joined, span
from gqlnb.model.shape import shape_of
from gqlnb.wire.expected import missing
from gqlnb.wire.typed import as_type, or_null

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gqlnb.model.decode import Envelope
    from gqlnb.model.document import Document
    from gqlnb.model.shape import Shape
    from gqlnb.wire.expected import Place
    from gqlnb.wire.typed import Typed

__all__ = ["LARGE", "Postponed", "postponed"]

LARGE = 1 << 16  # bytes; below, dicts are made in less than the time of a second pass
ROOMY = 1 << 10  # bytes; items longer than this are mostly text, which costs the same as dicts
CHUNK = 3000  # items decoded at a time: they fit into the processor's cache
FAULTS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Items(NamedTuple):
    """The items of an outermost list.

    Attributes
    ----------
    path
        The response names that lead to the list.
    place
        What the list must be.
    pieces
        Its items as pieces of JSON, at least one.
    begin, end
        Where they stand in the body: the first byte, and the one after the last.
    """

    path: tuple[str, ...]
    place: Place
    pieces: list[Any]
    begin: int
    end: int


class Postponed(NamedTuple):
    """An answer that is as expected, whose data have not been decoded.

    Attributes
    ----------
    members
        Its members; the lists of the data are empty in them.
    came
        The response, for a result to decode its data from.
    """

    members: Mapping[str, Any]
    came: Envelope


def postponed(
    body: bytes, typed: Typed, document: Document, variables: Mapping[str, Any] | None
) -> Postponed | None:
    """Return an answer that is large, and is what :meth:`Typed.load` would take; else None.

    Parameters
    ----------
    body
        What came.
    typed
        What its data must be.
    document, variables
        What was asked.
    """
    shape = shape_of(document, variables) if len(body) >= LARGE else None
    if shape is None:
        return None
    try:
        came = envelope(body, shape)
        found = list(lists(came, came.outline, typed.place, ()))
    except (ValueError, RecursionError):
        return None
    count = sum(len(each.pieces) for each in found)
    if len(body) > ROOMY * count:
        return None
    members = typed.members(around(came.body, found))
    if members is None or not (read_at_once(came, shape, typed, found) or fit(typed, found)):
        return None
    came.known = Assembly(came.body, members["data"], typed, found)
    return Postponed(members, came)


def lists(came: Envelope, value: Any, place: Place, path: tuple[str, ...]) -> Iterator[Items]:
    """Yield the outermost lists of an outline that have items."""
    if place.item is not None:
        if type(value) is list and value and type(value[0]) is msgspec.Raw:
            yield Items(path, place, value, *span(came.body, value))
    elif type(value) is dict:
        for name, inner in place.fields.items():
            yield from lists(came, value.get(name), inner, (*path, name))


def around(body: bytes, found: Sequence[Items]) -> bytes:
    """Return a response whose lists have lost their items.

    Whatever stands elsewhere, members that come twice included, is still in it.
    """
    parts, at = [], 0
    for each in sorted(found, key=lambda each: each.begin):
        parts.append(body[at : each.begin])
        at = each.end
    return b"".join([*parts, body[at:]])


class Assembly:
    """Makes the data of an answer that was checked.

    Parameters
    ----------
    body
        The response.
    data
        Its data without the items of these lists.
    typed
        What they must be.
    found
        The lists.
    """

    def __init__(self, body: bytes, data: Any, typed: Typed, found: Sequence[Items]) -> None:
        self._body = memoryview(body)
        self._data = data
        self._typed = typed
        self._places = [(each.path, each.place, brackets(body, each)) for each in found]

    def __call__(self) -> Any:
        """Return the data; to be called once."""
        for path, place, (begin, end) in self._places:
            inner = self._data
            for name in path[:-1]:
                inner = inner[name]
            inner[path[-1]] = decoders(self._typed, place)[1].decode(self._body[begin:end])
        return self._data


def brackets(body: bytes, items: Items) -> tuple[int, int]:
    """Return where the list begins and ends that items stand in; white space may lie between."""
    return body.rindex(b"[", 0, items.begin), body.index(b"]", items.end) + 1


# -- checking


def fit(typed: Typed, found: Sequence[Items]) -> bool:
    """Tell whether all items are what they must be."""
    return all(
        chunk_fits(typed, each.place, each.pieces[start : start + CHUNK])
        for each in found
        for start in range(0, len(each.pieces), CHUNK)
    )


def chunk_fits(typed: Typed, place: Place, pieces: Sequence[Any]) -> bool:
    """Tell whether items of a list fit; they are made into structs, which take little."""
    try:
        return whole(typed, place, [decoders(typed, place)[0].decode(joined(pieces))])
    except FAULTS:
        return False


def decoders(typed: Typed, place: Place) -> tuple[msgspec.json.Decoder[Any], ...]:
    """Return what decodes a list into structs, and into dicts."""
    made: Any = typed.kept.get(id(place))
    if made is None:
        kinds = as_struct(place), as_type(place)
        made = typed.kept.setdefault(id(place), tuple(map(msgspec.json.Decoder, kinds)))
    return made  # type: ignore[no-any-return]


def as_struct(place: Place) -> Any:
    """Return a type that takes what :func:`as_type` takes; members have the numbers of fields."""
    if place.item is not None:
        return or_null(list.__class_getitem__(as_struct(place.item)), place)
    if place.always is None:
        return as_type(place)
    there = len(place.always)
    members = [
        (f"g{n}", as_struct(inner)) if n < there else (f"g{n}", as_struct(inner), msgspec.UNSET)
        for n, inner in enumerate(place.fields.values())
    ]
    names = {f"g{n}": name for n, name in enumerate(place.fields)}
    return or_null(msgspec.defstruct("Object", members, rename=names, gc=False), place)


def whole(typed: Typed, place: Place, values: list[Any]) -> bool:
    """Tell whether the fragments in and below a place are whole in all of its structs."""
    if id(place) not in typed.mixed:
        return True
    values = [value for value in values if value is not None and value is not msgspec.UNSET]
    if place.item is not None:
        return whole(typed, place.item, [*chain.from_iterable(values)])
    numbered = list(enumerate(place.fields.items()))
    for number, (_, inner) in numbered:
        if id(inner) in typed.mixed and not whole(typed, inner, taken(values, number)):
            return False
    if not place.fragments:
        return True
    always = list(place.always or ())
    kinds: Iterable[Any] = repeat(None)
    if "__typename" in always:
        kinds = taken(values, always.index("__typename"))
    columns = [taken(values, number) for number, _ in numbered[len(always) :]]
    there = [[value is not msgspec.UNSET for value in column] for column in columns]
    return not any(
        missing(place, [*always, *compress(place.sometimes, flags)], kind)
        for kind, *flags in set(zip(kinds, *there, strict=False))
    )


def taken(values: list[Any], number: int) -> list[Any]:
    """Return a member of structs."""
    return [*map(attrgetter(f"g{number}"), values)]


# -- checking and reading at once


class MisfitError(Exception):
    """Items that are not as expected, or not in the way that is quick to check."""


class Checking:
    """Decodes rows as a plan does, and refuses what does not fit.

    It has the method of :class:`gqlnb.model.decode.Decoders`.
    """

    def __init__(self, table: tables.Table, place: Place) -> None:
        self._items = msgspec.json.Decoder(list.__class_getitem__(item_type(table, place.item)))

    def items(self, _table: tables.Table, pieces: Sequence[Any]) -> list[Any]:
        """Return items as structs.

        Raises
        ------
        MisfitError
            If one does not fit.
        """
        try:
            made: list[Any] = self._items.decode(joined(pieces))
        except FAULTS:
            pass
        else:
            return made
        raise MisfitError


def read_at_once(came: Envelope, shape: Shape, typed: Typed, found: Sequence[Items]) -> bool:
    """Check an answer while its frame is read, and keep what was read for whoever asks first.

    It is left alone where that would load pandas or run Python for each value, and where there is
    no one frame.
    """
    root = tables.plan_of(shape).root
    if "pandas" not in sys.modules or len(found) != 1 or len(root.inner) != 1:
        return False
    name = root.inner[0].name
    plan = tables.plan_of(shape, frozenset({name}), name)
    if not all(is_plain(column) for table in plan.root.walk() for column in table.columns):
        return False
    from gqlnb.model.reading import Answer, read

    try:
        checking = typed.kept.get(plan)
        if checking is None:
            (table,) = plan.root.inner
            checking = typed.kept.setdefault(plan, Checking(table, found[0].place))
        answer = Answer(shape, no_data, came)
        came.ready = plan, read(answer, replace(plan, decoders=checking))
    except (MisfitError, FrameError, LookupError):
        return False
    return True


def no_data() -> Any:
    """Refuse to give data: what needs them to say what is wrong is said when a frame is made."""
    raise MisfitError


def is_plain(column: tables.Column) -> bool:
    """Tell whether Arrow takes the values of a column as they are."""
    return not column.shape.lists and bool(scalars.of(column.shape).exact)


def item_type(table: tables.Table, place: Any) -> Any:
    """Return the type of an item of a table's lists: the plan's struct, which takes what fits."""
    return row_type(table, place) if table.edge is None else members_type(table.edge, table, place)


def row_type(table: tables.Table, place: Any) -> Any:
    if isinstance(table.row, int):
        return value_type(table.columns[table.row], place)
    if isinstance(table.row, tables.Table):
        return or_null(list.__class_getitem__(item_type(table.row, place.item)), place)
    return members_type(table.row, table, place)


def members_type(read: tables.Place, table: tables.Table, place: Any) -> Any:
    """Return a struct: what is read under the plan's numbers, and the rest to be checked."""
    numbers = {name: n for n, (name, _) in enumerate(read.members)}
    members: dict[str, tuple[str, Any]] = {}
    for number, (name, inner) in enumerate(place.fields.items()):
        if name not in numbers:
            members[f"g{number}"] = name, as_struct(inner)
            continue
        target = read.members[numbers[name]][1]
        members[f"f{numbers[name]}"] = name, member_type(target, table, inner)
    if len(numbers) != sum(name[0] == "f" for name in members):
        raise LookupError  # something is read that is not expected
    names = {name: key for name, (key, _) in members.items()}
    kinds = [(name, kind) for name, (_, kind) in members.items()]
    return or_null(msgspec.defstruct("Object", kinds, rename=names, gc=False), place)


def member_type(target: int | tables.Place | tables.Table, table: tables.Table, place: Any) -> Any:
    if target == tables.NODE:
        return row_type(table, place)
    if isinstance(target, int):
        return value_type(table.columns[target], place)
    if isinstance(target, tables.Place):
        return members_type(target, table, place)
    return or_null(list.__class_getitem__(item_type(target, place.item)), place)


def value_type(column: tables.Column, place: Place) -> Any:
    """Return the type of values that are both what is expected and what the column takes."""
    wire = scalars.of(column.shape).wire
    kinds = {each for each in wire if place.kinds is None or each in place.kinds}
    if not kinds:
        raise LookupError
    return as_type(replace(place, kinds=frozenset(kinds)))
