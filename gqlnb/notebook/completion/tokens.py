"""A GraphQL text that is still being written, as tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Token", "tokens"]

_TOKEN = re.compile(
    r"""
      (?P<skip>[\s,\ufeff]++)
    | (?P<comment>\#[^\n\r]*+)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<string>"{3}(?:[^"\\]|\\"{3}|\\|"(?!""))*+(?:"{3})?+ | "(?:\\.|[^"\\\n\r])*+"?+)
    | (?P<number>-?\d[\w.+-]*+)
    | (?P<mark>\.\.\.|[!$&()|:=@\[\]{}])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of a text.

    Attributes
    ----------
    kind
        ``"name"``, ``"mark"`` (punctuation), ``"string"``, ``"number"``, ``"comment"`` or
        ``"other"`` (what GraphQL does not know).
    text
        The piece as it is written.
    start, end
        Where it stands, in characters.
    """

    kind: str
    text: str
    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Tell whether the cursor at `offset` stands inside a comment or string."""
        if self.kind == "comment":
            return self.start < offset <= self.end
        if self.kind != "string":
            return False
        quote = self.text[:3] if self.text.startswith('"""') else '"'
        closed = len(self.text) >= 2 * len(quote) and self.text.endswith(quote)
        return self.start < offset < self.end + (not closed)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, however broken it is; white space and commas are none."""
    return [
        Token(str(match.lastgroup), match[0], *match.span())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "skip"
    ]
