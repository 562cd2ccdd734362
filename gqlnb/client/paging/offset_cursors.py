"""Cursors that are offsets, from which the cursors of all further pages can be computed.

Relay's array connections write ``arrayconnection:N`` in base64, counted from 0; GitHub's searches
write ``cursor:N``, counted from 1; other servers write only the number. A cursor is taken for an
offset if it fits the number of items so far. That remains a guess: a page is used only if the page
before it ends with the cursor that was computed.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFSET_PATTERN = re.compile(r"(|cursor:|arrayconnection:|offset:)(0|[1-9][0-9]{0,14})")
# GitHub: "only the first 1,000 search results are available", also if their count is higher.
REACHABLE_ITEMS = {"cursor:": 1000}


class OffsetFormat(NamedTuple):
    """The format of cursors that are offsets.

    Attributes
    ----------
    prefix
        Text before the number.
    shift
        Number in a cursor minus the number of items up to it: 0 or -1.
    is_base64
        Whether the text is encoded in base64.
    """

    prefix: str
    shift: int
    is_base64: bool

    @property
    def max_items(self) -> int | None:
        """Number of items that can be fetched; None for no limit."""
        return REACHABLE_ITEMS.get(self.prefix)

    def format_cursor(self, count: int) -> str:
        """Return the cursor after `count` items."""
        text = f"{self.prefix}{count + self.shift}"
        return b64encode(text.encode()).decode() if self.is_base64 else text


def detect_offset_format(cursor: object, count: int) -> OffsetFormat | None:
    """Return the format of the cursor after `count` items; None if it is not an offset.

    Examples
    --------
    >>> detect_offset_format("Y3Vyc29yOjEwMA==", 100)
    OffsetFormat(prefix='cursor:', shift=0, is_base64=True)
    >>> detect_offset_format("20", 10)
    """
    if not isinstance(cursor, str) or not count:
        return None
    for is_base64 in (False, True):
        match = OFFSET_PATTERN.fullmatch(decode_base64(cursor) if is_base64 else cursor)
        if match is not None and int(match[2]) - count in {0, -1}:
            found = OffsetFormat(match[1], int(match[2]) - count, is_base64)
            return found if found.format_cursor(count) == cursor else None
    return None


def are_offsets(cursors: Sequence[object]) -> bool:
    """Return whether the cursors of a page's items are consecutive offsets.

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


def contains_offset(cursor: object, count: int) -> bool:
    """Return whether a cursor after `count` items contains that number, or the one before it.

    A cursor made of the last item's key may contain it by chance.

    Examples
    --------
    >>> contains_offset("eyJvZmZzZXQiOiAyMH0=", 20), contains_offset("page-19-of-search", 20)
    (True, True)
    """
    text = str(cursor)
    numbers = re.findall(r"[0-9]{1,15}", f"{text} {decode_base64(text)}")
    return count > 0 and any(count - int(number) in {0, 1} for number in numbers)


def decode_base64(cursor: str) -> str:
    """Return the ASCII text of a base64 cursor; an empty text for other cursors."""
    try:
        return b64decode(cursor, validate=True).decode("ascii")
    except (Error, ValueError):
        return ""
