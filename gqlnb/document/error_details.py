"""The path of a GraphQL error, and where endpoints put its reason, its code and its type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gqlnb.errors import format_path, sanitize_text

# Members with the text of a reason, and members that hold those. graphql-ruby: `problems` with
# `explanation`; PostGraphile: `exception` with `detail`; Nest and Yoga: `originalError`; Strapi:
# `error` with `details`; Lighthouse: `validation`. Stack traces are in members of other names.
TEXT_NAMES = ("explanation", "message", "detail", "reason")
HOLDER_NAMES = ("problems", "details", "exception", "originalError", "error", "errors")
TABLE_NAMES = ("details", "validation")  # of texts by the name of an argument or a column
TYPE_NAMES = ("type", "errorType", "classification")  # GitHub, AppSync, Spring
CODE_NAMES = ("code", "errcode")  # the second is PostgreSQL's, by PostGraphile
MAX_DEPTH = 4  # of members within members
REASONS_SHOWN = 3
REASON_LENGTH = 200  # characters


def read_error_path(error: Mapping[str, object]) -> tuple[str | int, ...]:
    """Return the path of an error; empty if it has none, or not one of names and indices."""
    path = error.get("path")  # checked, as an endpoint may send anything
    if not isinstance(path, list | tuple) or not all(isinstance(step, str | int) for step in path):
        return ()
    return tuple(path)


def read_error_fields(error: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names on the path of an error, without the indices of rows."""
    return tuple(step for step in read_error_path(error) if isinstance(step, str))


def explain_message(error: Mapping[str, Any]) -> str:
    """Return the message of an error, with the reasons in its extensions that it lacks.

    Examples
    --------
    >>> problems = [{"path": ["ids", 0], "explanation": 'Could not coerce value "x" to Int'}]
    >>> explain_message({"message": "$input is invalid", "extensions": {"problems": problems}})
    '$input is invalid (ids[0]: Could not coerce value "x" to Int)'
    """
    text = str(error.get("message", "no message"))
    extensions = error.get("extensions")
    if not isinstance(extensions, Mapping):
        return text
    reasons = [
        f"{path}: {reason}" if path and path not in text else reason
        for path, reason in dict.fromkeys(iter_reasons(extensions))
        if reason.casefold() not in text.casefold()
    ]
    argument = extensions.get("argumentName")
    if isinstance(argument, str) and argument not in re.split(r"\W", " ".join([text, *reasons])):
        reasons.append(f"argument {sanitize_text(repr(argument), REASON_LENGTH)}")
    if not reasons:
        return text
    more = len(reasons) - REASONS_SHOWN
    shown = [*reasons[:REASONS_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return f"{text} ({'; '.join(shown)})"


def iter_reasons(members: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts within extensions, each with the path that is beside it, "" for none."""
    path = members.get("path")
    place = format_path(path) if isinstance(path, list) else ""
    for name in TEXT_NAMES:
        yield from ((place, text) for text in list_texts(members.get(name)))
    for name in HOLDER_NAMES:
        value = members.get(name)
        yield from ((place, text) for text in list_texts(value))
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping) and depth < MAX_DEPTH:
                yield from iter_reasons(item, depth + 1)
    for name in TABLE_NAMES:
        table = members.get(name)
        for key, value in table.items() if isinstance(table, Mapping) else ():
            if key not in (*TEXT_NAMES, *HOLDER_NAMES):
                yield from ((sanitize_text(key, 60), text) for text in list_texts(value))


def list_texts(value: object) -> list[str]:
    """Return a text, or the texts in a list, without control characters; none of other values."""
    items = value if isinstance(value, list) else [value]
    return [sanitize_text(it, REASON_LENGTH) for it in items if isinstance(it, str) and it]


def read_error_code(error: Mapping[str, Any]) -> str | None:
    """Return the code of an error: of its extensions, of the exception in them, or its own."""
    extensions = error.get("extensions")
    extensions = extensions if isinstance(extensions, Mapping) else {}
    holders = (extensions, extensions.get("exception"), error)
    found = (it.get(name) for it in holders if isinstance(it, Mapping) for name in CODE_NAMES)
    return next((str(code) for code in found if isinstance(code, (str, int)) and code != ""), None)


def read_error_type(error: Mapping[str, Any]) -> str | None:
    """Return the type of an error: its own, or that of its extensions."""
    extensions = error.get("extensions")
    holders = (error, extensions if isinstance(extensions, Mapping) else {})
    found = (holder.get(name) for holder in holders for name in TYPE_NAMES)
    return next((it for it in found if isinstance(it, str) and it), None)
