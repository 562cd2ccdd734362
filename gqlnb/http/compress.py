"""Compression of responses, by the ``Accept-Encoding`` of the client."""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gqlnb.http.headers import parse_accept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MIN_COMPRESSED_BYTES", "compress_body", "negotiate_encoding"]

MIN_COMPRESSED_BYTES = 1024  # below, a response fits into one packet anyway
# The fastest levels: a response is compressed once and read once. JSON shrinks to a tenth to a
# fifth with each.
_GZIP_LEVEL, _BROTLI_QUALITY, _ZSTD_LEVEL = 1, 3, 1
_GZIP_WINDOW_BITS = 31  # the largest window of zlib, plus 16 for the gzip format


def _compress_gzip(body: bytes) -> bytes:
    return zlib.compress(body, _GZIP_LEVEL, _GZIP_WINDOW_BITS)


def _compress_brotli(body: bytes, library: Any) -> bytes:  # noqa: ANN401 - a module without types
    return library.compress(body, quality=_BROTLI_QUALITY)  # type: ignore[no-any-return]


def _compress_zstd(body: bytes, library: Any) -> bytes:  # noqa: ANN401
    return library.compress(body, _ZSTD_LEVEL)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _find_compressors() -> Mapping[str, Callable[[bytes], bytes]]:
    """Return the supported codings, the preferred one first; gzip alone comes with Python."""
    found: dict[str, Callable[[bytes], bytes]] = {}
    for coding, compress, module in (
        ("zstd", _compress_zstd, "compression.zstd"),  # of Python 3.14
        ("zstd", _compress_zstd, "backports.zstd"),
        ("br", _compress_brotli, "brotli"),
        ("br", _compress_brotli, "brotlicffi"),
    ):
        with suppress(ImportError):
            found.setdefault(coding, partial(compress, library=import_module(module)))
    return found | {"gzip": _compress_gzip}


@lru_cache(maxsize=64)
def negotiate_encoding(accept: str | None) -> str | None:
    """Return the content coding of a response; None for no compression.

    Parameters
    ----------
    accept
        The value of ``Accept-Encoding``; None if the client sent none.

    Notes
    -----
    Source: RFC 9110, 12.5.3. Of equal weights zstd is preferred to br, and br to gzip; ``*`` means
    gzip.
    """
    weights = parse_accept((accept or "").replace("x-gzip", "gzip"))
    if "*" in weights:
        weights.setdefault("gzip", weights["*"])
    usable = [it for it in _find_compressors() if weights.get(it, 0.0) > 0]
    best = max(usable, key=lambda it: weights[it], default=None)
    if best is None or weights.get("identity", 0.0) > weights[best]:
        return None
    return best


def compress_body(body: bytes, coding: str) -> bytes:
    """Return a body, compressed with a coding of :func:`negotiate_encoding`."""
    return _find_compressors()[coding](body)
