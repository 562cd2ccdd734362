"""Strict JSON encoding and decoding, with exact integers and errors that name the location."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from gqlnb.errors import describe_path, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON: TypeAlias = Any  # None, bool, int, float, str, and lists and dicts of them
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_ARRAY_DECODER = msgspec.json.Decoder(list[msgspec.Raw])
_EXACT_ENCODER = msgspec.json.Encoder(decimal_format="number")
PIECE_BYTES = 1 << 21  # encoded in a millisecond
DIVIDED_MEMBERS = 100  # of a dict: a piece of each takes longer than all in one
SHORT_TEXT = 100  # characters of a text that is no piece of its own
FIRST_ITEMS = 16  # in the first piece of a list, whose size is not known
_TEXT_TYPE = frozenset({str})
_LEAF_TYPES = frozenset({str, int, bool, type(None)})
# In the messages of msgspec, which has no attribute for the offset.
BYTE_PATTERN = re.compile(r"\(byte (\d+)\)")
INVALID_NUMBER = re.compile(rb"-?(?:NaN|Infinity)")
# Strings are matched first: a word within one is text.
STRING_OR_NUMBER = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:NaN|Infinity)', re.DOTALL)
MARK = "\x1a"  # a control character, which begins the texts in the place of these numbers
MARKED = re.compile(rb'"\\u001a(-?(?:NaN|Infinity))"')
# Reasons of texts that are a beginning of JSON, such as a body that a proxy cut.
EMPTY, INCOMPLETE = "it is empty", "it is incomplete"
# An escape of a surrogate without its partner, not preceded by an unpaired backslash.
LONE_SURROGATE = re.compile(
    r"((?<!\\)(?:\\\\)*)(?:\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..)"
)


class JSONError(ValueError):
    """Bytes that are not valid JSON, or a value that JSON cannot represent.

    Attributes
    ----------
    at : int or None
        The byte offset of the error, if known.
    """

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at

    @property
    def is_invalid_number(self) -> bool:
        """Whether the first error is a NaN or an infinity."""
        return "is not a JSON number" in str(self)

    @property
    def is_cut(self) -> bool:
        """Whether the bytes are empty, or end before the JSON does."""
        return str(self) in {EMPTY, INCOMPLETE}


def load_json(body: bytes) -> JSON:
    """Parse JSON bytes; the last of duplicate keys is used, a byte order mark is skipped.

    Raises
    ------
    JSONError
        If they are not valid JSON, such as NaN, infinity, invalid UTF-8 and lone surrogates.
    """
    try:
        return _DECODER.decode(body.removeprefix(BOM_UTF8))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        reason, at = describe_fault(strip_bom(body), error)
    raise JSONError(reason, at)


def split_json_array(body: bytes) -> list[bytes] | None:
    """Return the items of a JSON array as they are written; None for any other text.

    NaN and infinities are kept, so that they concern only the item that has them.
    """
    marked = mark_numbers(body)
    try:
        items = map(bytes, _ARRAY_DECODER.decode(strip_bom(marked)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return list(items if marked is body else map(unmark_numbers, items))


def mark_numbers(body: bytes) -> bytes:
    """Return JSON with texts in the places of NaN and infinities, which JSON does not have."""
    return replace_numbers(body, b'"\\u001a?"')[0]


def unmark_numbers(body: bytes) -> bytes:
    """Return a body of :func:`mark_numbers` as it was, or a part of it."""
    return MARKED.sub(rb"\1", body)


def replace_numbers(body: bytes, form: bytes = b"null") -> tuple[bytes, int]:
    """Return JSON with something else in the places of NaN and infinities, and their number.

    Parameters
    ----------
    body
        The JSON.
    form
        What stands in the place of a number, with ``?`` for the number itself.
    """
    if b"NaN" not in body and b"Infinity" not in body:
        return body, 0
    count = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal count
        if match[0][:1] == b'"':
            return match[0]
        count += 1
        return form.replace(b"?", match[0])

    return STRING_OR_NUMBER.sub(replace, body), count


def find_invalid_number(body: bytes) -> tuple[str | int, ...]:
    """Return the path of the first NaN or infinity; empty if the JSON has other errors, too."""
    try:
        value = _DECODER.decode(mark_numbers(body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
    path = next(iter_marked(value, ()), ())
    # From the data on, as all errors name fields: `payload` is a message's over WebSockets.
    for name in ("payload", "data"):
        path = path[1:] if path[:1] == (name,) else path
    return path


def iter_marked(value: JSON, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of marked numbers."""
    if isinstance(value, str):
        if value.startswith(MARK):
            yield path
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from iter_marked(item, (*path, key))


def load_exact_json(body: bytes) -> JSON:
    """Parse valid JSON bytes, with decimals for numbers that no float equals."""
    return _EXACT_DECODER.decode(strip_bom(body))


def dump_exact_json(value: object) -> bytes:
    """Encode a value as JSON, decimals as numbers with all their digits."""
    return _EXACT_ENCODER.encode(value)


def parse_number(text: str) -> float | Decimal:
    """Parse a JSON number as a float if that is exact, else as a decimal."""
    # The repr of a float is the shortest text that reads as the same float: if it is the same
    # number too, nothing was rounded.
    number, exact = float(text), Decimal(text)
    return number if Decimal(repr(number)) == exact else exact


_EXACT_DECODER = msgspec.json.Decoder(float_hook=parse_number)


def load_repaired_json(body: bytes) -> JSON:
    """Parse JSON bytes after replacing invalid UTF-8 and lone surrogates by U+FFFD.

    Raises
    ------
    JSONError
        If they are not valid JSON otherwise.
    """
    return load_json(LONE_SURROGATE.sub(r"\1\\ufffd", body.decode("utf-8", "replace")).encode())


def describe_fault(body: bytes, error: Exception) -> tuple[str, int | None]:
    """Return a reason and a byte offset for bytes that are not valid JSON."""
    if isinstance(error, RecursionError):
        return "nested too deeply", None
    place = BYTE_PATTERN.search(str(error))
    at = int(place[1]) if place else None
    reason = "truncated" if at is None else "invalid number"
    if at in {None, len(body)} and reason in str(error):
        # msgspec says the same of a surrogate at the end of a text that is complete.
        lone = LONE_SURROGATE.search(body.decode("utf-8", "replace"))
        if lone is None or '"' not in lone.string[lone.end() :]:
            return (INCOMPLETE if body.strip() else EMPTY), len(body)
    try:
        text = body.decode()
    except UnicodeDecodeError as bad:
        return f"byte 0x{body[bad.start]:02x} is not UTF-8 (byte {bad.start})", bad.start
    lone = LONE_SURROGATE.search(text)
    if at is not None and (word := INVALID_NUMBER.search(body, max(0, at - 1), at + 9)):
        path = describe_path(find_invalid_number(body))
        return f"{word[0].decode()}{path} is not a JSON number (byte {at})", at
    if lone and (at is None or "surrogate" in str(error)):
        at = len(text[: lone.start()].encode())
        return f"a lone surrogate is not valid text (byte {at})", at
    # msgspec adds a path, which is `$[...]` for decoders without types.
    return sanitize_text(str(error).partition(" - at ")[0], 120), at


def strip_bom(body: bytes) -> bytes:
    """Return a body without the byte order mark that some servers send."""
    return body.removeprefix(BOM_UTF8)


def dump_json(value: object) -> bytes:
    """Encode a value as JSON bytes.

    Raises
    ------
    JSONError
        If JSON cannot represent a part of the value, such as NaN; the message has its path.
    """
    # Examined first: msgspec would write NaN as null, and sets, dates and data classes as it likes.
    if is_plain_json(value):
        with suppress(UnicodeEncodeError):  # a lone surrogate
            return _ENCODER.encode(value)
    fault = next(iter_faults(value, ()), None)
    if fault is not None:
        raise JSONError(fault)
    return _ENCODER.encode(value)


def is_plain_json(value: JSON) -> bool:
    """Return quickly whether a value is JSON, strings not examined; False if it may not be."""
    kind = type(value)
    if kind in _LEAF_TYPES:
        return True
    if kind is float:
        return isfinite(value)
    if kind is dict:
        if not _TEXT_TYPE.issuperset(map(type, value)):
            return False
        value = value.values()
    elif kind is not list and kind is not tuple:
        return False
    return _LEAF_TYPES.issuperset(map(type, value)) or all(map(is_plain_json, value))


def dump_valid_json(value: object) -> bytes:
    """Encode a value of strings, finite numbers, Booleans, null, dicts and lists.

    Raises
    ------
    UnicodeEncodeError
        If a string contains a lone surrogate.
    """
    return _ENCODER.encode(value)


def encode_in_pieces(value: JSON, body: bytearray, *, is_valid: bool) -> Iterator[None]:
    """Append a value to a body as JSON, and yield after each piece.

    Parameters
    ----------
    value
        The value. Lists in it, or in its dicts, are divided; their items are not, nor are dicts
        with many members, such as values of a JSON scalar.
    body
        The body.
    is_valid
        Whether it may be encoded by :func:`dump_valid_json`.

    Raises
    ------
    JSONError, UnicodeEncodeError
        If JSON cannot represent a part of the value.
    """
    is_divided = type(value) is dict and 0 < len(value) <= DIVIDED_MEMBERS
    if is_divided and _TEXT_TYPE.issuperset(map(type, value)):
        mark = b"{"
        for name, member in value.items():
            body += b"%b%b:" % (mark, _ENCODER.encode(name))
            mark = b","
            if type(member) in _LEAF_TYPES and (
                type(member) is not str or len(member) < SHORT_TEXT
            ):
                body += _ENCODER.encode(member)
            else:
                yield from encode_in_pieces(member, body, is_valid=is_valid)
        body += b"}"
        return
    rows = value if type(value) is list else ()
    start, count = 0, FIRST_ITEMS
    while start < (len(rows) or 1):
        part, at = rows[start : start + count] if rows else value, len(body)
        if not (is_valid or is_plain_json(part)):
            msg = "A value has no JSON form."
            raise JSONError(msg)
        if start:  # over the bracket that ends the part before
            at -= 1
        _ENCODER.encode_into(part, body, at)
        if start:
            body[at] = ord(",")
        start += count
        count = max(1, PIECE_BYTES * count // (len(body) - at))
        yield


def iter_faults(value: JSON, path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield a sentence for each part of a value that JSON cannot represent."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                shown = f"{sanitize_text(repr(key), 80)}{describe_path(path)}"
                yield f"Key {shown} is not a string, as JSON requires."
            elif (fault := describe_leaf_fault(key)) is not None:
                yield fault.format(f" of a key{describe_path(path)}")
            yield from iter_faults(item, (*path, key))
    elif kind in (list, tuple):
        for index, item in enumerate(value):
            yield from iter_faults(item, (*path, index))
    elif (fault := describe_leaf_fault(value)) is not None:
        yield fault.format(describe_path(path))


def describe_leaf_fault(value: JSON) -> str | None:
    """Return why JSON cannot represent a leaf, with braces for its path; None if it can."""
    kind = type(value)
    if kind is str and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return "Lone surrogate in text{}: it has no UTF-8 form."
    if kind is float and not isfinite(value):
        return f"{value}{{}} has no JSON form. Send null, or a finite number."
    if value is None or isinstance(value, (str, int, float, dict)):
        return None
    return f"A {kind.__name__}{{}} has no JSON form."
