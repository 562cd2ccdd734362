"""Decoding the bytes of an answer into rows, without a dict for every row.

A response is decoded in two steps. The first finds its members and the outline of its data:
everything outside of lists, with the items of lists as raw pieces of JSON. The pieces are then
decoded some thousands at a time into msgspec structs with the fields that a plan reads, turned into
columns, and freed. Items that do not fit the types of the shape are decoded as dicts.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import repeat
from threading import RLock
from typing import TYPE_CHECKING, Any, NotRequired, Optional, Required, TypeAlias, TypedDict, Union
from weakref import ref

import msgspec

from gqlnb.document import scalars
from gqlnb.document.json_codec import strip_bom
from gqlnb.result.tables import NODE, ObjectPlan, ReadPlan, ResultColumn, ResultTable

# A type that msgspec decodes into: a class, a union, a generic alias. Before PEP 747 type checkers
# have no type for all of them.
MsgspecType: TypeAlias = Any
ResponseMembers: TypeAlias = Any  # a struct made by `_build_response_decoder`
# Rows by the name of their table, and the outline; their module imports this one.
PreparedTables: TypeAlias = Any
Data: TypeAlias = Any  # JSON values, or the dicts, lists and decimals made of them

if TYPE_CHECKING:
    from gqlnb.result.shape import Shape

    # Response name, msgspec type, whether it is required.
    ObjectField = tuple[str, MsgspecType, bool]
    Buffer = bytes | msgspec.Raw

UTF8_CHUNK = 1 << 16  # bytes
# List levels that are decoded with types where no schema is known; deeper ones are rare.
UNTYPED_LIST_LEVELS = 2
NEWEST_TREES = 8  # small answers that are not decoded a second time
DECODING_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_UNTYPED_DECODER = msgspec.json.Decoder()
_EXACT_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_UNSET = msgspec.UNSET
UntypedColumns = Set["ResultColumn"]


class DataSource:
    """The data of an answer, which frames read, and a result decodes on first access.

    Attributes
    ----------
    outline
        The data; ``msgspec.UNSET`` where frames read those of the result.
    has_exact_numbers
        Whether it may hold numbers that a float does not, so that frames read the bytes even
        after the data were decoded.
    prepared
        A plan and the tables that were read by it while the response was checked, or None.
    lock
        Held while the data are decoded, so that this happens once.
    """

    outline: Data
    has_exact_numbers = False
    prepared: tuple[ReadPlan, PreparedTables] | None = None

    def __init__(self) -> None:
        self.lock = RLock()

    def decode_data(self) -> Data:
        """Return the data as dicts, lists and scalars; to be called once."""
        raise NotImplementedError

    def take_prepared(self, plan: ReadPlan) -> PreparedTables | None:
        """Return the tables read by this plan to the first caller; None otherwise."""
        with self.lock:
            if self.prepared is None or self.prepared[0] is not plan:
                return None
            tables, self.prepared = self.prepared[1], None
            return tables


class Envelope(DataSource):
    """The members of a GraphQL response.

    Attributes
    ----------
    body
        The response.
    has_data
        Whether there is a member ``data``, null or not.
    has_valid_data
        Whether it is an object or null, as required.
    outline
        The data, with the items of lists as pieces of JSON; ``msgspec.UNSET`` if no shape is known
        or the data do not have it.
    errors, extensions
        Those members unchanged; None if missing.
    make_data
        Decodes the data of a response that was checked; None for one that was not.
    """

    def __init__(self, body: bytes, members: ResponseMembers) -> None:
        super().__init__()
        self.body = body
        self.has_data = members.data is not _UNSET
        is_raw = type(members.data) is msgspec.Raw
        self.has_valid_data = not is_raw or bytes(memoryview(members.data)[:1]) in {b"{", b"n"}
        self.outline = _UNSET if is_raw else members.data
        self.errors = members.errors
        self.extensions = members.extensions
        self.make_data: Callable[[], Data] | None = None

    def decode_data(self) -> Data:
        """Return the data as dicts, lists and scalars; to be called once.

        The bytes are freed, unless frames need them for exact numbers.

        Raises
        ------
        ValueError
            If the data are not valid JSON.
        """
        self.prepared = None
        if self.make_data is not None and not self.has_exact_numbers:
            self.outline = _UNSET  # frees the pieces before the dicts are made
        data = decode_untyped(self.body)["data"] if self.make_data is None else self.make_data()
        if not self.has_exact_numbers:
            self.body, self.outline = b"", _UNSET
        self.make_data = None
        return data


def _build_response_decoder(shape: Shape | None) -> msgspec.json.Decoder[Any]:
    data = msgspec.Raw if shape is None else _build_outline_type(shape) | None
    data = data | msgspec.UnsetType
    members = [("data", data, _UNSET), ("errors", Any, None), ("extensions", Any, None)]
    return msgspec.json.Decoder(msgspec.defstruct("Response", members))


_RAW_DATA_DECODER = _build_response_decoder(None)


def decode_envelope(body: bytes, shape: Shape | None = None) -> Envelope:
    """Return the members of a GraphQL response; of duplicate members the last one wins.

    Parameters
    ----------
    body
        The response as JSON; a byte order mark is skipped.
    shape
        The shape of its data, if known.

    Raises
    ------
    ValueError
        If the body is not a JSON object in UTF-8: ``msgspec.DecodeError`` or
        ``UnicodeDecodeError``.
    """
    body = strip_bom(body)
    if not body.isascii():
        # msgspec validates only the text that it decodes. In pieces, because a decoded copy of a
        # large body would take up to four times its size.
        decoder = codecs.getincrementaldecoder("utf-8")()
        view = memoryview(body)
        for start in range(0, len(body), UTF8_CHUNK):
            decoder.decode(view[start : start + UTF8_CHUNK], final=start + UTF8_CHUNK >= len(body))
    if shape is not None:
        typed = shape.get_cached("response", partial(_build_response_decoder, shape))
        try:
            envelope = Envelope(body, typed.decode(body))
        except msgspec.ValidationError:  # objects or lists where the shape has none
            pass
        else:
            envelope.has_exact_numbers = has_exact_scalars(shape)
            return envelope
    return Envelope(body, _RAW_DATA_DECODER.decode(body))


def decode_untyped(raw: Buffer) -> Data:
    """Return the value of JSON bytes as dicts, lists and scalars."""
    return _UNTYPED_DECODER.decode(raw)


def join_pieces(pieces: Sequence[Buffer]) -> bytes:
    """Return pieces of JSON as one JSON list."""
    return b"[%b]" % b",".join(pieces)


def find_span(body: bytes, pieces: Sequence[Buffer]) -> tuple[int, int]:
    """Return the begin and end offsets of pieces in the body that they were decoded from.

    Parameters
    ----------
    body
        The response.
    pieces
        Items of one list, at least one.
    """
    # A `msgspec.Raw` is a view of the body, but does not tell its offset.
    begin = _get_address(pieces[0]) - _get_address(body)
    return begin, _get_address(pieces[-1]) - _get_address(body) + memoryview(pieces[-1]).nbytes


def _get_address(buffer: Buffer) -> int:
    import numpy as np

    address: int = np.frombuffer(buffer, np.uint8).__array_interface__["data"][0]
    return address


# -- small answers


class DecodedTree:
    """The decoded data of an answer."""

    __slots__ = ("__weakref__", "data")

    def __init__(self, data: Data) -> None:
        self.data = data


# The dicts of an answer take five times its bytes, and notebooks keep the result of every cell.
# Checking the bytes without making dicts would take as long as making them, so the dicts are made,
# and those of older answers are freed: few are used late, and decoding them again takes 1.6 ms for
# a megabyte.
_newest_trees: deque[DecodedTree] = deque(maxlen=NEWEST_TREES)


class CheckedData(DataSource):
    """Data that fit their shape, and may be decoded again.

    Frames and the display do not keep the data; ``result.data`` does, because its user may change
    them.

    Parameters
    ----------
    body
        The response.
    data
        Its data.
    decode
        Decodes the members of the response.
    """

    def __init__(self, body: bytes, data: Data, decode: Callable[[bytes], Any]) -> None:
        super().__init__()
        self.body = body
        self._decode = decode
        tree = DecodedTree(data)
        self._tree = ref(tree)
        _newest_trees.append(tree)

    @property
    def outline(self) -> Data:
        """The data; ``msgspec.UNSET`` once the result has them."""
        body, tree = self.body, self._tree()
        if not body:
            return _UNSET
        return self._decode(body)["data"] if tree is None else tree.data

    def decode_data(self) -> Data:
        """Return the data; to be called once."""
        data, self.body = self.outline, b""
        return data


# -- exact numbers


class DecimalData(DataSource):
    """Data merged from several answers, with decimals for the numbers of exact scalars.

    Frames read the decimals, while ``result.data`` has floats, like the data of a single answer.

    Parameters
    ----------
    outline
        The data, with decimals.
    shape
        Their shape.
    """

    def __init__(self, outline: Data, shape: Shape) -> None:
        super().__init__()
        self.outline = outline
        self._shape = shape

    def decode_data(self) -> Data:
        """Return the data with floats for the decimals."""
        return remove_decimals(self.outline, self._shape)


def has_exact_scalars(shape: Shape) -> bool:
    """Return whether there are exact numbers, too long for a float, below a shape."""
    return bool(_get_exact_children(shape))


def _get_exact_children(shape: Shape) -> dict[str, Shape]:
    """Return the children of an object that are exact scalars, or lead to them."""
    key = "exact children", scalars.get_version()
    exact: dict[str, Shape] | None = shape.cache.get(key)
    if exact is None:
        exact = {
            name: child
            for name, child in shape.children.items()
            if (
                has_exact_scalars(child)
                if child.children
                else Decimal in scalars.get_scalar(child).json_types
            )
        }
        shape.cache[key] = exact
    return exact


def restore_decimals(data: Data, shape: Shape, body: bytes) -> bool:
    """Replace the floats of exact scalars in data, in place, by the decimals in their bytes.

    Returns
    -------
    bool
        Whether there were any: JSON numbers with a point or an exponent, of an exact scalar.
    """
    return bool(body) and _overlay_decimals(data, _EXACT_DECODER.decode(body).get("data"), shape)


def _overlay_decimals(value: Data, exact: Data, shape: Shape) -> bool:
    """Copy the decimals of exact scalars to the same places of `value`; return whether any were."""
    places: Iterable[tuple[Any, Shape]] = ()
    if isinstance(value, list) and isinstance(exact, list):
        places = zip(range(len(exact)), repeat(shape), strict=False)
    elif isinstance(value, dict) and isinstance(exact, dict):
        places = ((n, child) for n, child in _get_exact_children(shape).items() if n in exact)
    changed = False
    for key, below in places:
        item = exact[key]
        if type(item) is Decimal:
            value[key] = item
            changed = True
        elif type(item) in {dict, list}:
            changed |= _overlay_decimals(value[key], item, below)
    return changed


def remove_decimals(value: Data, shape: Shape | None = None) -> Data:
    """Return a copy of data with floats for decimals."""
    # With a shape, only of exact scalars: a parser registered for another scalar may return
    # decimals of its own.
    if type(value) is Decimal:
        return float(value)
    if isinstance(value, list):
        return [remove_decimals(item, shape) for item in value]
    if not isinstance(value, dict):
        return value
    if shape is None:
        return {name: remove_decimals(item) for name, item in value.items()}
    exact = _get_exact_children(shape)
    return {
        name: remove_decimals(item, exact[name]) if name in exact else item
        for name, item in value.items()
    }


# -- msgspec types, built from shapes and plans
#
# msgspec checks types, nulls and required fields in C while it decodes. Three families: dicts of
# everything that was selected, structs of the same (they take less memory, for checking alone), and
# structs with the fields that a plan reads.


class QuickCheckError(Exception):
    """Items that do not fit their shape, or cannot be checked while they are read."""


def build_dict_type(shape: Shape) -> MsgspecType:
    """Return the type of dicts that fit a shape; other fields are left out."""

    def build_object(fields: list[ObjectField]) -> MsgspecType:
        members = {n: Required[t] if needed else NotRequired[t] for n, t, needed in fields}
        return _make_typed_dict("Object", members)

    return _build_checked_type(shape, build_object)


def build_struct_type(shape: Shape) -> MsgspecType:
    """Return the type of structs that fit a shape, with fields ``g0``, ``g1`` ... for its children.

    Fields of fragments that are missing are ``msgspec.UNSET``.
    """

    def build_object(fields: list[ObjectField]) -> MsgspecType:
        # Numbered names serve response names that are not Python names; see RowDecoders.
        members = [
            (f"g{number}", kind) if needed else (f"g{number}", kind, _UNSET)
            for number, (_, kind, needed) in enumerate(fields)
        ]
        names = {f"g{number}": name for number, (name, _, _) in enumerate(fields)}
        return msgspec.defstruct("Object", members, rename=names, gc=False, kw_only=True)

    return _build_checked_type(shape, build_object)


def _build_checked_type(
    shape: Shape, build_object: Callable[[list[ObjectField]], MsgspecType]
) -> MsgspecType:
    kind: MsgspecType = Any
    if shape.composite:
        kind = single = build_object(
            [
                (name, _build_checked_type(child, build_object), child.is_required)
                for name, child in shape.children.items()
            ]
        )
        for _ in range(UNTYPED_LIST_LEVELS if shape.may_be_lists else 0):
            kind = single | _list_of(Optional[kind])  # noqa: UP045 - the type may be Any
    elif shape.json_types is not None:
        kind = Union[*shape.json_types]
    for level in range(shape.lists, -1, -1):
        kind = Optional[kind] if shape.is_nullable_at(level) else kind  # noqa: UP045
        kind = _list_of(kind) if level else kind
    return kind


def _list_of(item: MsgspecType) -> MsgspecType:
    return list.__class_getitem__(item)  # `list[item]` would be a type expression to mypy


_make_typed_dict: Any = TypedDict  # called as a function: the names are data


def _build_outline_type(shape: Shape) -> MsgspecType:
    members: dict[str, MsgspecType] = {}
    for name, child in shape.children.items():
        if child.lists:
            members[name] = list[msgspec.Raw] | None
        elif child.composite:
            members[name] = _build_outline_type(child) | None
        else:
            members[name] = Any
    return _make_typed_dict("Object", members, total=False)


class RowDecoders:
    """Decoders of the items of the outermost lists, by a plan.

    Items become structs whose fields ``f0``, ``f1`` ... are the members of the plan's places.

    Parameters
    ----------
    plan
        The plan.
    untyped
        The columns whose values are decoded unchanged, whatever their type.
    checked
        Whether items must fit the shape: all fields, their types and nulls. Otherwise fields may be
        missing or null, and only the types of scalars are checked.
    """

    def __init__(
        self, plan: ReadPlan, untyped: UntypedColumns = frozenset(), *, checked: bool = False
    ) -> None:
        self._untyped = untyped
        self._checked = checked
        self._decoders: dict[ResultTable, msgspec.json.Decoder[list[Any]]] = {}
        for table in plan.root.inner_tables:
            shape = plan.shape
            for name in table.path:
                shape = shape.children[name]
            item = self._build_item_type(table, shape, 1)
            self._decoders[table] = msgspec.json.Decoder(_list_of(item))

    def decode_items(self, table: ResultTable, pieces: Sequence[Buffer]) -> list[Any]:
        """Return the items of an outermost list as structs.

        Raises
        ------
        msgspec.ValidationError
            If an item does not have the declared types.
        QuickCheckError
            Instead, if items are checked.
        """
        try:
            return self._decoders[table].decode(join_pieces(pieces))
        except DECODING_ERRORS:
            if not self._checked:
                raise
        raise QuickCheckError

    def _build_item_type(self, table: ResultTable, shape: Shape, level: int) -> MsgspecType:
        """Return the type of the items of a table's list, which are inside `level` lists."""
        if table.edge is not None:
            return self._build_struct(table.edge, table, shape, level)
        return self._build_row_type(table, shape, level)

    def _build_row_type(self, table: ResultTable, shape: Shape, level: int) -> MsgspecType:
        if isinstance(table.row, int):
            return self._build_value_type(table.columns[table.row], shape, level)
        if isinstance(table.row, ResultTable):
            items = _list_of(self._build_item_type(table.row, shape, level + 1))
            return self._add_null(items, shape, level)
        return self._build_struct(table.row, table, shape, level)

    def _build_struct(
        self, place: ObjectPlan, table: ResultTable, shape: Shape, level: int
    ) -> MsgspecType:
        numbers = {name: number for number, (name, _) in enumerate(place.members)}
        fields: list[tuple[str, str, MsgspecType]] = []
        for index, (name, child) in enumerate(shape.children.items()):
            if name in numbers:
                target = place.members[numbers[name]][1]
                kind = self._build_member_type(target, table, child)
                fields.append((f"f{numbers[name]}", name, kind))
            elif self._checked:
                fields.append((f"g{index}", name, build_struct_type(child)))
        members = [(key, t) if self._checked else (key, t, None) for key, _, t in fields]
        names = {key: name for key, name, _ in fields}
        # Numbered names serve response names that are not Python names. Rows hold no reference
        # cycles, so the garbage collector need not track them.
        struct = msgspec.defstruct("Object", members, rename=names, gc=False)
        return self._add_null(struct, shape, level)

    def _build_member_type(
        self, target: int | ObjectPlan | ResultTable, table: ResultTable, shape: Shape
    ) -> MsgspecType:
        if target == NODE:
            return self._build_row_type(table, shape, 0)
        if isinstance(target, int):
            return self._build_value_type(table.columns[target], shape, 0)
        if isinstance(target, ObjectPlan):
            return self._build_struct(target, table, shape, 0)
        return self._add_null(_list_of(self._build_item_type(target, shape, 1)), shape, 0)

    def _build_value_type(self, column: ResultColumn, shape: Shape, level: int) -> MsgspecType:
        wire = scalars.get_scalar(column.shape).json_types
        if self._checked:
            kinds = [t for t in wire if shape.json_types is None or t in shape.json_types]
            if not kinds:
                raise LookupError
            return self._add_null(Union[*kinds], shape, level)
        if column in self._untyped:
            return Any
        if column.shape.lists:
            if Decimal not in wire or column.shape.children:
                return Any
            item: MsgspecType = Decimal | None
            for _ in range(column.shape.lists):
                item = list[item] | None
            return item
        return Union[*wire, None] if wire else Any

    def _add_null(self, made: MsgspecType, shape: Shape, level: int) -> MsgspecType:
        return made if self._checked and not shape.is_nullable_at(level) else made | None


def get_row_decoders(plan: ReadPlan, *, checked: bool = False) -> RowDecoders:
    """Return the row decoders of a plan, which are made once."""
    found: RowDecoders | None = plan.decoders.get(checked)
    if found is None:
        found = plan.decoders[checked] = RowDecoders(plan, checked=checked)
    return found
