"""Streams of parts: read however they are cut and whoever writes them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http.content_encoding import BodyTooLargeError
from gqlnb.http.incremental import MultipartReader, parse_boundary

HEAD = b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 7\r\n"
BODIES = [b'{"a":1}', b'{"b":\n  "---"\n}', '{"ü":"\\n---"}'.encode()]
WHOLE = b"".join(b"\r\n---\r\n" + HEAD + b"\r\n" + body for body in BODIES) + b"\r\n-----\r\n"


def read(pieces: list[bytes], boundary: str = "-") -> tuple[list[bytes], bool]:
    """Return the bodies in some bytes, and whether they have ended."""
    parts = MultipartReader(boundary)
    found = [body for piece in pieces for body in parts.feed(piece)]
    return found, parts.ended


@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_parts_do_not_depend_on_the_chunks(cuts):
    """Even if a delimiter is split."""
    at = [0, *sorted(cuts), len(WHOLE)]
    pieces = [WHOLE[begin:end] for begin, end in pairwise(at)]
    assert read(pieces) == (BODIES, True)


@pytest.mark.parametrize(
    "stream",
    [
        b"--x\r\n\r\n1\r\n--x\r\n\r\n2\r\n--x--",
        b"--x\n\n1\n--x\nA: b\n\n2\n--x--\n",
        b"preamble\r\n--x  \r\n\r\n1\r\n--x\r\n\r\n2\r\n--x--\r\nepilogue\r\n--x\r\n\r\n3\r\n--x",
        b"\r\n--x\r\nA: b\r\n\r\n\r\n--x\r\n\r\n1\r\n--x\r\n\r\n2\r\n--x--",  # an empty one
    ],
)
def test_every_variant_is_parsed(stream):
    """Without headers, with bare line feeds, with a preamble and with empty parts."""
    assert read([stream], "x") == ([b"1", b"2"], True)


def test_a_part_is_complete_at_its_delimiter():
    """The rest of the delimiter line may arrive much later."""
    parts = MultipartReader("-")
    assert list(parts.feed(b"---\r\n\r\n1\r\n---")) == [b"1"]
    assert not parts.ended
    assert not list(parts.feed(b"-"))
    assert not parts.ended
    assert not list(parts.feed(b"-"))
    assert parts.ended


def test_a_body_over_the_limit_is_rejected():
    """The limit covers all parts together."""
    parts = MultipartReader("-", most=30)
    assert list(parts.feed(b"---\r\n\r\n1\r\n---")) == [b"1"]
    with pytest.raises(BodyTooLargeError):
        list(parts.feed(b"\r\n\r\n" + b"1" * 20))


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        ("multipart/mixed; boundary=abc", "abc"),
        ('Multipart/Mixed;deferSpec=20220824;boundary="-"', "-"),
        ('multipart/mixed; boundary="a;b"; charset=utf-8', "a;b"),
        ("multipart/mixed", "-"),
        ("multipart/form-data; boundary=abc", None),
        ("application/json", None),
        ("", None),
    ],
)
def test_the_boundary_is_read_from_the_content_type(content_type, boundary):
    """For multipart/mixed only."""
    assert parse_boundary(content_type) == boundary
