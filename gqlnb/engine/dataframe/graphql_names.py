"""GraphQL names for the labels of a frame."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from gqlnb.errors import SchemaError, sanitize_text

__all__ = ["build_field_names", "build_type_name", "check_name", "format_label", "is_graphql_name"]

NAME = re.compile(r"(?!__)[A-Za-z_][0-9A-Za-z_]*")  # two underscores belong to introspection
# Letters that Unicode does not decompose, in the usual transliteration.
LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th"}
    | {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D"}
)
OTHER_CHARACTERS = re.compile(r"[^0-9A-Za-z_]+")
OUTER_CHARACTERS = re.compile(r"^[^0-9A-Za-z_]+|[^0-9A-Za-z_]+$")
# The first three are invalid as enum values, which fields become in an order; the others join
# conditions in a filter.
RESERVED_NAMES = frozenset({"true", "false", "null", "and", "or", "not"})
PLURALS = (  # the first ending that fits; words that only look like plurals stay as they are
    (re.compile(r"(ss|us|is|series|species|news)$", re.IGNORECASE), None),
    (re.compile(r"ies$"), "y"),
    (re.compile(r"(?<=[sc]h|ss)es$|(?<=x)es$"), ""),
    (re.compile(r"s$"), ""),
)


def is_graphql_name(text: str) -> bool:
    """Return whether a text is valid as the name of a field and of an enum value."""
    return NAME.fullmatch(text) is not None and text not in {"true", "false", "null"}


def check_name(text: object, what: str) -> str:
    """Return a name given by the user.

    Raises
    ------
    SchemaError
        If it is not a valid GraphQL name.
    """
    if isinstance(text, str) and is_graphql_name(text):
        return text
    msg = (
        f"{sanitize_text(text, 80)!r} can't be the name of {what}: use letters, digits and "
        "underscores, no digit first, not two underscores first."
    )
    raise SchemaError(msg)


def format_label(label: object) -> str:
    """Return the label of a column as text; the parts of a tuple are joined by dots."""
    return ".".join(map(str, label)) if isinstance(label, tuple) else str(label)


def build_field_names(labels: Iterable[object], frame: str) -> list[str]:
    """Return a field name for each label of a frame's columns.

    Raises
    ------
    SchemaError
        If two labels become the same name, or one becomes empty.
    """
    found: dict[str, str] = {}
    for label in map(format_label, labels):
        name, shown = build_field_name(label), sanitize_text(label, 80)
        if not name:
            msg = (
                f"Column {shown!r} of frame {frame!r} has no letter from a to z and no digit, of "
                "which the name of a field consists. Rename it: "
                f"df.rename(columns={{{shown!r}: ...}})."
            )
            raise SchemaError(msg)
        if name in found:
            how = "df.columns = [...]" if label == found[name] else "df.rename(columns=...)"
            msg = (
                f"Columns {sanitize_text(found[name], 80)!r} and {shown!r} of frame {frame!r} "
                f"would both be field {name!r}. Rename one of them with {how}."
            )
            raise SchemaError(msg)
        found[name] = label
    return list(found)


def build_field_name(label: str) -> str:
    """Return a label as a field name; empty if no character of it is valid in a name."""
    apart = unicodedata.normalize("NFKD", label.translate(LETTERS))
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    name = OTHER_CHARACTERS.sub("_", OUTER_CHARACTERS.sub("", bare))
    name = re.sub(r"^__+", "_", name)
    if not name.strip("_"):
        return ""
    return f"_{name}" if name[0].isdigit() else f"{name}_" if name in RESERVED_NAMES else name


def build_type_name(name: str) -> str:
    """Return the type of a frame's rows: the singular, or the name with ``Row``, in PascalCase."""
    word = singularize(name)
    pascal = "".join(part[:1].upper() + part[1:] for part in word.split("_"))
    return pascal if word != name else f"{pascal}Row"


def singularize(word: str) -> str:
    """Return the singular of a plural in s; any other word unchanged."""
    for ending, instead in PLURALS:
        if ending.search(word):
            return word if instead is None else ending.sub(instead, word)
    return word
