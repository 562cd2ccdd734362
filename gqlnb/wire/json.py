"""JSON in and out: exact integers, nothing that is not JSON, errors that name the place."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.errors import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["JSONError", "dump", "encode", "faults", "load"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()


class JSONError(ValueError):
    """Bytes that are not JSON, or a value that JSON cannot hold."""


def load(body: bytes) -> Any:
    """Read JSON bytes; of duplicate keys the last one wins, a byte order mark is skipped.

    Raises
    ------
    JSONError
        If they are not JSON: NaN, infinity, bad UTF-8 and lone surrogates included.
    """
    try:
        return _DECODER.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else plain(error, 120)
    raise JSONError(reason)


def dump(value: Any) -> bytes:
    """Write a value as JSON bytes.

    Raises
    ------
    JSONError
        If a part of it is no JSON value, a NaN or an infinity included; the message says where.
    """
    fault = next(faults(value, ()), None)
    if fault is not None:
        raise JSONError(fault)
    return _ENCODER.encode(value)


def encode(value: Any) -> bytes:
    """Write a value that is known to hold text, finite numbers, Booleans, null and containers.

    Raises
    ------
    UnicodeEncodeError
        If a text holds a lone surrogate.
    """
    return _ENCODER.encode(value)


def faults(value: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield a sentence for each part of `value` that JSON cannot hold."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"Key {plain(repr(key), 80)}{at(path)} is no text; JSON keys are."
            elif (fault := leaf_fault(key)) is not None:
                yield fault.format(f" of a key{at(path)}")
            yield from faults(item, (*path, key))
    elif kind in (list, tuple):
        for index, item in enumerate(value):
            yield from faults(item, (*path, index))
    elif (fault := leaf_fault(value)) is not None:
        yield fault.format(at(path))


def leaf_fault(value: Any) -> str | None:
    """Return what keeps a leaf out of JSON, with braces where its place goes."""
    kind = type(value)
    if kind is str and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return "Lone surrogate in text{}: it has no UTF-8 form."
    if kind is float and not isfinite(value):
        return f"{value}{{}} has no JSON form. Send null, or a finite number."
    if value is None or isinstance(value, (str, int, float, dict)):
        return None
    return f"A {kind.__name__}{{}} has no JSON form."


def at(path: tuple[str | int, ...]) -> str:
    """Return `` at a.b[0]`` for a path, nothing for the top."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return f" at {plain(text.removeprefix('.'), 200)}" if text else ""
