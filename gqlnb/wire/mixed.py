"""Bodies in a stream of ``multipart/mixed``, as answers that come in parts travel over HTTP.

Source: RFC 2046, section 5.1, and "Incremental Delivery over HTTP", github.com/graphql. A delimiter
is taken as the end of a part at once, without what may follow it in its line: some servers send
that with the next part, which nobody should have to wait for. In JSON no line begins with one.
"""

from __future__ import annotations

import re
from email.message import Message
from math import inf
from typing import TYPE_CHECKING

from gqlnb.wire.decompress import BodyTooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MIXED", "Parts", "boundary_of"]

MIXED = "multipart/mixed"
HEAD_END = re.compile(rb"^(?:[ \t]*\r?\n)?(?:[^\r\n]+\r?\n)*\r?\n")  # a head may be empty


def boundary_of(content_type: str) -> str | None:
    """Return the boundary of a ``Content-Type``; None if it is not that of parts."""
    head = Message()
    head["content-type"] = content_type
    if head.get_content_type() != MIXED:
        return None
    return head.get_boundary("-")  # what the proposal has everybody use


class Parts:
    """Reads the bodies of parts from bytes, however they are cut.

    Parameters
    ----------
    boundary
        What the delimiters are made of.
    most
        Bytes that all of them may have together; None for any number.

    Attributes
    ----------
    ended
        Whether the last delimiter has come.
    """

    def __init__(self, boundary: str, most: int | None = None) -> None:
        self.ended = False
        self._room = inf if most is None else most
        self._delimiter = re.compile(rb"(?:\r?\n)--" + re.escape(boundary.encode()))
        self._longest = len(boundary) + 4
        self._left = bytearray(b"\r\n")  # the first delimiter may be the first line
        self._seen = 0  # bytes of it that were searched for a delimiter
        self._begun = False

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Take what came, and yield the bodies that are whole.

        Raises
        ------
        BodyTooLargeError
            If more came than may.
        """
        self._room -= len(part)
        if self._room < 0:
            raise BodyTooLargeError
        self._left += part
        while not self.ended and (found := self._delimiter.search(self._left, self._seen)):
            whole = bytes(self._left[: found.start()])
            del self._left[: found.end()]
            self._seen = 0
            if self._begun and (body := HEAD_END.sub(b"", whole, count=1)).strip():
                yield body
            self._begun = True
            self.ended = self._left.startswith(b"--")
        self.ended = self.ended or (self._begun and self._left.startswith(b"--"))
        if self.ended:
            self._left.clear()  # what follows means nothing
        self._seen = max(0, len(self._left) - self._longest)
