"""Unpacking the body of an answer, with a bound on what comes out of it."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["IDENTITY", "BodyTooLargeError", "CutError", "PackedError", "unpacked"]

GZIP = frozenset({"gzip", "x-gzip"})  # one thing by two names: RFC 9110, 8.4.1.3
IDENTITY = frozenset({"", "identity"})
PIECE = 1 << 18  # bytes unpacked at a time
WITH_GZIP_HEADER = 31  # the window of zlib, plus 16 to say so


class BodyTooLargeError(Exception):
    """A body is larger than was granted."""


class PackedError(Exception):
    """A body that can't be unpacked; its text says why, as the end of a sentence."""


class CutError(PackedError):
    """A packed body that breaks off."""


def unpacked(parts: Iterable[bytes], encoding: str, limit: int | None) -> bytes:
    """Return a body as it was before it was packed.

    Parameters
    ----------
    parts
        The bytes as they travelled.
    encoding
        What ``Content-Encoding`` says: gzip, or nothing.
    limit
        Bytes that may come out, None for any number. A kilobyte of gzip can hold a megabyte, so
        they are counted while they come.

    Raises
    ------
    BodyTooLargeError
        If there are more.
    PackedError
        If they are packed otherwise, wrongly, or break off.
    """
    encoding = encoding.strip().lower()
    if encoding not in GZIP | IDENTITY:
        msg = "it is packed in a way that was not asked for; gzip was."
        raise PackedError(msg)
    made, size = BytesIO(), 0
    for piece in gunzipped(parts) if encoding in GZIP else parts:
        size += len(piece)
        if limit is not None and size > limit:
            raise BodyTooLargeError
        made.write(piece)
    return made.getvalue()


def gunzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what one or more members of gzip hold, in pieces of bounded size."""
    engine, begun = zlib.decompressobj(WITH_GZIP_HEADER), False
    for part in parts:
        left = part
        while left:
            begun = True
            yield from pieces(engine, left)
            left = engine.unused_data if engine.eof else b""
            if engine.eof:
                engine, begun = zlib.decompressobj(WITH_GZIP_HEADER), False
    if begun:
        msg = "it breaks off before its end. Try again."
        raise CutError(msg)


def pieces(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield what `data` unpacks to, as far as this member goes."""
    while True:
        try:
            piece = engine.decompress(data, PIECE)
        except zlib.error:
            piece = None
        if piece is None:
            msg = "it is not compressed as it says."
            raise PackedError(msg)
        if piece:
            yield piece
        data = engine.unconsumed_tail
        if engine.eof or (not data and len(piece) < PIECE):
            return
