"""Compressed responses: negotiation, and round trips through our own decoders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http.compress import _find_compressors, compress_body, negotiate_encoding
from gqlnb.http.decompress import decompress_body

CODINGS = [*_find_compressors()]


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(max_size=5000))
def test_a_compressed_body_is_read_back(coding, body):
    """By the decoders of the client."""
    assert decompress_body([compress_body(body, coding)], coding, None) == body


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
