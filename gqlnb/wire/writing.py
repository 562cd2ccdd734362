"""What an engine answered, as bytes: whatever a resolver returned, the rest is still answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from gqlnb.wire.json import JSONError, dump, encode
from gqlnb.wire.masking import bounded, dotted, unrevealing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.model.limits import Limits
    from gqlnb.wire.masking import Faults
    from gqlnb.wire.response import Response

__all__ = ["writable", "written"]

_LOG = logging.getLogger("gqlnb")
_UNWRITABLE = (JSONError, TypeError, ValueError)  # also what msgspec and UTF-8 raise


def written(done: Response, limits: Limits, faults: Faults) -> bytes:
    """Return the members of an engine's answer as JSON bytes, its errors masked and bounded.

    Raises
    ------
    Exception
        If it holds what JSON cannot hold, and not even its repair can be written.
    """
    members: Mapping[str, Any] = done.members or {}
    errors = members.get("errors") or ()
    told = unrevealing(errors, done.causes, limits, faults) if errors else []
    try:
        if not errors:
            return (encode if done.sound else dump)(members)
        return dump({**members, "errors": bounded(told, len(errors), limits)})
    except _UNWRITABLE:
        pass
    return dump(mended({**members, "errors": told}, len(errors), limits))


def mended(members: Mapping[str, Any], total: int, limits: Limits) -> dict[str, Any]:
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
    whole = {name: writable(value, (), found) for name, value in members.items() if name != "data"}
    found = [{"message": fault["message"]} for fault in found]  # these are not in the data
    if "data" in members:
        whole["data"] = writable(members["data"], (), found)
    place = dotted(found[0].get("path")) if found else "the request"
    _LOG.error("%d values without a JSON form became null, the first in %s", len(found), place)
    errors = [*whole.pop("errors"), *found]
    return {"errors": bounded(errors, total + len(found), limits)} | whole


def writable(value: Any, path: tuple[str | int, ...], found: list[dict[str, Any]]) -> Any:
    """Return a value with null for what JSON cannot hold, and an error in `found` for each."""
    kind = type(value)
    try:
        if kind is dict:
            dump(dict.fromkeys(value))
            return {key: writable(item, (*path, key), found) for key, item in value.items()}
        if kind in {list, tuple}:
            return [writable(item, (*path, index), found) for index, item in enumerate(value)]
        dump(value)
    except _UNWRITABLE as error:
        known = isinstance(error, JSONError)
        reason = str(error) if known else f"A {kind.__name__} has no JSON form."
        found.append({"message": reason, "path": list(path)})
        return None
    return value
