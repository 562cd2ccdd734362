"""Encoding of responses to JSON: masks and limits errors, replaces values without a JSON form."""

from __future__ import annotations

import logging
import re
from itertools import islice
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from gqlnb.document.json_codec import JSONError, dump_json, dump_valid_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.http.messages import Response
    from gqlnb.limits import Limits

MaskedErrors = list[tuple[str, BaseException]]

_NULL_MESSAGE = "Cannot return null for non-nullable field "
# graphql-core puts a suggestion at the end of a message, as a question.
_SUGGESTION = re.compile(r"\s*Did you mean .*\?\Z", re.DOTALL)
# graphql-core's messages about values that do not fit their type: they show the value.
_REJECTED_VALUE = re.compile(r"(?:Int|Float|String|Boolean|ID|Enum '\w+') cannot represent ")
_ENCODING_ERRORS = (JSONError, TypeError, ValueError)  # msgspec and UTF-8 raise the last two
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())  # else logging prints errors into the notebook's cell


def mask_errors(
    errors: Sequence[Mapping[str, object]],
    causes: Sequence[BaseException | None],
    limits: Limits,
    masked: MaskedErrors,
) -> list[Mapping[str, object]]:
    """Return the first errors, with unexpected exceptions replaced by an id.

    Parameters
    ----------
    errors, causes
        The errors and the exceptions behind them; there may be fewer exceptions.
    limits
        How many errors are returned; the others are neither logged nor kept.
    masked
        List to which the masked exceptions are added, with their ids.
    """
    # A GraphQLError was raised for the client and keeps its message and extensions. The message of
    # any other exception may contain a path, a query or a secret.
    kept = list(errors[: limits.errors])
    for index, cause in enumerate(causes[: len(kept)]):
        if cause is not None and not _is_public(cause):
            # Place and path are the client's own text.
            error = kept[index]
            place = {name: error[name] for name in ("locations", "path") if name in error}
            message = mask_exception(cause, _join_path(error.get("path")), masked)
            kept[index] = {"message": message, **place}
    return kept


def _is_public(cause: BaseException) -> bool:
    """Return whether an exception's message was written for clients."""
    if isinstance(cause, GraphQLError):
        if cause.original_error is None:
            return not _REJECTED_VALUE.match(cause.message)
        return _is_public(cause.original_error)
    return type(cause) is TypeError and str(cause).startswith(_NULL_MESSAGE)


def mask_exception(cause: BaseException, place: str, masked: MaskedErrors) -> str:
    """Log an exception under a new id, and return a message with that id."""
    # Eight digits: easy to copy, and distinct among the 100 exceptions that a server keeps.
    error_id = token_hex(4)
    masked.append((error_id, cause))
    _LOG.error("Internal error %s in %s", error_id, place, exc_info=cause)
    return (
        f"Internal error {error_id}. On the server, the exception is available as "
        f"server.error('{error_id}'), or under this id in the log 'gqlnb'."
    )


def _join_path(path: object) -> str:
    return ".".join(map(str, path)) if isinstance(path, list) else "the request"


def limit_errors(
    errors: Sequence[Mapping[str, object]], total: int, limits: Limits
) -> list[Mapping[str, object]]:
    """Return errors with limited messages, and a note of how many are left out.

    Parameters
    ----------
    errors
        At least the errors that are returned.
    total
        Number of all errors.
    limits
        How many are returned, and the length of their messages.
    """
    kept = [_truncate_error(error, limits.message) for error in errors[: limits.errors]]
    more = total - len(kept)
    if more > 0:
        are = "error is" if more == 1 else "errors are"
        kept.append({"message": f"{more:,} more {are} not shown."})
    return kept


def _truncate_error(error: Mapping[str, object], most: int | None) -> Mapping[str, object]:
    """Return an error with limited message and hint: both may repeat the client's text."""
    if most is None:
        return error
    cut = dict(error)
    if len(str(cut.get("message", ""))) > most:
        cut["message"] = f"{str(cut['message'])[: most - 1]}…"
    extensions = cut.get("extensions")
    if isinstance(extensions, dict) and len(str(extensions.get("hint", ""))) > most:
        cut["extensions"] = {**extensions, "hint": f"{str(extensions['hint'])[: most - 1]}…"}
    return cut


def remove_hints(error: Mapping[str, object]) -> dict[str, object]:
    """Return an error without suggestions, which reveal the names of a schema."""
    rest = {name: value for name, value in error.items() if name != "extensions"}
    return rest | {"message": _SUGGESTION.sub("", str(error["message"]))}


def encode_members(done: Response, limits: Limits, masked: MaskedErrors) -> bytes:
    """Return the members of an engine's response as JSON, its errors masked and limited.

    Values without a JSON form, which a custom scalar may return, become null with an error.

    Raises
    ------
    Exception
        If members other than `data` cannot be encoded.
    """
    members: Mapping[str, Any] = done.members or {}
    errors = members.get("errors") or ()
    kept = mask_errors(errors, done.causes, limits, masked) if errors else []
    try:
        if not errors:
            return (dump_valid_json if done.is_json_safe else dump_json)(members)
        return dump_json({**members, "errors": limit_errors(kept, len(errors), limits)})
    except _ENCODING_ERRORS:
        # Rare, so the walk through all values is made only after encoding has failed.
        return dump_json(_repair_members({**members, "errors": kept}, len(errors), limits))


def encode_part(done: Response, limits: Limits, masked: MaskedErrors) -> bytes:
    """Return a part of a response as JSON, like :func:`encode_members`.

    The causes are those of its errors, of its increments, and of what it completes, in this order.

    Raises
    ------
    Exception
        If members other than the data cannot be encoded.
    """
    causes = iter(done.causes)

    def mask_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        errors = entry.get("errors")
        if not errors:
            return entry
        kept = mask_errors(errors, list(islice(causes, len(errors))), limits, masked)
        return {**entry, "errors": limit_errors(kept, len(errors), limits)}

    part = dict(mask_entry(done.members or {}))
    for name in ("incremental", "completed"):
        if name in part:
            part[name] = [mask_entry(entry) for entry in part[name]]
    try:
        return dump_json(part)
    except _ENCODING_ERRORS:
        part = _repair_entry(part, limits)
        if "incremental" in part:
            part["incremental"] = [_repair_entry(entry, limits) for entry in part["incremental"]]
        return dump_json(part)


def _repair_entry(entry: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Return a part or an increment with null and an error for each value without a JSON form."""
    faults: list[dict[str, object]] = []
    repaired = {
        name: replace_unserializable(value, (), faults) if name in {"data", "items"} else value
        for name, value in entry.items()
    }
    if faults:
        _LOG.error("%d values of a part without a JSON form became null", len(faults))
        for fault in faults:
            if "id" in entry or "path" in entry:
                del fault["path"]  # it begins within the increment
        errors = [*entry.get("errors", ()), *faults]
        repaired["errors"] = limit_errors(errors, len(errors), limits)
    return repaired


def _repair_members(members: Mapping[str, object], total: int, limits: Limits) -> dict[str, object]:
    """Return the members with null and an error for each value without a JSON form."""
    faults: list[dict[str, object]] = []
    repaired = {
        name: replace_unserializable(value, (), faults)
        for name, value in members.items()
        if name != "data"
    }
    for fault in faults:
        del fault["path"]  # paths are places in the data
    if "data" in members:
        repaired["data"] = replace_unserializable(members["data"], (), faults)
    place = _join_path(faults[0].get("path")) if faults else "the request"
    _LOG.error("%d values without a JSON form became null, the first in %s", len(faults), place)
    errors = [*repaired.pop("errors"), *faults]
    return {"errors": limit_errors(errors, total + len(faults), limits)} | repaired


def replace_unserializable(
    value: Any,  # noqa: ANN401 - a JSON value
    path: tuple[str | int, ...],
    faults: list[dict[str, object]],
) -> Any:  # noqa: ANN401 - a JSON value
    """Return a value with null for each part without a JSON form, with an error in `faults`."""
    kind = type(value)
    try:
        if kind is dict:
            dump_json(dict.fromkeys(value))
            return {
                key: replace_unserializable(item, (*path, key), faults)
                for key, item in value.items()
            }
        if kind in {list, tuple}:
            return [
                replace_unserializable(item, (*path, index), faults)
                for index, item in enumerate(value)
            ]
        dump_json(value)
    except _ENCODING_ERRORS as error:
        is_described = isinstance(error, JSONError)
        message = str(error) if is_described else f"A {kind.__name__} has no JSON form."
        faults.append({"message": message, "path": list(path)})
        return None
    return value
