"""Decoding an answer and checking it against what is expected, in one pass over its bytes.

The types that msgspec decodes into are made from the expected place, so that fields, types and
nulls are checked in C while plain dicts and lists are built; what types cannot say, which fields
come together, is checked afterwards, for all objects of one place at once. An answer that does
not fit, or fits only because of its errors, is left to :func:`gqlnb.result.expected_data.iter_misfits`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, reduce
from itertools import chain, compress, repeat
from operator import attrgetter, or_
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, Optional, Required, TypedDict

import msgspec

from gqlnb.document import scalars
from gqlnb.document.json_codec import strip_bom
from gqlnb.errors import FrameError
from gqlnb.result import tables
from gqlnb.result.decoder import decode_envelope, find_span, join_pieces
from gqlnb.result.expected_data import (
    build_expected_data,
    find_deciding_variables,
    find_missing_fields,
    get_deciding_value,
)
from gqlnb.result.shape import build_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gqlnb.document.document import Document
    from gqlnb.result.decoder import Envelope
    from gqlnb.result.expected_data import ExpectedValue
    from gqlnb.result.shape import Shape

__all__ = [
    "LARGE_BODY",
    "CheckedDecoder",
    "DecoderSelector",
    "LazyAnswer",
    "build_dict_type",
    "make_nullable",
    "read_lazily",
]

UNTYPED_LIST_LEVELS = (
    2  # lists in lists that are decoded so where no schema is known; deeper ones are rare
)
SMALL_BODY = (
    4096  # bytes; below, looking through a first answer takes less time than making a decoder
)


class DecoderSelector:
    """What the answers to one document must hold: it depends on ``@skip`` and ``@include``.

    Parameters
    ----------
    document
        One that was checked against its schema, or one without a schema.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._deciding_variables = find_deciding_variables(document)
        self._decoders: dict[tuple[bool | None, ...], CheckedDecoder] = {}

    def get_decoder(self, variables: Mapping[str, Any]) -> CheckedDecoder:
        """Return what an answer must hold that was asked for with these variables."""
        known = tuple(
            get_deciding_value(self._document, name, variables) for name in self._deciding_variables
        )
        made = self._decoders.get(known)
        if made is None:
            values = dict(zip(self._deciding_variables, known, strict=True))
            made = self._decoders[known] = CheckedDecoder(
                build_expected_data(self._document, values)
            )
        return made


class CheckedDecoder:
    """Decodes answers whose data must be what `expected` says."""

    def __init__(self, place: ExpectedValue) -> None:
        self.expected = place
        self.cache: dict[Any, Any] = {}  # what others have made of the place, to be used again
        self.fragment_places = frozenset(
            find_fragment_places(place)
        )  # the ids of places with fragments in or below them
        self._was_used = False

    def decode_response(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of an answer with data; None if they must be looked through.

        Members that were not asked for are left out.
        """
        first, self._was_used = not self._was_used, True
        return None if first and len(body) < SMALL_BODY else self.decode_members(body)

    def decode_members(self, body: bytes) -> dict[str, Any] | None:
        """Do as :meth:`decode_response`, however small a first answer is."""
        try:
            body.decode()  # what is left out is not looked at, and might be no UTF-8
            members: dict[str, Any] = self._decoder.decode(strip_bom(body))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        data = members.get("data")
        if data is None or not self._has_complete_fragments(self.expected, [data]):
            return None
        return members

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        members = {"data": build_dict_type(self.expected), "errors": list[dict[str, Any]] | None}
        members["extensions"] = Any
        answer = build_typed_dict({name: NotRequired[kind] for name, kind in members.items()})
        return msgspec.json.Decoder(answer)

    def _has_complete_fragments(self, place: ExpectedValue, values: list[Any]) -> bool:
        """Tell whether the fragments in and below a place are whole in all of its values."""
        if id(place) not in self.fragment_places:
            return True
        values = [value for value in values if value is not None]
        if place.item is not None:
            return self._has_complete_fragments(place.item, list(chain.from_iterable(values)))
        if place.fragments and not has_complete_objects(place, values):
            return False
        return all(
            self._has_complete_fragments(inner, [value[name] for value in values if name in value])
            for name, inner in place.fields.items()
            if id(inner) in self.fragment_places
        )


def build_dict_type(place: ExpectedValue) -> Any:
    """Return the Python type that a place is decoded as."""
    made: Any = Any
    if place.item is not None:
        made = list.__class_getitem__(build_dict_type(place.item))
    elif place.required is not None:
        made = one = build_typed_dict(
            {name: Required[build_dict_type(inner)] for name, inner in place.required.items()}
            | {name: NotRequired[build_dict_type(inner)] for name, inner in place.optional.items()}
        )
        for _ in range(UNTYPED_LIST_LEVELS if place.may_be_lists else 0):
            made = one | list.__class_getitem__(make_nullable(made, place))
    elif place.kinds is not None:
        made = reduce(or_, place.kinds)
    return make_nullable(made, place)


def make_nullable(made: Any, place: ExpectedValue) -> Any:
    """Return a type that takes null too, where a place may be null."""
    return Optional[made] if place.is_nullable else made  # noqa: UP045 - Any | None is no type


def build_typed_dict(fields: dict[str, Any]) -> Any:
    """Return a type of dicts with these keys, which may be any text."""
    make: Any = TypedDict
    return make("answer", fields)


def find_fragment_places(place: ExpectedValue) -> set[int]:
    """Return the ids of the places with fragments in or below them."""
    inner = [place.item] if place.item is not None else list(place.fields.values())
    found: set[int] = set().union(*map(find_fragment_places, inner))
    return found | {id(place)} if found or place.fragments else found


def has_complete_objects(place: ExpectedValue, values: list[dict[str, Any]]) -> bool:
    """Tell whether no object lacks a part of a fragment; most have one of a few sets of keys."""
    if set(map(len, values)) <= {len(place.fields)}:
        return True  # each has every field
    if "__typename" in (place.required or {}):
        kinds = {(value["__typename"], *value) for value in values}
        return not any(find_missing_fields(place, keys, kind) for kind, *keys in kinds)
    return not any(find_missing_fields(place, keys) for keys in set(map(tuple, values)))


LARGE_BODY = 1 << 16  # bytes; below, dicts are made in less than the time of a second pass
MAX_ITEM_BYTES = (
    1 << 10
)  # bytes; items longer than this are mostly text, which costs the same as dicts
CHECKED_CHUNK = 3000  # items decoded at a time: they fit into the processor's cache
DECODING_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class OutermostList(NamedTuple):
    """The items of an outermost list.

    Attributes
    ----------
    path
        The response names that lead to the list.
    expected
        What the list must be.
    pieces
        Its items as pieces of JSON, at least one.
    begin, end
        Where they stand in the body: the first byte, and the one after the last.
    """

    path: tuple[str, ...]
    expected: ExpectedValue
    pieces: list[Any]
    begin: int
    end: int


class LazyAnswer(NamedTuple):
    """An answer that is as expected, whose data have not been decoded.

    Attributes
    ----------
    members
        Its members; the lists of the data are empty in them.
    envelope
        The response, for a result to decode its data from.
    """

    members: Mapping[str, Any]
    envelope: Envelope


def read_lazily(
    body: bytes, typed: CheckedDecoder, document: Document, variables: Mapping[str, Any] | None
) -> LazyAnswer | None:
    """Return an answer that is large, and is what :meth:`CheckedDecoder.load` would take; else None.

    Parameters
    ----------
    body
        What came.
    typed
        What its data must be.
    document, variables
        What was asked.
    """
    shape = build_shape(document, variables) if len(body) >= LARGE_BODY else None
    if shape is None:
        return None
    try:
        came = decode_envelope(body, shape)
        found = list(iter_outermost_lists(came, came.outline, typed.expected, ()))
    except (ValueError, RecursionError):
        return None
    count = sum(len(each.pieces) for each in found)
    if len(body) > MAX_ITEM_BYTES * count:
        return None
    members = typed.decode_members(remove_items(came.body, found))
    if members is None or not (
        check_and_read(came, shape, typed, found) or has_valid_items(typed, found)
    ):
        return None
    came.make_data = DataAssembler(came.body, members["data"], typed, found)
    return LazyAnswer(members, came)


def iter_outermost_lists(
    came: Envelope, value: Any, place: ExpectedValue, path: tuple[str, ...]
) -> Iterator[OutermostList]:
    """Yield the outermost lists of an outline that have items."""
    if place.item is not None:
        if type(value) is list and value and type(value[0]) is msgspec.Raw:
            yield OutermostList(path, place, value, *find_span(came.body, value))
    elif type(value) is dict:
        for name, inner in place.fields.items():
            yield from iter_outermost_lists(came, value.get(name), inner, (*path, name))


def remove_items(body: bytes, found: Sequence[OutermostList]) -> bytes:
    """Return a response whose lists have lost their items.

    Whatever stands elsewhere, members that come twice included, is still in it.
    """
    parts, at = [], 0
    for each in sorted(found, key=lambda each: each.begin):
        parts.append(body[at : each.begin])
        at = each.end
    return b"".join([*parts, body[at:]])


class DataAssembler:
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

    def __init__(
        self, body: bytes, data: Any, typed: CheckedDecoder, found: Sequence[OutermostList]
    ) -> None:
        self._body = memoryview(body)
        self._data = data
        self._typed = typed
        self._places = [(each.path, each.expected, find_brackets(body, each)) for each in found]

    def __call__(self) -> Any:
        """Return the data; to be called once."""
        for path, place, (begin, end) in self._places:
            inner = self._data
            for name in path[:-1]:
                inner = inner[name]
            inner[path[-1]] = get_list_decoders(self._typed, place)[1].decode(self._body[begin:end])
        return self._data


def find_brackets(body: bytes, items: OutermostList) -> tuple[int, int]:
    """Return where the list begins and ends that items stand in; white space may lie between."""
    return body.rindex(b"[", 0, items.begin), body.index(b"]", items.end) + 1


# -- checking


def has_valid_items(typed: CheckedDecoder, found: Sequence[OutermostList]) -> bool:
    """Tell whether all items are what they must be."""
    return all(
        is_valid_chunk(typed, each.expected, each.pieces[start : start + CHECKED_CHUNK])
        for each in found
        for start in range(0, len(each.pieces), CHECKED_CHUNK)
    )


def is_valid_chunk(typed: CheckedDecoder, place: ExpectedValue, pieces: Sequence[Any]) -> bool:
    """Tell whether items of a list fit; they are made into structs, which take little."""
    try:
        return has_complete_structs(
            typed, place, [get_list_decoders(typed, place)[0].decode(join_pieces(pieces))]
        )
    except DECODING_ERRORS:
        return False


def get_list_decoders(
    typed: CheckedDecoder, place: ExpectedValue
) -> tuple[msgspec.json.Decoder[Any], ...]:
    """Return what decodes a list into structs, and into dicts."""
    made: Any = typed.cache.get(id(place))
    if made is None:
        kinds = build_struct_type(place), build_dict_type(place)
        made = typed.cache.setdefault(id(place), tuple(map(msgspec.json.Decoder, kinds)))
    return made  # type: ignore[no-any-return]


def build_struct_type(place: ExpectedValue) -> Any:
    """Return a type that takes what :func:`build_dict_type` takes; members have the numbers of fields."""
    if place.item is not None:
        return make_nullable(list.__class_getitem__(build_struct_type(place.item)), place)
    if place.required is None:
        return build_dict_type(place)
    there = len(place.required)
    members = [
        (f"g{n}", build_struct_type(inner))
        if n < there
        else (f"g{n}", build_struct_type(inner), msgspec.UNSET)
        for n, inner in enumerate(place.fields.values())
    ]
    names = {f"g{n}": name for n, name in enumerate(place.fields)}
    return make_nullable(msgspec.defstruct("Object", members, rename=names, gc=False), place)


def has_complete_structs(typed: CheckedDecoder, place: ExpectedValue, values: list[Any]) -> bool:
    """Tell whether the fragments in and below a place are whole in all of its structs."""
    if id(place) not in typed.fragment_places:
        return True
    values = [value for value in values if value is not None and value is not msgspec.UNSET]
    if place.item is not None:
        return has_complete_structs(typed, place.item, [*chain.from_iterable(values)])
    numbered = list(enumerate(place.fields.items()))
    for number, (_, inner) in numbered:
        if id(inner) in typed.fragment_places and not has_complete_structs(
            typed, inner, get_struct_members(values, number)
        ):
            return False
    if not place.fragments:
        return True
    always = list(place.required or ())
    kinds: Iterable[Any] = repeat(None)
    if "__typename" in always:
        kinds = get_struct_members(values, always.index("__typename"))
    columns = [get_struct_members(values, number) for number, _ in numbered[len(always) :]]
    there = [[value is not msgspec.UNSET for value in column] for column in columns]
    return not any(
        find_missing_fields(place, [*always, *compress(place.optional, flags)], kind)
        for kind, *flags in set(zip(kinds, *there, strict=False))
    )


def get_struct_members(values: list[Any], number: int) -> list[Any]:
    """Return a member of structs."""
    return [*map(attrgetter(f"g{number}"), values)]


# -- checking and reading at once


class QuickCheckError(Exception):
    """Items that are not as expected, or not in the way that is quick to check."""


class CheckedRowDecoders:
    """Decodes rows as a plan does, and refuses what does not fit.

    It has the method of :class:`gqlnb.result.decoder.RowDecoders`.
    """

    def __init__(self, table: tables.ResultTable, place: ExpectedValue) -> None:
        self._items = msgspec.json.Decoder(
            list.__class_getitem__(build_item_type(table, place.item))
        )

    def decode_items(self, _table: tables.ResultTable, pieces: Sequence[Any]) -> list[Any]:
        """Return items as structs.

        Raises
        ------
        MisfitError
            If one does not fit.
        """
        try:
            made: list[Any] = self._items.decode(join_pieces(pieces))
        except DECODING_ERRORS:
            pass
        else:
            return made
        raise QuickCheckError


def check_and_read(
    came: Envelope, shape: Shape, typed: CheckedDecoder, found: Sequence[OutermostList]
) -> bool:
    """Check an answer while its frame is read, and keep what was read for whoever asks first.

    It is left alone where that would load pandas or run Python for each value, and where there is
    no one frame.
    """
    root = tables.get_read_plan(shape).root
    if "pandas" not in sys.modules or len(found) != 1 or len(root.inner_tables) != 1:
        return False
    name = root.inner_tables[0].name
    plan = tables.get_read_plan(shape, frozenset({name}), name)
    if not all(is_plain_column(column) for table in plan.root.walk() for column in table.columns):
        return False
    from gqlnb.result.table_reader import AnswerData, read_tables

    try:
        checking = typed.cache.get(plan)
        if checking is None:
            (table,) = plan.root.inner_tables
            checking = typed.cache.setdefault(plan, CheckedRowDecoders(table, found[0].expected))
        answer = AnswerData(shape, raise_without_data, came)
        came.prepared = plan, read_tables(answer, replace(plan, decoders=checking))
    except (QuickCheckError, FrameError, LookupError):
        return False
    return True


def raise_without_data() -> Any:
    """Refuse to give data: what needs them to say what is wrong is said when a frame is made."""
    raise QuickCheckError


def is_plain_column(column: tables.ResultColumn) -> bool:
    """Tell whether Arrow takes the values of a column as they are."""
    return not column.shape.lists and bool(scalars.get_scalar(column.shape).exact_types)


def build_item_type(table: tables.ResultTable, place: Any) -> Any:
    """Return the type of an item of a table's lists: the plan's struct, which takes what fits."""
    return (
        build_row_type(table, place)
        if table.edge is None
        else build_members_type(table.edge, table, place)
    )


def build_row_type(table: tables.ResultTable, place: Any) -> Any:
    if isinstance(table.row, int):
        return build_value_type(table.columns[table.row], place)
    if isinstance(table.row, tables.ResultTable):
        return make_nullable(list.__class_getitem__(build_item_type(table.row, place.item)), place)
    return build_members_type(table.row, table, place)


def build_members_type(read: tables.ObjectPlan, table: tables.ResultTable, place: Any) -> Any:
    """Return a struct: what is read under the plan's numbers, and the rest to be checked."""
    numbers = {name: n for n, (name, _) in enumerate(read.members)}
    members: dict[str, tuple[str, Any]] = {}
    for number, (name, inner) in enumerate(place.fields.items()):
        if name not in numbers:
            members[f"g{number}"] = name, build_struct_type(inner)
            continue
        target = read.members[numbers[name]][1]
        members[f"f{numbers[name]}"] = name, build_member_type(target, table, inner)
    if len(numbers) != sum(name[0] == "f" for name in members):
        raise LookupError  # something is read that is not expected
    names = {name: key for name, (key, _) in members.items()}
    kinds = [(name, kind) for name, (_, kind) in members.items()]
    return make_nullable(msgspec.defstruct("Object", kinds, rename=names, gc=False), place)


def build_member_type(
    target: int | tables.ObjectPlan | tables.ResultTable, table: tables.ResultTable, place: Any
) -> Any:
    if target == tables.NODE:
        return build_row_type(table, place)
    if isinstance(target, int):
        return build_value_type(table.columns[target], place)
    if isinstance(target, tables.ObjectPlan):
        return build_members_type(target, table, place)
    return make_nullable(list.__class_getitem__(build_item_type(target, place.item)), place)


def build_value_type(column: tables.ResultColumn, place: ExpectedValue) -> Any:
    """Return the type of values that are both what is expected and what the column takes."""
    wire = scalars.get_scalar(column.shape).json_types
    kinds = {each for each in wire if place.kinds is None or each in place.kinds}
    if not kinds:
        raise LookupError
    return build_dict_type(replace(place, kinds=frozenset(kinds)))
