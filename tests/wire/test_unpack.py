"""Unpacking bodies within bounds."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.wire.unpack import PIECE, BodyTooLargeError, CutError, PackedError, unpacked

BODIES = st.binary(max_size=2000) | st.integers(0, 3 * PIECE).map(lambda size: b"a" * size)


def split(data, sizes):
    """Return data in parts of these sizes, and the rest."""
    parts = []
    for size in sizes:
        parts.append(data[:size])
        data = data[size:]
    return [part for part in [*parts, data] if part]


@given(BODIES, st.lists(st.integers(1, 99)), st.integers(0, 2000))
def test_what_was_packed_is_unpacked_however_it_is_cut(body, sizes, at):
    """In one member or in two, in parts of any size."""
    packed = gzip.compress(body[:at]) + gzip.compress(body[at:])
    assert unpacked(split(packed, sizes), "gzip", None) == body
    assert unpacked(split(body, sizes), "", len(body)) == body


@given(BODIES.filter(len), st.lists(st.integers(1, 99)))
def test_one_byte_too_many_is_too_many(body, sizes):
    """Packed or not."""
    for data, encoding in ((body, ""), (gzip.compress(body), "gzip")):
        assert unpacked(split(data, sizes), encoding, len(body)) == body
        with pytest.raises(BodyTooLargeError):
            unpacked(split(data, sizes), encoding, len(body) - 1)


def test_a_body_cut_anywhere_breaks_off():
    """Between two members too, where nothing would be missed."""
    packed = gzip.compress(b"a body")
    for end in range(1, len(packed)):
        with pytest.raises(CutError, match="breaks off"):
            unpacked([packed[:end]], "gzip", None)
        with pytest.raises(CutError, match="breaks off"):
            unpacked([packed + packed[:end]], "gzip", None)
    assert unpacked([], "gzip", None) == b""


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "compress"])
def test_what_was_not_asked_for_is_not_unpacked(encoding):
    """Gzip was."""
    with pytest.raises(PackedError, match="gzip was"):
        unpacked([b"x"], encoding, None)


def test_nothing_is_unpacked_before_it_is_wanted():
    """A bomb of a hundred megabytes ends at the first piece beyond the limit."""
    taken = []

    def parts():
        packed = gzip.compress(b" " * 100 * 2**20)
        for start in range(0, len(packed), 100):
            taken.append(start)
            yield packed[start : start + 100]

    with pytest.raises(BodyTooLargeError):
        unpacked(parts(), "gzip", 2**20)
    assert len(taken) < 40
