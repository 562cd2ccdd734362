"""Names and texts of a document or a schema in generated source."""

from __future__ import annotations

from keyword import iskeyword

__all__ = ["MAX_LITERAL", "is_identifier", "is_keyword_name"]

MAX_LITERAL = 200  # characters of a string that is written into the source


def is_identifier(name: object) -> bool:
    """Return whether a name can be written after a dot: Python normalizes other than ASCII."""
    if type(name) is not str or len(name) > MAX_LITERAL:
        return False
    return name.isascii() and name.isidentifier() and not iskeyword(name)


def is_keyword_name(name: object) -> bool:
    """Return whether a name can be that of an argument in a call."""
    return is_identifier(name) and name != "__debug__"
