"""Decompress bodies by their ``Content-Encoding``, with a bound on the output.

gzip and deflate come with Python; br and zstd are read where a library is installed, and only
then asked for. Every decoder returns its output in pieces of bounded size, since a kilobyte of
Brotli can hold a hundred megabytes.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "BodyTooLargeError",
    "Decoder",
    "DecompressionError",
    "TruncatedBodyError",
    "accepted_encodings",
    "create_decoder",
    "decompress_body",
    "parse_content_encoding",
]

PIECE = 1 << 18  # bytes of output at a time
WITH_GZIP_HEADER = 31  # the window of zlib, plus 16 for the gzip format
MAX_CODINGS = 5  # in a row; curl and urllib3 stop there too
# RFC 9659: a zstd frame in a Content-Encoding needs a window of at most 8 MiB.
ZSTD_WINDOW_LOG = 23
# A zstd block takes at least 4 bytes and holds at most 128 KiB, so a slice holds at most 2 MiB.
ZSTD_SLICE = 64
# RFC 9110 knows "identity" alone. Servers and proxies also name character sets, transfer codings
# and media types here: GraphQL Yoga sends "none" with its event streams.
IDENTITY_CODINGS = frozenset(
    {
        "",
        "7bit",
        "8bit",
        "amz-1.0",
        "application/json",
        "ascii",
        "aws-chunked",
        "binary",
        "chunked",
        "identity",
        "iso-8859-1",
        "json",
        "none",
        "null",
        "plain",
        "text",
        "us-ascii",
        "utf-8",
        "utf8",
        "utf_8",
    }
)
ZLIB_HEADER = 2  # bytes


class BodyTooLargeError(Exception):
    """A body is larger than allowed."""


class DecompressionError(Exception):
    """A body cannot be decompressed; its text is the reason, as the end of a sentence."""


class TruncatedBodyError(DecompressionError):
    """A compressed body ends early."""


class Decoder(Protocol):
    """Decompresses one content coding."""

    @property
    def incomplete(self) -> bool:
        """Whether the input so far ends in the middle of a compressed body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes, and yield the output they lead to in pieces of bounded size.

        Raises
        ------
        DecompressionError
            If the bytes are not compressed with this coding.
        """


class IdentityDecoder:
    """Passes bytes on."""

    incomplete = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes as they are."""
        if data:
            yield data


class GzipDecoder:
    """Decompresses one or more members of gzip."""

    def __init__(self) -> None:
        self.incomplete = False
        self._engine = zlib.decompressobj(WITH_GZIP_HEADER)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        while data:
            self.incomplete = True
            yield from inflate(self._engine, data)
            data = self._engine.unused_data if self._engine.eof else b""
            if self._engine.eof:
                self._engine, self.incomplete = zlib.decompressobj(WITH_GZIP_HEADER), False


class DeflateDecoder:
    """Decompresses deflate: in the zlib format, as RFC 9110 says, or raw, as some servers send."""

    def __init__(self) -> None:
        self.incomplete = False
        self._head = b""
        self._engine: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        if self._engine is None:
            data = self._head + data
            self.incomplete = bool(data)
            if len(data) < ZLIB_HEADER:
                self._head = data
                return
            # RFC 1950: the method is 8, and the first two bytes are a multiple of 31.
            is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._engine = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        elif self._engine.eof and data:
            raise_mislabelled()
        yield from inflate(self._engine, data)
        self.incomplete = not self._engine.eof
        if self._engine.unused_data:
            raise_mislabelled()


class BrotliDecoder:
    """Decompresses Brotli with brotli or brotlicffi, both from version 1.2 on."""

    def __init__(self, library: Any) -> None:
        self.incomplete = False
        self._engine, self._error = library.Decompressor(), library.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        more = bool(data)
        while more:
            piece = None
            if not (data and self._engine.is_finished()):
                with suppress(self._error):
                    piece = self._engine.process(data, output_buffer_limit=PIECE)
            if piece is None:
                raise_mislabelled()
            data = b""
            if piece:
                yield piece
            # Output may be held back although all of the input was taken.
            more = not self._engine.is_finished() and (
                bool(piece) or not self._engine.can_accept_more_data()
            )
        self.incomplete = not self._engine.is_finished()


class ZstdDecoder:
    """Decompresses one or more frames of zstd with the standard library or its backport."""

    def __init__(self, library: Any) -> None:
        self.incomplete = False
        self._library = library
        self._engine = self._new_engine()

    def _new_engine(self) -> Any:
        window = {self._library.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        return self._library.ZstdDecompressor(options=window)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        while data or not (self._engine.needs_input or self._engine.eof):
            piece = None
            with suppress(self._library.ZstdError):
                piece = self._engine.decompress(data, PIECE)
            if piece is None:
                raise_mislabelled()
            data = b""
            if piece:
                yield piece
            self.incomplete = not self._engine.eof
            if self._engine.eof:
                data = self._engine.unused_data
                self._engine = self._new_engine()


class ZstandardDecoder:
    """Decompresses one or more frames of zstd with the library zstandard.

    Its decompressor has no bound on the output of a call, so the input is cut into slices.
    """

    def __init__(self, library: Any) -> None:
        self.incomplete = False
        self._library = library
        self._engine = self._new_engine()

    def _new_engine(self) -> Any:
        made = self._library.ZstdDecompressor(max_window_size=1 << ZSTD_WINDOW_LOG)
        return made.decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        for start in range(0, len(data), ZSTD_SLICE):
            left = data[start : start + ZSTD_SLICE]
            while left:
                piece = None
                with suppress(self._library.ZstdError):
                    piece = self._engine.decompress(left)
                if piece is None:
                    raise_mislabelled()
                if piece:
                    yield piece
                self.incomplete, left = not self._engine.eof, b""
                if self._engine.eof:
                    left = self._engine.unused_data
                    self._engine = self._new_engine()


class DecoderChain:
    """Undoes several content codings in a row.

    Parameters
    ----------
    decoders
        In the order in which they are applied to the bytes.
    limit
        Bytes that a coding may give in all before the next one; None for any number.
    """

    def __init__(self, decoders: list[Decoder], limit: int | None) -> None:
        self._decoders, self._limit = decoders, limit
        self._sizes = [0] * len(decoders)

    @property
    def incomplete(self) -> bool:
        """Whether one of the codings is incomplete."""
        return any(each.incomplete for each in self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decompressed pieces."""
        return self._decode_from(data, 0)

    def _decode_from(self, data: bytes, place: int) -> Iterator[bytes]:
        if place == len(self._decoders):
            yield data
            return
        for piece in self._decoders[place].feed(data):
            self._sizes[place] += len(piece)
            if self._limit is not None and self._sizes[place] > self._limit:
                raise BodyTooLargeError
            yield from self._decode_from(piece, place + 1)


def raise_mislabelled() -> NoReturn:
    """Raise the error for a body that is not compressed as its head says.

    Raises
    ------
    DecompressionError
        Always.
    """
    msg = "it is not compressed as it says."
    raise DecompressionError(msg)


def inflate(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield the output of zlib for `data`, up to the end of its stream."""
    while True:
        piece = None
        with suppress(zlib.error):
            piece = engine.decompress(data, PIECE)
        if piece is None:
            raise_mislabelled()
        if piece:
            yield piece
        data = engine.unconsumed_tail
        if engine.eof or (not data and len(piece or b"") < PIECE):
            return


@lru_cache(maxsize=1)
def _find_codings() -> dict[str, Callable[[], Decoder]]:
    """Return how to make a decoder for each coding that can be read here."""
    found: dict[str, Callable[[], Decoder]] = {"gzip": GzipDecoder, "deflate": DeflateDecoder}
    for module in ("brotli", "brotlicffi"):
        library = _try_import(module)
        # Before version 1.2 the output of a call has no bound; urllib3 asks for 1.2 too.
        if hasattr(getattr(library, "Decompressor", None), "can_accept_more_data"):
            found["br"] = partial(BrotliDecoder, library)
            break
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        library = _try_import(module)
        if library is not None:
            made: Any = ZstandardDecoder if module == "zstandard" else ZstdDecoder
            found["zstd"] = partial(made, library)
            break
    return found


def _try_import(module: str) -> Any:
    """Return a module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def accepted_encodings() -> str:
    """Return the value of ``Accept-Encoding``: the codings that can be read here.

    Examples
    --------
    >>> accepted_encodings().split(", ")[:2]
    ['gzip', 'deflate']
    """
    return ", ".join(_find_codings())


def parse_content_encoding(header: str) -> list[str]:
    """Return the codings that a ``Content-Encoding`` names, in the order they were applied.

    Parameters
    ----------
    header
        The value of the header; empty for none. Spellings of "not compressed" are left out.

    Examples
    --------
    >>> parse_content_encoding("none"), parse_content_encoding("X-GZIP, br")
    ([], ['gzip', 'br'])
    """
    found = []
    for part in header.lower().split(","):
        name = re.sub(r"^charset\s*=\s*", "", part.partition(";")[0].strip()).strip("\"' ")
        if name not in IDENTITY_CODINGS:
            found.append("gzip" if name == "x-gzip" else name)  # RFC 9110, 8.4.1.3
    return found


def create_decoder(header: str, limit: int | None = None) -> Decoder:
    """Return a decoder for a ``Content-Encoding``.

    Parameters
    ----------
    header
        The value of the header; empty for none.
    limit
        Bytes that each coding may give in all; None for any number, as of a stream.

    Raises
    ------
    DecompressionError
        If a coding is unknown, or its library is not installed.
    """
    names, codings = parse_content_encoding(header), _find_codings()
    unknown = next((name for name in names if name not in codings), None)
    if unknown is not None:
        library = {"br": "brotli", "zstd": "zstandard"}.get(unknown)
        advice = f" To read it, install {library}." if library else ""
        msg = (
            f"its Content-Encoding is {sanitize_text(repr(unknown), 40)}, which was not asked for; "
            f"{accepted_encodings()} {'were' if len(codings) > 1 else 'was'}.{advice}"
        )
        raise DecompressionError(msg)
    if len(names) > MAX_CODINGS:
        msg = f"it is compressed {len(names)} times, and at most {MAX_CODINGS} are undone."
        raise DecompressionError(msg)
    return DecoderChain([codings[name]() for name in reversed(names)] or [IdentityDecoder()], limit)


def decompress_body(parts: Iterable[bytes], encoding: str, limit: int | None) -> bytes:
    """Return a whole body, decompressed.

    Parameters
    ----------
    parts
        The bytes as they were sent.
    encoding
        The value of ``Content-Encoding``; empty for none.
    limit
        Most bytes of output, None for any number. They are counted while they come.

    Raises
    ------
    BodyTooLargeError
        If there are more.
    DecompressionError
        If a coding is unknown, the body is not compressed with it, or ends early.
    """
    decoder, made = create_decoder(encoding, limit), BytesIO()
    for part in parts:
        for piece in decoder.feed(part):
            made.write(piece)
    if decoder.incomplete:
        msg = "it breaks off before its end. Try again."
        raise TruncatedBodyError(msg)
    return made.getvalue()
