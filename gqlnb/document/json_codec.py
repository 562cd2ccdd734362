"""JSON in and out: exact integers, nothing that is not JSON, errors that name the place."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.errors import describe_path, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "JSONError",
    "dump_exact_json",
    "dump_json",
    "dump_valid_json",
    "iter_faults",
    "load_exact_json",
    "load_json",
    "load_repaired_json",
    "strip_bom",
]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_EXACT_ENCODER = msgspec.json.Encoder(decimal_format="number")
_TEXT_TYPE = frozenset({str})
_LEAF_TYPES = frozenset({str, int, bool, type(None)})
BYTE_PATTERN = re.compile(r"\(byte (\d+)\)")
INVALID_NUMBER = re.compile(rb"-?(?:NaN|Infinity)")
# One half of a pair of escapes without the other; what stands before must be no open backslash.
LONE_SURROGATE = re.compile(
    r"((?<!\\)(?:\\\\)*)(?:\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..)"
)


class JSONError(ValueError):
    """Bytes that are not JSON, or a value that JSON cannot hold.

    Attributes
    ----------
    at : int or None
        The offset of the fault in the bytes, where it is known.
    """

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


def load_json(body: bytes) -> Any:
    """Read JSON bytes; of duplicate keys the last one wins, a byte order mark is skipped.

    Raises
    ------
    JSONError
        If they are not JSON: NaN, infinity, bad UTF-8 and lone surrogates included.
    """
    try:
        return _DECODER.decode(strip_bom(body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        reason, at = describe_fault(strip_bom(body), error)
    raise JSONError(reason, at)


def load_exact_json(body: bytes) -> Any:
    """Read JSON bytes that :func:`load_json` accepts, with decimals for numbers that no float equals."""
    return _EXACT_DECODER.decode(strip_bom(body))


def dump_exact_json(value: Any) -> bytes:
    """Write what :func:`load_exact_json` reads: a decimal is a number with all its digits."""
    return _EXACT_ENCODER.encode(value)


def parse_number(text: str) -> float | Decimal:
    """Return a JSON number as a float where that has all its digits, else as a decimal."""
    found = float(text)
    exact = Decimal(text)
    return found if Decimal(repr(found)) == exact else exact


_EXACT_DECODER = msgspec.json.Decoder(float_hook=parse_number)


def load_repaired_json(body: bytes) -> Any:
    """Read JSON bytes with U+FFFD for what is no text in them: bad UTF-8 and lone surrogates.

    Raises
    ------
    JSONError
        If there is another fault.
    """
    return load_json(LONE_SURROGATE.sub(r"\1\\ufffd", body.decode("utf-8", "replace")).encode())


def describe_fault(body: bytes, error: Exception) -> tuple[str, int | None]:
    """Return what is wrong with bytes that are not JSON, and at which offset."""
    if isinstance(error, RecursionError):
        return "nested too deeply", None
    try:
        text = body.decode()
    except UnicodeDecodeError as bad:
        return f"byte 0x{body[bad.start]:02x} is no UTF-8 (byte {bad.start})", bad.start
    lone = LONE_SURROGATE.search(text)
    place = BYTE_PATTERN.search(str(error))
    at = int(place[1]) if place else None
    if at is not None and (word := INVALID_NUMBER.search(body, max(0, at - 1), at + 9)):
        return f"{word[0].decode()} is no number of JSON (byte {at})", at
    if lone and (at is None or "surrogate" in str(error)):  # without a place at the very end
        at = len(text[: lone.start()].encode())
        return f"a lone surrogate is no text (byte {at})", at
    if at is None and "truncated" in str(error):
        return ("it breaks off" if body.strip() else "it is empty"), len(body)
    return sanitize_text(error, 120), at


def strip_bom(body: bytes) -> bytes:
    """Return a body without the byte order mark that some servers put before it."""
    return body.removeprefix(BOM_UTF8)


def dump_json(value: Any) -> bytes:
    """Write a value as JSON bytes.

    Raises
    ------
    JSONError
        If a part of it is no JSON value, a NaN or an infinity included; the message says where.
    """
    if is_plain_json(value):
        with suppress(UnicodeEncodeError):  # a lone surrogate
            return _ENCODER.encode(value)
    fault = next(iter_faults(value, ()), None)
    if fault is not None:
        raise JSONError(fault)
    return _ENCODER.encode(value)


def is_plain_json(value: Any) -> bool:
    """Tell at a glance that a value is JSON, texts apart; False where it takes a closer look."""
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


def dump_valid_json(value: Any) -> bytes:
    """Write a value that is known to hold text, finite numbers, Booleans, null and containers.

    Raises
    ------
    UnicodeEncodeError
        If a text holds a lone surrogate.
    """
    return _ENCODER.encode(value)


def iter_faults(value: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield a sentence for each part of `value` that JSON cannot hold."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"Key {sanitize_text(repr(key), 80)}{describe_path(path)} is no text; JSON keys are."
            elif (fault := describe_leaf_fault(key)) is not None:
                yield fault.format(f" of a key{describe_path(path)}")
            yield from iter_faults(item, (*path, key))
    elif kind in (list, tuple):
        for index, item in enumerate(value):
            yield from iter_faults(item, (*path, index))
    elif (fault := describe_leaf_fault(value)) is not None:
        yield fault.format(describe_path(path))


def describe_leaf_fault(value: Any) -> str | None:
    """Return what keeps a leaf out of JSON, with braces where its place goes."""
    kind = type(value)
    if kind is str and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return "Lone surrogate in text{}: it has no UTF-8 form."
    if kind is float and not isfinite(value):
        return f"{value}{{}} has no JSON form. Send null, or a finite number."
    if value is None or isinstance(value, (str, int, float, dict)):
        return None
    return f"A {kind.__name__}{{}} has no JSON form."
