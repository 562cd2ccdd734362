"""From the bytes of an answer to the objects a plan reads, without a dict for every row.

A response is decoded in two steps. The first finds its members and the outline of its data, which
is everything that stands in no list; the items of the lists are in it as pieces of JSON. The pieces
are decoded some thousands at a time into msgspec structs that hold what a plan reads and nothing
else, are turned into columns, and make way for the next. What does not fit the types of the shape
is decoded without them.
"""

from __future__ import annotations

import codecs
from collections.abc import Set
from decimal import Decimal
from threading import RLock
from typing import TYPE_CHECKING, Any, TypedDict, Union

import msgspec

from gqlnb.document import scalars
from gqlnb.result.tables import NODE, ObjectPlan, ResultTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.result.result import Result
    from gqlnb.result.shape import Shape
    from gqlnb.result.tables import ReadPlan, ResultColumn

__all__ = [
    "DecimalData",
    "Envelope",
    "RowDecoders",
    "build_decimal_data",
    "decode_envelope",
    "decode_untyped",
    "find_span",
    "get_row_decoders",
    "hide_decimals",
    "join_pieces",
    "keep_exact_bytes",
    "restore_decimals",
]

UTF8_CHUNK = 1 << 16  # bytes looked through at a time for what is no UTF-8
_UNTYPED_DECODER = msgspec.json.Decoder()
_UNSET = msgspec.UNSET
UntypedColumns = Set["ResultColumn"]


class Envelope:
    """The members of a GraphQL response.

    Attributes
    ----------
    body
        The response.
    has_data
        Whether there is a member ``decode_data``, null or not.
    has_valid_data
        Whether it is an object or null, as it has to be.
    outline
        The data, the items of lists as pieces of JSON; ``msgspec.UNSET`` where no shape is known or
        the data are of another.
    errors, extensions
        Those members as they came; None where they are missing.
    make_data
        Makes the data of a response that was checked; None for one that was not.
    prepared
        A plan, and what was read by it while the response was checked; None where nothing was.
    has_exact_numbers
        Whether numbers are in it that a float does not hold, so that frames read the bytes even
        after the data were made.
    lock
        Held while the data are made, so that they are made once.
    """

    __slots__ = (
        *("body", "errors", "has_exact_numbers", "extensions", "has_data", "make_data", "lock"),
        *("outline", "prepared", "has_valid_data"),
    )

    def __init__(self, body: bytes, found: Any) -> None:
        self.body = body
        self.has_data = found.data is not _UNSET
        raw = type(found.data) is msgspec.Raw
        self.has_valid_data = not raw or bytes(memoryview(found.data)[:1]) in {b"{", b"n"}
        self.outline = _UNSET if raw else found.data
        self.errors = found.errors
        self.extensions = found.extensions
        self.has_exact_numbers = False
        self.make_data: Callable[[], Any] | None = None
        self.prepared: tuple[ReadPlan, Any] | None = None
        self.lock = RLock()

    def decode_data(self) -> Any:
        """Return the data as dicts, lists and scalars, once.

        The bytes are not held any longer, unless they are more exact.

        Raises
        ------
        ValueError
            If they are not JSON after all.
        """
        self.prepared = None
        if self.make_data is not None and not self.has_exact_numbers:
            self.outline = _UNSET  # not a piece for each row beside the dicts
        made = decode_untyped(self.body)["data"] if self.make_data is None else self.make_data()
        if not self.has_exact_numbers:
            self.body, self.outline = b"", _UNSET
        self.make_data = None
        return made

    def decode_exact_outline(self, shape: Shape) -> Any:
        """Return the outline with decimals for the numbers that a float may not hold."""
        typed = shape.cache.get("exact response")
        if typed is None:
            typed = _build_response_decoder(
                _build_outline_type(shape, exact=True) | None | msgspec.UnsetType
            )
            typed = shape.cache.setdefault("exact response", typed)
        try:
            return typed.decode(self.body).data
        except msgspec.ValidationError:  # text that is not a number
            return self.outline

    def take_prepared(self, plan: ReadPlan) -> Any:
        """Return what was read by this plan, for the first who asks; None where nothing was."""
        with self.lock:
            if self.prepared is None or self.prepared[0] is not plan:
                return None
            found, self.prepared = self.prepared[1], None
            return found


def _build_response_decoder(data: Any) -> msgspec.json.Decoder[Any]:
    members = [("data", data, _UNSET), ("errors", Any, None), ("extensions", Any, None)]
    return msgspec.json.Decoder(msgspec.defstruct("Response", members))


_RAW_DATA_DECODER = _build_response_decoder(msgspec.Raw | msgspec.UnsetType)


def decode_envelope(body: bytes, shape: Shape | None = None) -> Envelope:
    """Return the members of a GraphQL response; of duplicate members the last one wins.

    Parameters
    ----------
    body
        The response as JSON; a byte order mark is skipped.
    shape
        The shape of its data, if that is known.

    Raises
    ------
    ValueError
        If the body is no JSON object in UTF-8: ``msgspec.DecodeError`` or ``UnicodeDecodeError``.
        All of it is looked at for being UTF-8, because the decoder looks at what it keeps only.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    if not body.isascii():
        decoder = codecs.getincrementaldecoder("utf-8")()
        view = memoryview(body)
        for start in range(0, len(body), UTF8_CHUNK):
            decoder.decode(view[start : start + UTF8_CHUNK], final=start + UTF8_CHUNK >= len(body))
    if shape is not None:
        typed = shape.cache.get("response")
        if typed is None:
            typed = _build_response_decoder(_build_outline_type(shape) | None | msgspec.UnsetType)
            typed = shape.cache.setdefault("response", typed)
        try:
            made = Envelope(body, typed.decode(body))
        except msgspec.ValidationError:  # objects or lists where the shape has none
            pass
        else:
            made.has_exact_numbers = has_exact_scalars(shape)
            return made
    return Envelope(body, _RAW_DATA_DECODER.decode(body))


def has_exact_scalars(shape: Shape) -> bool:
    """Return whether there are numbers at or below a shape whose digits a float may not hold."""
    found: bool | None = shape.cache.get(("exact", scalars.get_version()))
    if found is None:
        found = Decimal in scalars.get_scalar(shape).json_types or any(
            map(has_exact_scalars, shape.children.values())
        )
        shape.cache["exact", scalars.get_version()] = found
    return found


def keep_exact_bytes(result: Result) -> None:
    """Let frames of a result be read from its bytes, where numbers in its data are not exact.

    JSON numbers of the scalars that are decimals are floats in the data, as everywhere in Python.
    """
    shape, response = result.get_shape(), result.response
    body = getattr(response, "body", b"")
    plain = getattr(response, "members", None) is None and "_came" not in vars(result)
    if shape is None or not body or not plain or not has_exact_scalars(shape):
        return
    data = result.data
    came = decode_envelope(body, shape)
    came.make_data = lambda: data
    result.with_lazy_data(came)


class DecimalData:
    """Data that were put together from answers, with decimals for the numbers of exact scalars.

    A result takes it in place of an :class:`Envelope`: its frames read the decimals, and its data
    are those of every answer, in which such numbers are floats.

    Parameters
    ----------
    outline
        The data, with decimals.
    shape
        Their shape.
    """

    has_exact_numbers = False  # there are no bytes that would be more exact

    def __init__(self, outline: Any, shape: Shape) -> None:
        self.outline = outline
        self.lock = RLock()
        self._shape = shape

    def decode_data(self) -> Any:
        """Return the data with floats for the decimals; a copy where there are any."""
        return _replace_exact_decimals(self.outline, self._shape)

    def take_prepared(self, _plan: ReadPlan) -> None:
        """Return what was read by a plan before: nothing."""
        return


def restore_decimals(result: Result) -> bool:
    """Put decimals in the data of a result, for numbers whose digits a float may not hold.

    Returns
    -------
    bool
        Whether there were any: JSON numbers with a point or an exponent, of an exact scalar.
    """
    shape = result.get_shape()
    if shape is None or not has_exact_scalars(shape):
        return False
    return _restore_from_bytes(result.data, shape, _get_body(result))


def _restore_from_bytes(data: Any, shape: Shape, body: bytes) -> bool:
    """Put the decimals that bytes hold in place of the floats in their data."""
    if not body:
        return False
    key = "decimals", scalars.get_version()
    decoder = shape.cache.get(key)
    if decoder is None:
        members = [("data", _build_decimal_type(shape) | None, None)]
        kind = msgspec.defstruct("Response", members)
        decoder = msgspec.json.Decoder(kind, float_hook=Decimal)
        decoder = shape.cache.setdefault(key, decoder)
    try:
        found = decoder.decode(body).data
    except msgspec.ValidationError:  # an error of the answer stands where an object should
        return False
    return _overlay_decimals(data, found)


def _get_body(result: Result) -> bytes:
    """Return the bytes that a result was read from; none where it holds values of this process."""
    came = vars(result).get("_came")
    if isinstance(came, Envelope) and came.body:
        return came.body
    if getattr(result.response, "members", None) is not None:
        return b""
    body: bytes = getattr(result.response, "body", b"")
    return body.removeprefix(codecs.BOM_UTF8)


def build_decimal_data(result: Result) -> Any:
    """Return the data of a result with decimals, as far as :func:`restore_decimals` finds any.

    The data of the result stay as they are.
    """
    shape = result.get_shape()
    if shape is None or not has_exact_scalars(shape):
        return result.data
    data = _replace_exact_decimals(result.data, shape)
    _restore_from_bytes(data, shape, _get_body(result))
    return data


def hide_decimals(result: Result) -> Result:
    """Return a result whose data have decimals as one whose frames alone show them."""
    shape = result.get_shape()
    if shape is None:
        return result
    return result.with_lazy_data(DecimalData(result.data, shape))


def _build_decimal_type(shape: Shape) -> Any:
    """Return the type of an object with those members alone that lead to exact scalars."""
    members: dict[str, Any] = {}
    for name, child in _get_exact_children(shape).items():
        made: Any = _build_decimal_type(child) | None if child.composite else Any
        for _ in range(child.lists if child.composite else 0):
            made = list[made] | None
        members[name] = made
    make: Any = TypedDict
    return make("Object", members, total=False)


def _get_exact_children(shape: Shape) -> dict[str, Shape]:
    """Return the members of an object that are exact scalars, or lead to them."""
    key = "exact children", scalars.get_version()
    found: dict[str, Shape] | None = shape.cache.get(key)
    if found is None:
        found = {name: child for name, child in shape.children.items() if has_exact_scalars(child)}
        shape.cache[key] = found
    return found


def _overlay_decimals(value: Any, exact: Any) -> bool:
    """Put the decimals of a value in place of the floats in another; return if any were."""
    changed = False
    if isinstance(value, list) and isinstance(exact, list):
        for number, item in enumerate(exact):
            if type(item) is Decimal:
                value[number] = item
                changed = True
            elif type(item) in {dict, list}:
                changed |= _overlay_decimals(value[number], item)
    elif isinstance(value, dict) and isinstance(exact, dict):
        for name, item in exact.items():
            if type(item) is Decimal:
                value[name] = item
                changed = True
            elif type(item) in {dict, list}:
                changed |= _overlay_decimals(value[name], item)
    return changed


def _replace_exact_decimals(value: Any, shape: Shape) -> Any:
    """Return data with floats for decimals, of exact scalars alone."""
    if type(value) is Decimal:
        return float(value)
    if isinstance(value, list):
        return [_replace_exact_decimals(item, shape) for item in value]
    if not isinstance(value, dict):
        return value
    exact = _get_exact_children(shape)
    return {
        name: _replace_exact_decimals(item, exact[name]) if name in exact else item
        for name, item in value.items()
    }


def decode_untyped(raw: Any) -> Any:
    """Return the value of JSON bytes as dicts, lists and scalars."""
    return _UNTYPED_DECODER.decode(raw)


class RowDecoders:
    """What decodes the items of the outermost lists by a plan.

    Parameters
    ----------
    plan
        The plan.
    kept
        The columns whose values are decoded as they came, whatever their type.
    """

    def __init__(self, plan: ReadPlan, kept: UntypedColumns = frozenset()) -> None:
        self._items = {
            table: msgspec.json.Decoder(list[_build_item_type(table, kept)])  # type: ignore[misc]
            for table in plan.root.inner_tables
        }

    def decode_items(self, table: ResultTable, pieces: Sequence[Any]) -> list[Any]:
        """Return items as structs whose members are those of the plan's places, ``f0``, ``f1``...

        Raises
        ------
        msgspec.ValidationError
            If one is not of the declared type.
        """
        made: list[Any] = self._items[table].decode(join_pieces(pieces))
        return made


def get_row_decoders(plan: ReadPlan) -> RowDecoders:
    """Return what decodes by a plan; made once."""
    if plan.decoders is None:
        plan.decoders = RowDecoders(plan)
    made: RowDecoders = plan.decoders
    return made


def join_pieces(pieces: Sequence[Any]) -> bytes:
    """Return pieces of JSON as one JSON list."""
    return b"[%b]" % b",".join(pieces)


def find_span(body: bytes, pieces: Sequence[Any]) -> tuple[int, int]:
    """Return where pieces stand in the body that they were decoded from.

    Parameters
    ----------
    body
        The response.
    pieces
        Items of one list, at least one.

    Returns
    -------
    (int, int)
        The offset of the first byte, and of the one after the last.
    """
    begin = _get_address(pieces[0]) - _get_address(body)
    return begin, _get_address(pieces[-1]) - _get_address(body) + memoryview(pieces[-1]).nbytes


def _get_address(buffer: Any) -> int:
    import numpy as np

    found: int = np.frombuffer(buffer, np.uint8).__array_interface__["data"][0]
    return found


def _build_outline_type(shape: Shape, *, exact: bool = False) -> Any:
    members: dict[str, Any] = {}
    for name, child in shape.children.items():
        if child.lists:
            members[name] = list[msgspec.Raw] | None
        elif child.composite:
            members[name] = _build_outline_type(child, exact=exact) | None
        elif exact and Decimal in scalars.get_scalar(child).json_types:
            members[name] = Decimal | None
        else:
            members[name] = Any
    made: Any = TypedDict
    return made("Object", members, total=False)


def _build_item_type(table: ResultTable, kept: UntypedColumns) -> Any:
    return (
        _build_struct_type(table.edge, table, kept)
        if table.edge is not None
        else _build_row_type(table, kept)
    )


def _build_row_type(table: ResultTable, kept: UntypedColumns) -> Any:
    if isinstance(table.row, int):
        return _build_value_type(table.columns[table.row], kept)
    if isinstance(table.row, ResultTable):
        return list[_build_item_type(table.row, kept)] | None  # type: ignore[misc]
    return _build_struct_type(table.row, table, kept)


def _build_struct_type(place: ObjectPlan, table: ResultTable, kept: UntypedColumns) -> Any:
    """Return a struct for the members of a place; numbered names serve all shapes alike."""
    members = [
        (f"f{number}", _build_member_type(target, table, kept), None)
        for number, (_, target) in enumerate(place.members)
    ]
    names = {f"f{number}": name for number, (name, _) in enumerate(place.members)}
    # Rows hold no circles, so the collector need not follow them.
    return msgspec.defstruct("Object", members, rename=names, gc=False) | None


def _build_member_type(
    target: int | ObjectPlan | ResultTable, table: ResultTable, kept: UntypedColumns
) -> Any:
    if target == NODE:
        return _build_row_type(table, kept)
    if isinstance(target, int):
        return _build_value_type(table.columns[target], kept)
    if isinstance(target, ObjectPlan):
        return _build_struct_type(target, table, kept)
    return list[_build_item_type(target, kept)] | None  # type: ignore[misc]


def _build_value_type(column: ResultColumn, kept: UntypedColumns) -> Any:
    wire = scalars.get_scalar(column.shape).json_types
    if column in kept:
        return Any  # nothing of the kind, so that it is kept as it came
    if column.shape.lists:
        made: Any = Decimal | None if Decimal in wire and not column.shape.children else Any
        for _ in range(column.shape.lists if made is not Any else 0):
            made = list[made] | None
        return made
    return Union[*wire, None] if wire else Any
