"""Cursors that are offsets are recognized by the number of items before them."""

from __future__ import annotations

from base64 import b64encode

import pytest

from gqlnb.client.paging.offset_cursors import detect_offset_format


def coded(text: str) -> str:
    """Return a text in base64."""
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("cursor", "count", "following"),
    [
        ("10", 10, "25"),
        ("9", 10, "24"),
        (coded("10"), 10, coded("25")),
        (coded("cursor:100"), 100, coded("cursor:115")),
        (coded("arrayconnection:4"), 5, coded("arrayconnection:19")),
        ("offset:5", 5, "offset:20"),
    ],
)
def test_the_cursor_of_later_items_is_computed(cursor: str, count: int, following: str) -> None:
    """It has the same format."""
    offset = detect_offset_format(cursor, count)
    assert offset is not None
    assert offset.format_cursor(count) == cursor
    assert offset.format_cursor(count + 15) == following


@pytest.mark.parametrize(
    ("cursor", "count"),
    [
        *(
            ("11", 10),
            ("8", 10),
            ("010", 10),
            ("+10", 10),
            ("10 ", 10),
            ("\u0661\u0660", 10),
            ("", 0),
        ),
        *((None, 10), (10, 10), ("item:10", 10), ("cursor:", 10), ("-1", 0), ("0", 0)),
        (coded("cursor:v2:10"), 10),
        (coded("cursor:100").rstrip("="), 100),  # another way to write it: not ours to guess
        ("9" * 400, 10),
    ],
)
def test_other_cursors_are_not_offsets(cursor: object, count: int) -> None:
    """A number that does not fit may be an identifier or a time."""
    assert detect_offset_format(cursor, count) is None


def test_github_searches_end_at_one_thousand_items() -> None:
    """Also if their count is higher."""
    offset, other = detect_offset_format(coded("cursor:100"), 100), detect_offset_format("100", 100)
    assert offset is not None
    assert other is not None
    assert (offset.max_items, other.max_items) == (1000, None)
