"""Cursors that are offsets, so that the pages after the next one are known, too.

Relay's array connections count from 0 and say ``arrayconnection:N`` in base64, GitHub's searches
``format_cursor:N`` counted from 1, others the number alone. That a cursor is one shows where it fits the
number of items that came; it stays a guess, which the pages themselves confirm or not.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OffsetFormat", "are_offsets", "detect_offset_format"]

OFFSET_PATTERN = re.compile(r"(|cursor:|arrayconnection:|offset:)(0|[1-9][0-9]{0,14})")
# GitHub: "only the first 1,000 search results are available", whatever their count says.
REACHABLE_ITEMS = {"cursor:": 1000}


class OffsetFormat(NamedTuple):
    """A way to write offsets as cursors.

    Attributes
    ----------
    prefix
        What stands before the number.
    shift
        The number of a cursor less the number of items before it: 0, or -1.
    is_base64
        Whether it is in base64.
    """

    prefix: str
    shift: int
    is_base64: bool

    @property
    def max_items(self) -> int | None:
        """How many items can be reached at all; None for any number."""
        return REACHABLE_ITEMS.get(self.prefix)

    def format_cursor(self, count: int) -> str:
        """Return the cursor behind so many items."""
        text = f"{self.prefix}{count + self.shift}"
        return b64encode(text.encode()).decode() if self.is_base64 else text


def detect_offset_format(cursor: object, count: int) -> OffsetFormat | None:
    """Return how a cursor is written that stands behind so many items; None if it is no offset.

    Examples
    --------
    >>> offset_of("Y3Vyc29yOjEwMA==", 100)
    Offset(prefix='cursor:', shift=0, coded=True)
    >>> offset_of("20", 10)
    """
    if not isinstance(cursor, str) or not count:
        return None
    for coded in (False, True):
        text = decode_base64(cursor) if coded else cursor
        match = OFFSET_PATTERN.fullmatch(text)
        if match is not None and int(match[2]) - count in {0, -1}:
            made = OffsetFormat(match[1], int(match[2]) - count, coded)
            return made if made.format_cursor(count) == cursor else None
    return None


def are_offsets(cursors: Sequence[object]) -> bool:
    """Return whether the cursors of the items of a page look like offsets.

    Examples
    --------
    >>> are_offsets(["41", "42", "43"]), are_offsets(["41", "57"])
    (True, False)
    """
    numbers: list[int] = []
    for cursor in cursors:
        texts = (cursor, decode_base64(cursor)) if isinstance(cursor, str) else ()
        match = next((m for text in texts if (m := OFFSET_PATTERN.fullmatch(text))), None)
        if match is None or (numbers and int(match[2]) != numbers[-1] + 1):
            return False
        numbers.append(int(match[2]))
    return bool(numbers)


def decode_base64(cursor: str) -> str:
    """Return what a cursor says in base64; nothing if it is none."""
    try:
        return b64decode(cursor, validate=True).decode("ascii")
    except (Error, ValueError):
        return ""
