"""Where the cursor is in a cell: on the line of a magic, in an operation, or in something else."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Here", "here"]

NAMES = r"(?:graphql|gql)\b"
_CELL = re.compile(rf"\s*%%{NAMES}(?P<line>[^\n]*)(?P<newline>\n?)")
_LINE = re.compile(rf"\s*(?:[^\W\d]\w*\s*=\s*)?%{NAMES}(?P<line>.*)")
_INLINE = re.compile(r"(?:^|\s)(?=\{|(?:query|mutation|subscription)\b)")


class Here(NamedTuple):
    """Where the cursor is.

    Attributes
    ----------
    line
        The line of the magic behind its name; of a line magic up to the operation.
    text
        The operation.
    inside
        Whether the cursor is in the operation, not on the line.
    offset
        Where it is in that, in characters.
    cell
        Whether it is a cell magic.
    """

    line: str
    text: str
    inside: bool
    offset: int
    cell: bool


def here(source: str, offset: int) -> Here | None:
    """Return where the cursor is in the source of a cell; None if it is nowhere in GraphQL.

    Parameters
    ----------
    source
        The whole cell.
    offset
        Where the cursor is, in characters.
    """
    match = _CELL.match(source)
    if match is None:
        return _on_a_line(source, offset)
    if offset < match.start("line"):
        return None
    line, text = match["line"], source[match.end() :]
    if offset <= match.end("line"):
        return Here(line, text, inside=False, offset=offset - match.start("line"), cell=True)
    return Here(line, text, inside=True, offset=offset - match.end(), cell=True)


def _on_a_line(source: str, offset: int) -> Here | None:
    begin = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    match = _LINE.match(source, begin, len(source) if end < 0 else end)
    if match is None or offset < match.start("line"):
        return None
    line, at = match["line"], offset - match.start("line")
    inline = _INLINE.search(line)
    start = inline.end() if inline else len(line) + 1
    if at < start:
        return Here(line[:start], line[start:], inside=False, offset=at, cell=False)
    return Here(line[:start], line[start:], inside=True, offset=at - start, cell=False)
