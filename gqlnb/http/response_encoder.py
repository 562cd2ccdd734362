"""What a client is told of errors: their number, their length, and no word of an accident."""

from __future__ import annotations

import logging
import re
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from gqlnb.document.json_codec import JSONError, dump_json, dump_valid_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.document.limits import Limits
    from gqlnb.http.messages import Response

__all__ = [
    "MaskedErrors",
    "encode_members",
    "join_path",
    "limit_errors",
    "mask_errors",
    "mask_exception",
    "remove_hints",
    "replace_unserializable",
]

MaskedErrors = list[tuple[str, BaseException]]

_NULL_MESSAGE = "Cannot return null for non-nullable field "
# graphql-core puts what it suggests at the end of a message, as a question.
_SUGGESTION = re.compile(r"\s*Did you mean .*\?\Z", re.DOTALL)
# What graphql-core says of a value that does not fit its type: it shows the value.
_REJECTED_VALUE = re.compile(r"(?:Int|Float|String|Boolean|ID|Enum '\w+') cannot represent ")
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())  # who wants to read it says so; a cell's output is not a log


def mask_errors(
    errors: Sequence[Mapping[str, Any]],
    causes: Sequence[BaseException | None],
    limits: Limits,
    faults: MaskedErrors,
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
        if cause is not None and not is_public_error(cause):
            error = told[index]
            kept = {name: error[name] for name in ("locations", "path") if name in error}
            message = mask_exception(cause, join_path(error.get("path")), faults)
            told[index] = {"message": message, **kept}
    return told


def limit_errors(
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
    told = [truncate_error(error, limits.message) for error in errors[: limits.errors]]
    more = total - len(told)
    if more > 0:
        are = "error is" if more == 1 else "errors are"
        told.append({"message": f"{more:,} more {are} not shown."})
    return told


def truncate_error(error: Mapping[str, Any], most: int | None) -> Mapping[str, Any]:
    """Return an error whose message and hint have so many characters at most.

    Either may repeat what a client has sent, which can be long.
    """
    if most is None:
        return error
    found = dict(error)
    if len(str(found.get("message", ""))) > most:
        found["message"] = truncate_text(found["message"], most)
    extensions = found.get("extensions")
    if isinstance(extensions, dict) and len(str(extensions.get("hint", ""))) > most:
        found["extensions"] = {**extensions, "hint": truncate_text(extensions["hint"], most)}
    return found


def truncate_text(text: object, most: int) -> str:
    """Return a text that ends in an ellipsis after so many characters."""
    return f"{str(text)[: most - 1]}…"


def remove_hints(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error without what it suggests: suggestions tell the names of a schema."""
    found = {name: value for name, value in error.items() if name != "extensions"}
    return found | {"message": _SUGGESTION.sub("", str(error["message"]))}


def is_public_error(cause: BaseException) -> bool:
    """Tell a GraphQLError, or the engine's own sentence about a null, from an accident."""
    if isinstance(cause, GraphQLError):
        hidden = cause.original_error
        if hidden is None:
            return not _REJECTED_VALUE.match(cause.message)
        return is_public_error(hidden)
    return type(cause) is TypeError and str(cause).startswith(_NULL_MESSAGE)


def mask_exception(cause: BaseException, place: str, faults: MaskedErrors) -> str:
    """Keep an exception under a new id and return the message that names the id."""
    number = token_hex(4)
    faults.append((number, cause))
    _LOG.error("Internal error %s in %s", number, place, exc_info=cause)
    return (
        f"Internal error {number}. Whoever serves finds the exception with "
        f"server.error('{number}'), or under this id in the log 'gqlnb'."
    )


def join_path(path: object) -> str:
    """Return a response path as one word, for the log."""
    return ".".join(map(str, path)) if isinstance(path, list) else "the request"


_LOGGER = logging.getLogger("gqlnb")
_ENCODING_ERRORS = (JSONError, TypeError, ValueError)  # also what msgspec and UTF-8 raise


def encode_members(done: Response, limits: Limits, faults: MaskedErrors) -> bytes:
    """Return the members of an engine's answer as JSON bytes, its errors masked and bounded.

    Raises
    ------
    Exception
        If it holds what JSON cannot hold, and not even its repair can be written.
    """
    members: Mapping[str, Any] = done.members or {}
    errors = members.get("errors") or ()
    told = mask_errors(errors, done.causes, limits, faults) if errors else []
    try:
        if not errors:
            return (dump_valid_json if done.is_json_safe else dump_json)(members)
        return dump_json({**members, "errors": limit_errors(told, len(errors), limits)})
    except _ENCODING_ERRORS:
        pass
    return dump_json(repair_members({**members, "errors": told}, len(errors), limits))


def repair_members(members: Mapping[str, Any], total: int, limits: Limits) -> dict[str, Any]:
    """Return the members with null, and an error, in the place of all that has no JSON form.

    A value of a scalar that somebody wrote may be anything. It costs its own place, and no more.

    Parameters
    ----------
    members
        The members, of the errors those that are told.
    total
        How many errors there are.
    limits
        How many are told, in how many characters.
    """
    found: list[dict[str, Any]] = []
    whole = {
        name: replace_unserializable(value, (), found)
        for name, value in members.items()
        if name != "data"
    }
    found = [{"message": fault["message"]} for fault in found]  # these are not in the data
    if "data" in members:
        whole["data"] = replace_unserializable(members["data"], (), found)
    place = join_path(found[0].get("path")) if found else "the request"
    _LOGGER.error("%d values without a JSON form became null, the first in %s", len(found), place)
    errors = [*whole.pop("errors"), *found]
    return {"errors": limit_errors(errors, total + len(found), limits)} | whole


def replace_unserializable(
    value: Any, path: tuple[str | int, ...], found: list[dict[str, Any]]
) -> Any:
    """Return a value with null for what JSON cannot hold, and an error in `found` for each."""
    kind = type(value)
    try:
        if kind is dict:
            dump_json(dict.fromkeys(value))
            return {
                key: replace_unserializable(item, (*path, key), found)
                for key, item in value.items()
            }
        if kind in {list, tuple}:
            return [
                replace_unserializable(item, (*path, index), found)
                for index, item in enumerate(value)
            ]
        dump_json(value)
    except _ENCODING_ERRORS as error:
        known = isinstance(error, JSONError)
        reason = str(error) if known else f"A {kind.__name__} has no JSON form."
        found.append({"message": reason, "path": list(path)})
        return None
    return value
