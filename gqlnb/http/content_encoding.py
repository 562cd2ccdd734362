"""Decompression of bodies by their ``Content-Encoding``, and compression by ``Accept-Encoding``.

gzip and deflate come with Python; br and zstd are supported, and accepted, where a library is
installed. Every decoder yields its output in pieces of limited size, since a kilobyte of Brotli can
expand to a hundred megabytes.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from gqlnb.errors import sanitize_text
from gqlnb.http.messages import parse_accept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PIECE = 1 << 18  # bytes of output at a time
_GZIP_WINDOW_BITS = 31  # the largest window of zlib, plus 16 for the gzip format
_MAX_CODINGS = 5  # in a row; the maximum of curl and urllib3
# RFC 9659: a zstd frame in a Content-Encoding has a window of at most 8 MiB.
_ZSTD_WINDOW_LOG = 23
# RFC 9110 has "identity" only. Servers and proxies also name character sets, transfer codings and
# media types here: GraphQL Yoga sends "none" with its event streams.
_IDENTITY_CODINGS = frozenset(
    {"", "7bit", "8bit", "amz-1.0", "application/json", "ascii", "aws-chunked", "binary"}
    | {"chunked", "identity", "iso-8859-1", "json", "none", "null", "plain", "text", "us-ascii"}
    | {"utf-8", "utf8", "utf_8"}
)
_ZLIB_HEADER_BYTES = 2
_NOT_COMPRESSED = "its data do not match the Content-Encoding header."


class BodyTooLargeError(Exception):
    """A body is larger than allowed."""


class DecompressionError(Exception):
    """A body cannot be decompressed; the text is the reason, as the end of a sentence."""


class TruncatedBodyError(DecompressionError):
    """A compressed body ends early."""


class Decoder(Protocol):
    """Decompressor of one content coding."""

    @property
    def incomplete(self) -> bool:
        """Whether the input ends in the middle of a compressed body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress bytes, and yield the output in pieces of limited size.

        Raises
        ------
        DecompressionError
            If the bytes are not compressed with this coding.
        """


class StreamDecoder:
    """Decoder with an engine such as zlib's; a body may be several of its streams in a row.

    Parameters
    ----------
    create_engine
        Returns a new engine.
    error
        The exception that it raises for other data.
    """

    def __init__(self, create_engine: Callable[[], Any], error: type[Exception]) -> None:
        self.incomplete = False
        self._create_engine, self._error = create_engine, error
        self._engine = create_engine()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        while data:
            self.incomplete = True
            yield from self._decompress(data)
            # RFC 1952, 2.2: gzip has members in a row, as of files that were appended; RFC 8878,
            # 3.1: zstd has frames.
            data = self._engine.unused_data if self._engine.eof else b""
            if self._engine.eof:
                self._engine, self.incomplete = self._create_engine(), False

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield the output of the engine for `data`, up to the end of its stream."""
        while True:
            try:
                piece = self._engine.decompress(data, PIECE)
            except self._error:
                raise DecompressionError(_NOT_COMPRESSED) from None
            if piece:
                yield piece
            # zlib returns the rest of the input, zstd keeps it.
            data = getattr(self._engine, "unconsumed_tail", b"")
            if self._engine.eof or (not data and len(piece) < PIECE):
                return


class DeflateDecoder(StreamDecoder):
    """Decoder of deflate: in the zlib format of RFC 9110, or raw, as some servers send it."""

    def __init__(self) -> None:
        super().__init__(lambda: None, zlib.error)  # the engine depends on the data
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        if self._engine is None:
            data = self._head + data
            self.incomplete = bool(data)
            if len(data) < _ZLIB_HEADER_BYTES:
                self._head = data
                return
            # RFC 1950: the method is 8, and the first two bytes are a multiple of 31.
            is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._engine = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        elif self._engine.eof and data:
            raise DecompressionError(_NOT_COMPRESSED)
        yield from self._decompress(data)
        self.incomplete = not self._engine.eof
        if self._engine.unused_data:
            raise DecompressionError(_NOT_COMPRESSED)


class BrotliDecoder:
    """Decoder of Brotli with brotli or brotlicffi, both from version 1.2 on."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401 - a module without types
        self.incomplete = False
        self._engine, self._error = library.Decompressor(), library.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        more = bool(data)
        while more:
            if data and self._engine.is_finished():
                raise DecompressionError(_NOT_COMPRESSED)
            try:
                piece = self._engine.process(data, output_buffer_limit=PIECE)
            except self._error:
                raise DecompressionError(_NOT_COMPRESSED) from None
            data = b""
            if piece:
                yield piece
            # The engine may hold back output although it has consumed all input.
            more = not self._engine.is_finished() and (
                bool(piece) or not self._engine.can_accept_more_data()
            )
        self.incomplete = not self._engine.is_finished()


class DecoderChain:
    """Decoder of any number of content codings in a row.

    Parameters
    ----------
    decoders
        In the order in which they are applied to the bytes.
    limit
        Maximum output of each coding in bytes; None for no limit.
    """

    def __init__(self, decoders: list[Decoder], limit: int | None) -> None:
        self._decoders, self._limit = decoders, limit
        self._sizes = [0] * (len(decoders) + 1)  # of the body, and of the output of each coding

    @property
    def incomplete(self) -> bool:
        """Whether one of the codings is incomplete."""
        return any(decoder.incomplete for decoder in self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        return self._decode_from(data, 0)

    def _decode_from(self, data: bytes, position: int) -> Iterator[bytes]:
        # Depth first, so that no list of all pieces of one coding exists. The limit holds for each
        # coding, since a small body may expand between two of them.
        if position or not self._decoders:
            self._sizes[position] += len(data)
            if self._limit is not None and self._sizes[position] > self._limit:
                raise BodyTooLargeError
        if position == len(self._decoders):
            yield data
            return
        for piece in self._decoders[position].feed(data):
            yield from self._decode_from(piece, position + 1)


# The libraries by content coding, the preferred one first. Those of zstd are the standard library
# from Python 3.14 on, and its backport, as urllib3 requires them too.
_LIBRARIES = {"br": ("brotli", "brotlicffi"), "zstd": ("compression.zstd", "backports.zstd")}


def _import_library(coding: str) -> Any:  # noqa: ANN401 - a module without types
    """Return the installed library of a content coding; None if there is none."""
    for module in _LIBRARIES[coding]:
        with suppress(ImportError):
            return import_module(module)
    return None


@lru_cache(maxsize=1)
def _find_codings() -> dict[str, Callable[[], Decoder]]:
    """Return the factories of decoders by coding, for the installed libraries."""
    create_gzip = partial(zlib.decompressobj, _GZIP_WINDOW_BITS)
    codings: dict[str, Callable[[], Decoder]] = {
        "gzip": partial(StreamDecoder, create_gzip, zlib.error),
        "deflate": DeflateDecoder,
    }
    brotli, zstd = _import_library("br"), _import_library("zstd")
    # Before version 1.2 the output of a call has no limit; urllib3 requires 1.2 too.
    if hasattr(getattr(brotli, "Decompressor", None), "can_accept_more_data"):
        codings["br"] = partial(BrotliDecoder, brotli)
    if zstd is not None:
        window = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
        create_zstd = partial(zstd.ZstdDecompressor, options=window)
        codings["zstd"] = partial(StreamDecoder, create_zstd, zstd.ZstdError)
    return codings


def accepted_encodings() -> str:
    """Return the value of ``Accept-Encoding``: the supported codings.

    Examples
    --------
    >>> accepted_encodings().split(", ")[:2]
    ['gzip', 'deflate']
    """
    return ", ".join(_find_codings())


def parse_content_encoding(header: str) -> list[str]:
    """Return the codings of a ``Content-Encoding``, in the order they were applied.

    Parameters
    ----------
    header
        The value of the header; empty for none. Spellings of "not compressed" are left out.

    Examples
    --------
    >>> parse_content_encoding("none"), parse_content_encoding("X-GZIP, br")
    ([], ['gzip', 'br'])
    """
    codings = []
    for part in header.lower().split(","):
        name = re.sub(r"^charset\s*=\s*", "", part.partition(";")[0].strip()).strip("\"' ")
        if name not in _IDENTITY_CODINGS:
            codings.append("gzip" if name == "x-gzip" else name)  # RFC 9110, 8.4.1.3
    return codings


def create_decoder(header: str, limit: int | None = None) -> Decoder:
    """Return a decoder for a ``Content-Encoding``.

    Parameters
    ----------
    header
        The value of the header; empty for none.
    limit
        Maximum output of each coding in bytes; None for no limit, as of a stream.

    Raises
    ------
    DecompressionError
        If a coding is unknown, or its library is not installed.
    """
    names, codings = parse_content_encoding(header), _find_codings()
    unknown = next((name for name in names if name not in codings), None)
    if unknown is not None:
        library = {"br": "brotli", "zstd": "backports.zstd"}.get(unknown)
        advice = f" To read it, install {library}." if library else ""
        msg = (
            f"its Content-Encoding is {sanitize_text(repr(unknown), 40)}, which was not asked for; "
            f"{accepted_encodings()} {'were' if len(codings) > 1 else 'was'}.{advice}"
        )
        raise DecompressionError(msg)
    if len(names) > _MAX_CODINGS:
        msg = f"it is compressed {len(names)} times, and at most {_MAX_CODINGS} are undone."
        raise DecompressionError(msg)
    return DecoderChain([codings[name]() for name in reversed(names)], limit)


def decompress_body(parts: Iterable[bytes], encoding: str, limit: int | None) -> bytes:
    """Return a whole body, decompressed.

    Parameters
    ----------
    parts
        The bytes as they were received.
    encoding
        The value of ``Content-Encoding``; empty for none.
    limit
        Maximum output in bytes, None for no limit. It is checked before further parts are read.

    Raises
    ------
    BodyTooLargeError
        If the output is larger.
    DecompressionError
        If a coding is unknown, the body is not compressed with it, or ends early.
    """
    output = BytesIO()
    decoder = create_decoder(encoding, limit)
    for part in parts:
        for piece in decoder.feed(part):
            output.write(piece)
    if decoder.incomplete:
        msg = "it is incomplete. Try again."
        raise TruncatedBodyError(msg)
    return output.getvalue()


MIN_COMPRESSED_BYTES = 1024  # below, a response fits into one packet anyway
# The fastest levels: a response is compressed once and read once. JSON shrinks to a tenth to a
# fifth with each.
_GZIP_LEVEL, _BROTLI_QUALITY, _ZSTD_LEVEL = 1, 3, 1


@lru_cache(maxsize=1)
def _find_compressors() -> Mapping[str, Callable[[bytes], bytes]]:
    """Return the supported codings, the preferred one first; gzip alone comes with Python."""
    brotli, zstd = _import_library("br"), _import_library("zstd")
    compressors: dict[str, Callable[[bytes], bytes]] = {}
    if brotli is not None:
        compressors["br"] = lambda body: brotli.compress(body, quality=_BROTLI_QUALITY)
    compressors["gzip"] = lambda body: zlib.compress(body, _GZIP_LEVEL, _GZIP_WINDOW_BITS)
    # zstd comes last: fetch libraries for Node offer it on Node 20, whose zlib cannot decode it.
    if zstd is not None:
        compressors["zstd"] = lambda body: zstd.compress(body, _ZSTD_LEVEL)
    return compressors


@lru_cache(maxsize=64)
def negotiate_encoding(accept: str | None) -> str | None:
    """Return the content coding of a response; None for no compression.

    Parameters
    ----------
    accept
        The value of ``Accept-Encoding``; None if the client sent none.

    Notes
    -----
    Source: RFC 9110, 12.5.3. Of equal weights br is preferred to gzip, and gzip to zstd; ``*``
    means gzip.
    """
    weights = parse_accept((accept or "").replace("x-gzip", "gzip"))
    if "*" in weights:
        weights.setdefault("gzip", weights["*"])
    usable = [name for name in _find_compressors() if weights.get(name, 0.0) > 0]
    best = max(usable, key=lambda name: weights[name], default=None)
    if best is None or weights.get("identity", 0.0) > weights[best]:
        return None
    return best


def compress_body(body: bytes, coding: str) -> bytes:
    """Return a body, compressed with a coding of :func:`negotiate_encoding`."""
    return _find_compressors()[coding](body)
