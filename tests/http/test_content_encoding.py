"""Decompression of bodies within bounds, and compression."""

import gzip
import sys
import zlib
from functools import partial
from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http import content_encoding
from gqlnb.http.content_encoding import (
    PIECE,
    BodyTooLargeError,
    BrotliDecoder,
    DecompressionError,
    TruncatedBodyError,
    _find_compressors,
    accepted_encodings,
    compress_body,
    create_decoder,
    decompress_body,
    negotiate_encoding,
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
LIBRARIES = {**COMPRESSED, "brotlicffi": COMPRESSED["br"]}


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    """Have one library read its coding; return the coding and how to compress."""
    name, compress = LIBRARIES[request.param]
    if name == "br":
        found = pytest.importorskip("brotli" if request.param == "br" else request.param)
        codings = {**content_encoding._find_codings(), name: partial(BrotliDecoder, found)}
        monkeypatch.setattr(content_encoding, "_find_codings", lambda: codings)
    elif name == "zstd":
        zstd_library()
    return name, compress


@pytest.mark.parametrize("how", COMPRESSED)
@given(body=BODIES, sizes=st.lists(st.integers(1, 99)))
def test_a_body_is_decompressed_in_chunks_of_any_size(how, body, sizes):
    """An uncompressed one is returned unchanged."""
    name, compress = COMPRESSED[how]
    assert decompress_body(split(compress(body), sizes), name, None) == body
    assert decompress_body(split(body, sizes), "", len(body)) == body


@given(BODIES, st.lists(st.integers(1, 99)), st.integers(0, 2000))
def test_gzip_members_are_joined(body, sizes, at):
    """Two consecutive members form one body."""
    packed = gzip.compress(body[:at]) + gzip.compress(body[at:])
    assert decompress_body(split(packed, sizes), "gzip", None) == body


@pytest.mark.parametrize("name", ["br", "zstd"])
def test_a_flushed_chunk_is_decoded_immediately(name):
    """For events of a stream that is still open."""
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


def test_each_library_reads_chunks_and_rejects_other_bytes(library):
    """Byte by byte; truncated at any position, of another format, or with trailing bytes."""
    name, compress = library
    body = b"a body that is long enough to be cut"
    packed = compress(body)
    assert decompress_body([packed[at : at + 1] for at in range(len(packed))], name, None) == body
    for end in range(1, len(packed)):
        with pytest.raises(TruncatedBodyError, match="it is incomplete"):
            decompress_body([packed[:end]], name, None)
    wrong = [[b"\xff\xfe{}{}{}{}{}{}{}"], [packed, b"<html>"], [packed + b"<html>"]]
    for chunks in wrong if name != "gzip" else wrong[:1]:
        with pytest.raises(DecompressionError, match="data do not match the Content-Encoding"):
            decompress_body(chunks, name, None)


def test_each_library_stops_at_the_limit(library):
    """A 20 MB bomb stops at the first chunk over the limit, and each chunk is small."""
    name, compress = library
    packed = compress(b" " * 20 * MIB)
    assert len(packed) < 25_000
    sizes = []
    pieces = create_decoder(name, 4 * MIB).feed(packed)
    with pytest.raises(BodyTooLargeError):
        sizes.extend(len(piece) for piece in pieces)
    assert sum(sizes) <= 4 * MIB
    assert max(sizes) <= 2 * MIB


@given(BODIES.filter(len), st.lists(st.integers(1, 99)))
def test_one_byte_over_the_limit_is_an_error(body, sizes):
    """Compressed or not."""
    for data, encoding in (
        (body, ""),
        (gzip.compress(body), "gzip"),
        (compress_raw(body), "deflate"),
    ):
        assert decompress_body(split(data, sizes), encoding, len(body) + 99) == body
        with pytest.raises(BodyTooLargeError):
            decompress_body(split(data, sizes), encoding, len(body) - 1)


def test_a_truncated_second_member_of_gzip_is_an_error():
    """At any position; an empty body is none."""
    packed = gzip.compress(b"a body")
    for end in range(1, len(packed)):
        with pytest.raises(TruncatedBodyError, match="it is incomplete"):
            decompress_body([packed + packed[:end]], "gzip", None)
    assert decompress_body([], "gzip", None) == b""


@pytest.mark.parametrize(
    "header", [" Identity , none", '"utf-8"', "identity;q=1", "us-ascii", "application/json", ", ,"]
)
def test_harmless_codings_mean_no_compression(header):
    """Some servers send character sets here; tests/client/test_encodings.py has the usual ones."""
    assert parse_content_encoding(header) == []
    assert decompress_body([b"{}"], header, 2) == b"{}"


def test_several_codings_are_undone_in_reverse_order():
    """The last applied coding is undone first."""
    body = b"x" * 1000
    packed = zlib.compress(gzip.compress(body))
    for header in ("gzip, deflate", "x-gzip,deflate", "gzip, identity, utf-8, deflate"):
        assert decompress_body(split(packed, [7, 1, 20]), header, 1000) == body
    with pytest.raises(DecompressionError, match="compressed 6 times, and at most 5"):
        decompress_body([packed], ", ".join(["gzip"] * 6), None)


def test_every_intermediate_coding_is_limited():
    """Intermediate output counts towards the limit."""
    packed = gzip.compress(gzip.compress(b"", 0) * 100_000)
    with pytest.raises(BodyTooLargeError):
        decompress_body([packed], "gzip, gzip", MIB)


@pytest.mark.parametrize("header", ["compress", "gzip, rot13", "dcb", "pack200-gzip"])
def test_an_unknown_coding_is_named_in_the_error(header):
    """With the codings that were requested."""
    name = header.split(", ")[-1]
    with pytest.raises(DecompressionError, match=f"'{name}', which was not asked for; gzip, def"):
        decompress_body([b"x"], header, None)


def test_codings_without_a_library_are_not_supported(monkeypatch):
    """The error names the package to install, also for a library without a size limit."""

    class Unbounded:
        class Decompressor:
            """As of brotli before 1.2."""

    monkeypatch.setattr(
        content_encoding, "_import_library", {"br": Unbounded, "zstd": None}.__getitem__
    )
    found = content_encoding._find_codings.__wrapped__()
    monkeypatch.setattr(content_encoding, "_find_codings", lambda: found)
    assert accepted_encodings() == "gzip, deflate"
    for name, wanted in (("br", "brotli"), ("zstd", "backports.zstd")):
        with pytest.raises(DecompressionError, match=f"'{name}'.*install {wanted}"):
            decompress_body([b"x"], name, None)


def test_accept_encoding_lists_the_installed_libraries():
    """Those of the test requirements are."""
    pytest.importorskip("brotli")
    zstd_library()
    assert accepted_encodings() == "gzip, deflate, br, zstd"


@pytest.mark.parametrize("module", ["compression.zstd", "backports.zstd"])
def test_each_zstd_module_is_found_without_the_others(monkeypatch, module):
    """Those of Python 3.14 and of its backport."""
    zstd = zstd_library()
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, zstd if name == module else None)
    monkeypatch.setitem(sys.modules, "compression", ModuleType("compression"))
    monkeypatch.setattr(
        content_encoding, "_find_codings", content_encoding._find_codings.__wrapped__
    )
    body = b"body" * 100_000
    assert "zstd" in accepted_encodings()
    assert decompress_body(split(zstd.compress(body), [7, 20]), "zstd", len(body)) == body
    with pytest.raises(BodyTooLargeError):
        decompress_body([zstd.compress(body)], "zstd", len(body) - 1)


# -- compression

CODINGS = [*_find_compressors()]


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(max_size=5000))
def test_a_compressed_body_is_read_back(coding, body):
    """By the decoders of the client."""
    assert decompress_body([compress_body(body, coding)], coding, None) == body


def test_zstd_is_sent_only_if_it_is_preferred(monkeypatch):
    """Some clients offer it, and cannot decode it."""
    modules = {name: ModuleType(name) for name in ("compression.zstd", "backports.zstd", "brotli")}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    _find_compressors.cache_clear()
    try:
        assert [*_find_compressors()] == ["br", "gzip", "zstd"]
        for accept, coding in {
            "zstd, gzip": "gzip",
            "gzip, deflate, br, zstd": "br",
            "zstd": "zstd",
            "zstd, gzip;q=0.9": "zstd",
            "zstd;q=0.5, *": "gzip",
        }.items():
            assert negotiate_encoding.__wrapped__(accept) == coding
    finally:
        _find_compressors.cache_clear()


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        (None, None),
        ("", None),
        ("identity", None),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP;q=0.5, deflate", "gzip"),
        ("deflate", None),
        ("*", "gzip"),
        ("*;q=0", None),
        ("gzip;q=0", None),
        ("gzip;q=0, *", None),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=nope", None),
        ("gzip, br, zstd", CODINGS[0]),
        ("br;q=0.1, zstd;q=0.1, gzip", "gzip"),
    ],
)
def test_the_coding_is_that_the_client_prefers(accept, coding):
    """RFC 9110, 12.5.3."""
    assert negotiate_encoding(accept) == coding
