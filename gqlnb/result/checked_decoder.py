"""Checking an answer against its shape: while its bytes are decoded, or value by value."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from functools import cached_property, partial
from itertools import chain, compress, repeat
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import msgspec

from gqlnb.document import scalars
from gqlnb.errors import FrameError
from gqlnb.result import tables
from gqlnb.result.decoder import (
    DECODING_ERRORS,
    QuickCheckError,
    build_dict_type,
    build_struct_type,
    decode_envelope,
    find_span,
    join_pieces,
)
from gqlnb.result.shape import get_response_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gqlnb.document.document import Document
    from gqlnb.result.decoder import Buffer, Data, Envelope
    from gqlnb.result.shape import Shape

    # Takes a field of objects by its number and name; msgspec.UNSET where it is missing.
    TakeField = Callable[[Sequence[Any], int, str], list[object]]


JSON_TYPE_NAMES = {
    type(None): "null",
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
}
Path = tuple[str | int, ...]


class Misfit(NamedTuple):
    """One value of an answer that does not fit its shape.

    Attributes
    ----------
    path
        Response names and indices below ``data``.
    wanted
        The GraphQL type.
    got
        The kind of the value in words; never the value, which may be confidential.
    absent
        Whether the value is null or missing, which an error of the answer may explain.
    """

    path: Path
    wanted: str
    got: str
    absent: bool


def find_missing_fields(shape: Shape, keys: Iterable[str], kind: str | None = None) -> set[str]:
    """Return the fields of fragments that an object with these keys lacks.

    Parameters
    ----------
    shape
        The shape of the object.
    keys
        Its response names.
    kind
        Its object type. If None (unknown), a fragment must be complete or absent: some of its
        fields may belong to other fragments too.
    """
    present = set(keys)
    missing: set[str] = set()
    if kind is not None:
        for kinds, names in shape.fragments.items():
            if kind in kinds:
                missing |= names - present
        return missing
    names = set().union(*shape.fragments.values())
    complete = [fields for fields in shape.fragments.values() if fields <= present]
    stray = (present & names).difference(*complete)
    for fields in shape.fragments.values():
        if fields & stray:
            missing |= fields - present
    return missing


def iter_misfits(shape: Shape, value: Data, path: Path = (), level: int = 0) -> Iterator[Misfit]:
    """Yield the misfits of a value and of everything below it, from the top down.

    `level` is the number of list levels of the shape that the value is inside of.
    """
    kind = type(value)
    is_list = level < shape.lists or (shape.may_be_lists and kind is list)
    if value is None:
        if not shape.is_nullable_at(level):
            yield Misfit(path, shape.get_type_text(level), "null", absent=True)
        return
    if is_list:
        fits = kind is list
    elif shape.composite:
        fits = kind is dict
    else:
        fits = shape.json_types is None or kind in shape.json_types
    if not fits:
        got = JSON_TYPE_NAMES.get(kind, kind.__name__)
        yield Misfit(path, shape.get_type_text(level), got, absent=False)
    elif is_list:
        below = level if shape.may_be_lists else level + 1
        for index, item in enumerate(value):
            yield from iter_misfits(shape, item, (*path, index), below)
    elif shape.composite:
        yield from _iter_field_misfits(shape, value, path)


def _iter_field_misfits(shape: Shape, value: dict[str, object], path: Path) -> Iterator[Misfit]:
    fragment_fields: set[str] = set()
    if shape.fragments:
        named = shape.children.get("__typename")
        kind = value.get("__typename") if named is not None and named.is_required else None
        fragment_fields = find_missing_fields(shape, value, kind if isinstance(kind, str) else None)
    for name, child in shape.children.items():
        if name not in value and (child.is_required or name in fragment_fields):
            yield Misfit((*path, name), child.type_text, "nothing", absent=True)
    for name, child in shape.children.items():
        if name in value:
            yield from iter_misfits(child, value[name], (*path, name))


# Bytes. Below, checking a first answer in Python takes less time than building a decoder.
SMALL_BODY = 4096
# Bytes. Below, building dicts takes less time than a second pass.
LARGE_BODY = 1 << 16
# Bytes. Longer items are mostly text, which costs the same in structs as in dicts, unless they hold
# lists of objects.
MAX_ITEM_BYTES = 1 << 10
CHECKED_CHUNK = 3000  # items decoded at a time: they fit into the processor's cache


def get_decoder(document: Document, variables: Mapping[str, object]) -> CheckedDecoder:
    """Return the decoder of the answers to an execution, which depend on its conditions."""
    shape = get_response_shape(document, variables)
    return shape.get_cached("checked decoder", partial(CheckedDecoder, shape))


# The types that msgspec decodes into are built from the shape, so that fields, types and nulls are
# checked in C while plain dicts and lists are built. Types cannot express which fields come
# together; that is checked afterwards, for all objects of one place at once. An answer that does
# not fit, or fits only because of its errors, is left to `iter_misfits`.
# Two checks of one rule: TypedDicts made from schema and document check in C while they decode.
# An answer that does not pass is checked again in Python, which names the path and accepts nulls
# that an error explains. A property test keeps both equal.
class CheckedDecoder:
    """Decodes answers and checks that their data have a given shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._was_used = False

    def decode_response(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of a response with data that fit; None if they may not fit.

        Fields that were not selected are left out. None is also returned for a small body the
        first time, since most documents are executed once.
        """
        is_first, self._was_used = not self._was_used, True
        return None if is_first and len(body) < SMALL_BODY else self.decode_members(body)

    def decode_members(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of a response of any size like :meth:`decode_response`."""
        try:
            body.decode()  # msgspec does not validate the text that it leaves out
            members: dict[str, Any] = self._decoder.decode(body.removeprefix(BOM_UTF8))
        except DECODING_ERRORS:
            return None
        data = members.get("data")
        if data is None or not self.has_complete_fragments(self.shape, [data], _take_from_dicts):
            return None
        return members

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        kinds = {"errors": list[dict[str, Any]] | None, "extensions": Any}
        members = {"data": build_dict_type(self.shape), **kinds}
        make: Any = TypedDict
        response = make("Response", {name: NotRequired[kind] for name, kind in members.items()})
        return msgspec.json.Decoder(response)

    @cached_property
    def _fragment_shapes(self) -> frozenset[Shape]:
        return frozenset(_find_fragment_shapes(self.shape))

    def has_complete_fragments(
        self, shape: Shape, values: Iterable[Any], take_field: TakeField
    ) -> bool:
        """Return whether no object at or below a place lacks a part of a fragment."""
        if shape not in self._fragment_shapes:
            return True
        for _ in range(shape.lists):
            values = chain.from_iterable(v for v in values if v is not None and v is not _UNSET)
        objects = [value for value in values if value is not None and value is not _UNSET]
        numbered = list(enumerate(shape.children.items()))
        for number, (name, child) in numbered:
            if child in self._fragment_shapes and not self.has_complete_fragments(
                child, take_field(objects, number, name), take_field
            ):
                return False
        if not shape.fragments:
            return True
        kinds: Iterable[Any] = repeat(None)
        optional, presence = [], []
        for number, (name, child) in numbered:
            if not child.is_required:
                optional.append(name)
                presence.append([v is not _UNSET for v in take_field(objects, number, name)])
            elif name == "__typename":
                kinds = take_field(objects, number, name)
        # Few combinations occur, whatever the number of objects.
        return not any(
            find_missing_fields(shape, compress(optional, flags), kind)
            for kind, *flags in set(zip(kinds, *presence, strict=False))
        )


_UNSET = msgspec.UNSET


def _find_fragment_shapes(shape: Shape) -> set[Shape]:
    """Return the shapes with fragments in or below them."""
    found: set[Shape] = set().union(*map(_find_fragment_shapes, shape.children.values()))
    return found | {shape} if found or shape.fragments else found


def _take_from_dicts(objects: Sequence[Any], _number: int, name: str) -> list[object]:
    return [found.get(name, _UNSET) for found in objects]


def _take_from_structs(objects: Sequence[Any], number: int, _name: str) -> list[object]:
    return [*map(attrgetter(f"g{number}"), objects)]


# -- large answers, whose data are decoded when they are needed


class LazyAnswer(NamedTuple):
    """A response that fits its shape, with its data not decoded yet.

    Attributes
    ----------
    members
        Its members; the lists of the data are empty in them.
    envelope
        The response, for a result to decode its data from.
    """

    members: Mapping[str, Any]
    envelope: Envelope


class _OutermostList(NamedTuple):
    """The items of an outermost list.

    Attributes
    ----------
    path
        The response names that lead to the list.
    shape
        The shape of the list.
    pieces
        Its items as pieces of JSON, at least one.
    begin, end
        Their span in the body.
    """

    path: tuple[str, ...]
    shape: Shape
    pieces: list[Buffer]
    begin: int
    end: int


def read_lazily(body: bytes, decoder: CheckedDecoder, document: Document) -> LazyAnswer | None:
    """Return a large answer that :meth:`CheckedDecoder.decode_response` would accept, else None.

    Parameters
    ----------
    body
        The response.
    decoder
        The decoder for its data.
    document
        The document that was sent; without a schema, answers are never read lazily.
    """
    if len(body) < LARGE_BODY or document.schema is None:
        return None
    try:
        envelope = decode_envelope(body, decoder.shape)
        lists = list(_iter_outermost_lists(envelope, envelope.outline, decoder.shape, ()))
    except (ValueError, RecursionError):
        return None
    # Also rejects answers without items, whose data are not worth postponing.
    count = sum(len(found.pieces) for found in lists)
    nested = sum(found.end - found.begin for found in lists if _is_nested(found.shape))
    if len(body) - nested > MAX_ITEM_BYTES * count:
        return None
    # Members that occur twice, and whatever else stands outside of the items, are checked here.
    members = decoder.decode_members(_remove_items(envelope.body, lists))
    if members is None or not (
        check_and_read(envelope, decoder.shape, lists) or _has_valid_items(decoder, lists)
    ):
        return None
    body, parts = envelope.body, []
    for found in lists:  # white space may stand between a bracket and the items
        begin, end = body.rindex(b"[", 0, found.begin), body.index(b"]", found.end) + 1
        parts.append((found.path, found.shape, memoryview(body)[begin:end]))
    envelope.make_data = partial(_assemble_data, members["data"], parts)
    return LazyAnswer(members, envelope)


def _is_nested(shape: Shape) -> bool:
    """Return whether there is a list of objects below a shape."""
    return any(
        (child.composite and child.lists > 0) or _is_nested(child)
        for child in shape.children.values()
    )


def _iter_outermost_lists(
    envelope: Envelope, value: object, shape: Shape, path: tuple[str, ...]
) -> Iterator[_OutermostList]:
    """Yield the outermost lists of an outline that have items."""
    if shape.lists:
        if type(value) is list and value and type(value[0]) is msgspec.Raw:
            yield _OutermostList(path, shape, value, *find_span(envelope.body, value))
    elif type(value) is dict:
        for name, child in shape.children.items():
            yield from _iter_outermost_lists(envelope, value.get(name), child, (*path, name))


def _remove_items(body: bytes, lists: Sequence[_OutermostList]) -> bytes:
    """Return a response with empty lists in place of these."""
    parts, at = [], 0
    for found in sorted(lists, key=lambda found: found.begin):
        parts.append(body[at : found.begin])
        at = found.end
    return b"".join([*parts, body[at:]])


def _assemble_data(data: Data, parts: Sequence[tuple[tuple[str, ...], Shape, memoryview]]) -> Data:
    """Return checked data, given the data with empty lists and the bytes of these lists."""
    for path, shape, body in parts:
        inner = data
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = _get_list_decoder(shape, build_dict_type).decode(body)
    return data


def _has_valid_items(decoder: CheckedDecoder, lists: Sequence[_OutermostList]) -> bool:
    """Return whether all items fit; they are decoded into structs, which take little memory."""
    for found in lists:
        structs = _get_list_decoder(found.shape, build_struct_type)
        for start in range(0, len(found.pieces), CHECKED_CHUNK):
            pieces = found.pieces[start : start + CHECKED_CHUNK]
            try:
                values = [structs.decode(join_pieces(pieces))]
            except DECODING_ERRORS:
                return False
            if not decoder.has_complete_fragments(found.shape, values, _take_from_structs):
                return False
    return True


def _get_list_decoder(
    shape: Shape, build_type: Callable[[Shape], Any]
) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a list into values of a type that is built from its shape."""
    return shape.get_cached(build_type, lambda: msgspec.json.Decoder(build_type(shape)))


def check_and_read(envelope: Envelope, shape: Shape, lists: Sequence[_OutermostList]) -> bool:
    """Check an answer by reading a frame of it, which is kept for the first use.

    The frame is the one that was read of the last answer of this shape, with or without the lists
    in its rows; at first the only one. Return False if the answer does not fit, or if this way is
    not worth it: without exactly one outermost list, if pandas would have to be loaded, or if a
    column needs Python code for each value.
    """
    root = tables.get_read_plan(shape).root
    if "pandas" not in sys.modules or len(lists) != 1 or len(root.inner_tables) != 1:
        return False
    name = root.inner_tables[0].name
    plan = tables.get_last_plan(shape) or tables.get_read_plan(shape, frozenset({name}), name)
    columns = chain.from_iterable(table.columns for table in plan.root.walk())
    if not all(not c.shape.lists and scalars.get_scalar(c.shape).exact_types for c in columns):
        return False
    from gqlnb.result.table_reader import AnswerData, read_tables

    try:
        # The data are not needed: with `checked`, an error does not locate its value in them.
        answer = AnswerData(SimpleNamespace(data=None), shape, envelope)
        envelope.prepared = plan, read_tables(answer, plan, checked=True)
    except (QuickCheckError, FrameError, LookupError):
        return False
    return True
