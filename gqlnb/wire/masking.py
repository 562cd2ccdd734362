"""What a client is told of errors: their number, their length, and no word of an accident."""

from __future__ import annotations

import logging
import re
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.model.limits import Limits

__all__ = ["Faults", "bounded", "dotted", "masked", "unrevealing", "without_hints"]

Faults = list[tuple[str, BaseException]]

_NULL = "Cannot return null for non-nullable field "
# graphql-core puts what it suggests at the end of a message, as a question.
_SUGGESTION = re.compile(r"\s*Did you mean .*\?\Z", re.DOTALL)
# What graphql-core says of a value that does not fit its type: it shows the value.
_REJECTED = re.compile(r"(?:Int|Float|String|Boolean|ID|Enum '\w+') cannot represent ")
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())  # who wants to read it says so; a cell's output is not a log


def unrevealing(
    errors: Sequence[Mapping[str, Any]],
    causes: Sequence[BaseException | None],
    limits: Limits,
    faults: Faults,
) -> list[Mapping[str, Any]]:
    """Return the first errors without the words of exceptions that nobody wrote for a client.

    A GraphQLError was raised to be shown and keeps its message and extensions. Any other
    exception may hold a path, a query or a secret: it becomes an id, place and path stay.

    Parameters
    ----------
    errors, causes
        The errors, and the exceptions behind them, of which there may be fewer.
    limits
        How many errors are told; the others are neither logged nor kept.
    faults
        Where each exception that was masked is noted, with its id.
    """
    told = list(errors[: limits.errors])
    for index, cause in enumerate(causes[: len(told)]):
        if cause is not None and not meant_to_be_shown(cause):
            error = told[index]
            kept = {name: error[name] for name in ("locations", "path") if name in error}
            message = masked(cause, dotted(error.get("path")), faults)
            told[index] = {"message": message, **kept}
    return told


def bounded(
    errors: Sequence[Mapping[str, Any]], total: int, limits: Limits
) -> list[Mapping[str, Any]]:
    """Return errors with messages that are not too long, and a note of how many are left out.

    Parameters
    ----------
    errors
        At least those that are told.
    total
        How many there are in all.
    limits
        How many are told, and in how many characters each.
    """
    told = [shortened(error, limits.message) for error in errors[: limits.errors]]
    more = total - len(told)
    if more > 0:
        are = "error is" if more == 1 else "errors are"
        told.append({"message": f"{more:,} more {are} not shown."})
    return told


def shortened(error: Mapping[str, Any], most: int | None) -> Mapping[str, Any]:
    """Return an error whose message and hint have so many characters at most.

    Either may repeat what a client has sent, which can be long.
    """
    if most is None:
        return error
    found = dict(error)
    if len(str(found.get("message", ""))) > most:
        found["message"] = cut(found["message"], most)
    extensions = found.get("extensions")
    if isinstance(extensions, dict) and len(str(extensions.get("hint", ""))) > most:
        found["extensions"] = {**extensions, "hint": cut(extensions["hint"], most)}
    return found


def cut(text: object, most: int) -> str:
    """Return a text that ends in an ellipsis after so many characters."""
    return f"{str(text)[: most - 1]}…"


def without_hints(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error without what it suggests: suggestions tell the names of a schema."""
    found = {name: value for name, value in error.items() if name != "extensions"}
    return found | {"message": _SUGGESTION.sub("", str(error["message"]))}


def meant_to_be_shown(cause: BaseException) -> bool:
    """Tell a GraphQLError, or the engine's own sentence about a null, from an accident."""
    if isinstance(cause, GraphQLError):
        hidden = cause.original_error
        if hidden is None:
            return not _REJECTED.match(cause.message)
        return meant_to_be_shown(hidden)
    return type(cause) is TypeError and str(cause).startswith(_NULL)


def masked(cause: BaseException, place: str, faults: Faults) -> str:
    """Keep an exception under a new id and return the message that names the id."""
    number = token_hex(4)
    faults.append((number, cause))
    _LOG.error("Internal error %s in %s", number, place, exc_info=cause)
    return (
        f"Internal error {number}. Whoever serves finds the exception with "
        f"server.error('{number}'), or under this id in the log 'gqlnb'."
    )


def dotted(path: object) -> str:
    """Return a response path as one word, for the log."""
    return ".".join(map(str, path)) if isinstance(path, list) else "the request"
