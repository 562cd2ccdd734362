"""Decompressing bodies within bounds."""

import gzip
import zlib
from functools import partial
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http import decompress
from gqlnb.http.decompress import (
    PIECE,
    BodyTooLargeError,
    BrotliDecoder,
    DecompressionError,
    TruncatedBodyError,
    ZstandardDecoder,
    ZstdDecoder,
    accepted_encodings,
    create_decoder,
    decompress_body,
    parse_content_encoding,
)

BODIES = st.binary(max_size=2000) | st.integers(0, 3 * PIECE).map(lambda size: b"a" * size)
MIB = 2**20


def split(data, sizes):
    """Return data in parts of these sizes, and the rest."""
    parts = []
    for size in sizes:
        parts.append(data[:size])
        data = data[size:]
    return [part for part in [*parts, data] if part]


def compress_raw(body):
    """Return a body in deflate without the header of zlib."""
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(body) + engine.flush()


def compress_brotli(body):
    """Return a body in Brotli, as either library writes it."""
    return pytest.importorskip("brotli").compress(body, quality=5)


def zstd_library():
    """Return the module of zstd that this Python has."""
    try:
        return import_module("compression.zstd")
    except ImportError:
        return pytest.importorskip("backports.zstd")


COMPRESSED = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", compress_raw),
    "br": ("br", compress_brotli),
    "zstd": ("zstd", lambda body: zstd_library().compress(body)),
}
DECODERS = {
    "brotli": (BrotliDecoder, "brotli", compress_brotli),
    "brotlicffi": (BrotliDecoder, "brotlicffi", compress_brotli),
    "zstd": (ZstdDecoder, "backports.zstd", lambda body: zstd_library().compress(body)),
    "zstandard": (ZstandardDecoder, "zstandard", lambda body: zstd_library().compress(body)),
}


@pytest.fixture(params=DECODERS)
def library(request, monkeypatch):
    """Have one library read its coding; return the coding and how to compress."""
    kind, module, compress = DECODERS[request.param]
    found = zstd_library() if kind is ZstdDecoder else pytest.importorskip(module)
    name = "br" if kind is BrotliDecoder else "zstd"
    codings = {**decompress._find_codings(), name: partial(kind, found)}
    monkeypatch.setattr(decompress, "_find_codings", lambda: codings)
    return name, compress


@pytest.mark.parametrize("how", COMPRESSED)
@given(body=BODIES, sizes=st.lists(st.integers(1, 99)))
def test_a_body_is_decompressed_however_it_is_cut(how, body, sizes):
    """In parts of any size; an uncompressed one too."""
    name, compress = COMPRESSED[how]
    assert decompress_body(split(compress(body), sizes), name, None) == body
    assert decompress_body(split(body, sizes), "", len(body)) == body


@given(BODIES, st.lists(st.integers(1, 99)), st.integers(0, 2000))
def test_members_of_gzip_are_joined(body, sizes, at):
    """Two in a row are one body."""
    packed = gzip.compress(body[:at]) + gzip.compress(body[at:])
    assert decompress_body(split(packed, sizes), "gzip", None) == body


def test_each_library_decompresses_in_parts_of_any_size(library):
    """Byte by byte, and whole."""
    name, compress = library
    body = bytes(range(256)) * 3000
    packed = compress(body)
    assert decompress_body([packed], name, len(body)) == body
    assert decompress_body(split(packed, [1] * len(packed)), name, None) == body


def test_each_library_decodes_a_flushed_part_at_once(library):
    """As an event of a stream, whose end is still to come."""
    name, _ = library
    first, rest = flushed(name)
    decoder = create_decoder(name)
    assert b"".join(decoder.feed(first)) == b"data: 1\n\n"
    assert decoder.incomplete
    assert b"".join(decoder.feed(rest)) == b"data: 2\n\n"
    assert not decoder.incomplete


def flushed(name):
    """Return two events, compressed and flushed one after the other."""
    if name == "br":
        engine = pytest.importorskip("brotli").Compressor()
        first = engine.process(b"data: 1\n\n") + engine.flush()
        return first, engine.process(b"data: 2\n\n") + engine.finish()
    engine = zstd_library().ZstdCompressor()
    first = engine.compress(b"data: 1\n\n", engine.FLUSH_BLOCK)
    return first, engine.compress(b"data: 2\n\n", engine.FLUSH_FRAME)


def test_each_library_refuses_other_bytes(library):
    """Other bytes, a truncated body, and bytes after its end."""
    name, compress = library
    packed = compress(b"a body that is long enough to be cut")
    with pytest.raises(DecompressionError, match="not compressed as it says"):
        decompress_body([b"\xff\xfe{}{}{}{}{}{}{}"], name, None)
    with pytest.raises(TruncatedBodyError, match="breaks off"):
        decompress_body([packed[:-1]], name, None)
    with pytest.raises(DecompressionError, match="not compressed as it says"):
        decompress_body([packed, b"<html>"], name, None)


def test_each_library_stops_at_the_limit(library):
    """A bomb of 200 MB ends at the first piece beyond the limit, and no piece is large."""
    name, compress = library
    packed = compress(b" " * 200 * MIB)
    assert len(packed) < 20_000
    sizes = []
    pieces = create_decoder(name, 4 * MIB).feed(packed)
    with pytest.raises(BodyTooLargeError):
        sizes.extend(len(piece) for piece in pieces)
    assert sum(sizes) <= 4 * MIB
    assert max(sizes) <= 2 * MIB


@given(BODIES.filter(len), st.lists(st.integers(1, 99)))
def test_one_byte_beyond_the_limit_is_too_many(body, sizes):
    """Compressed or not."""
    for data, encoding in (
        (body, ""),
        (gzip.compress(body), "gzip"),
        (compress_raw(body), "deflate"),
    ):
        assert decompress_body(split(data, sizes), encoding, len(body) + 99) == body
        with pytest.raises(BodyTooLargeError):
            decompress_body(split(data, sizes), encoding, len(body) - 1)


@pytest.mark.parametrize("how", ["gzip", "deflate", "raw deflate"])
def test_a_body_cut_anywhere_breaks_off(how):
    """After a whole member of gzip too."""
    name, compress = COMPRESSED[how]
    packed = compress(b"a body")
    for end in range(1, len(packed)):
        with pytest.raises(TruncatedBodyError, match="breaks off"):
            decompress_body([packed[:end]], name, None)
    assert decompress_body([], name, None) == b""
    for end in range(1, len(packed)) if name == "gzip" else ():
        with pytest.raises(TruncatedBodyError, match="breaks off"):
            decompress_body([packed + packed[:end]], name, None)


@pytest.mark.parametrize("how", ["deflate", "raw deflate"])
@pytest.mark.parametrize("cut", [0, 1, 5])
def test_bytes_after_deflate_are_refused(how, cut):
    """In the same part or in the next."""
    data = COMPRESSED[how][1](b"{}") + b"<html>"
    with pytest.raises(DecompressionError, match="not compressed as it says"):
        decompress_body(split(data, [len(data) - cut]), "deflate", None)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "none",
        "None",
        "utf-8",
        "UTF8",
        "identity",
        " Identity , none",
        "binary",
        "chunked",
        "charset=utf-8",
        '"utf-8"',
        "identity;q=1",
        "us-ascii",
        "application/json",
        ", ,",
    ],
)
def test_harmless_spellings_mean_no_compression(header):
    """Servers and proxies name character sets and transfer codings too."""
    assert parse_content_encoding(header) == []
    assert decompress_body([b"{}"], header, 2) == b"{}"


def test_several_codings_are_undone_in_a_row():
    """The last one that was applied first, whatever stands between."""
    body = b"x" * 1000
    packed = zlib.compress(gzip.compress(body))
    for header in ("gzip, deflate", "x-gzip,deflate", "gzip, identity, utf-8, deflate"):
        assert decompress_body(split(packed, [7, 1, 20]), header, 1000) == body
    with pytest.raises(DecompressionError, match="compressed 6 times, and at most 5"):
        decompress_body([packed], ", ".join(["gzip"] * 6), None)


def test_every_coding_in_a_row_is_bounded():
    """What lies between two codings counts too."""
    packed = gzip.compress(gzip.compress(b"", 0) * 100_000)
    with pytest.raises(BodyTooLargeError):
        decompress_body([packed], "gzip, gzip", MIB)


@pytest.mark.parametrize("header", ["compress", "gzip, rot13", "dcb", "pack200-gzip"])
def test_an_unknown_coding_is_named(header):
    """With those that were asked for."""
    name = header.split(", ")[-1]
    with pytest.raises(DecompressionError, match=f"'{name}', which was not asked for; gzip, def"):
        decompress_body([b"x"], header, None)


def test_codings_without_a_library_are_neither_asked_for_nor_read(monkeypatch):
    """The error says what to install; so it is with a library that has no bound."""

    class Unbounded:
        class Decompressor:
            """As of brotli before 1.2."""

    monkeypatch.setattr(
        decompress, "_try_import", lambda name: Unbounded if "brotli" in name else None
    )
    found = decompress._find_codings.__wrapped__()
    monkeypatch.setattr(decompress, "_find_codings", lambda: found)
    assert accepted_encodings() == "gzip, deflate"
    for name, wanted in (("br", "brotli"), ("zstd", "zstandard")):
        with pytest.raises(DecompressionError, match=f"'{name}'.*install {wanted}"):
            decompress_body([b"x"], name, None)


def test_the_libraries_that_are_installed_are_asked_for():
    """Those of the test requirements are."""
    pytest.importorskip("brotli")
    zstd_library()
    assert accepted_encodings() == "gzip, deflate, br, zstd"


def test_nothing_is_decompressed_before_it_is_wanted():
    """A bomb of a hundred megabytes ends at the first piece beyond the limit."""
    taken = []

    def parts():
        packed = gzip.compress(b" " * 100 * MIB)
        for start in range(0, len(packed), 100):
            taken.append(start)
            yield packed[start : start + 100]

    with pytest.raises(BodyTooLargeError):
        decompress_body(parts(), "gzip", MIB)
    assert len(taken) < 40
