"""What a request says: the members of its body, JSON or a form, and the numbers of its query."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from gqlnb.errors import plain
from gqlnb.wire.http import is_json
from gqlnb.wire.json import JSONError, load

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["members", "number", "optional", "text"]

BODY_LIMIT = 2**16  # bytes; the longest sensible body has a few hundred
READING = 10.0  # seconds a body may take
FIELDS = 20  # fields of a form; the longest sensible one has two
FORM = "application/x-www-form-urlencoded"
_NUMBER = re.compile("[1-9][0-9]{0,8}")


async def members(request: Request, *names: str) -> dict[str, Any]:
    """Return the members of a body, JSON or a form by its ``Content-Type``.

    An empty body has none. Values of a form are text.

    Parameters
    ----------
    request
        The request, its body unread.
    *names
        The members that there may be.

    Raises
    ------
    HTTPException
        400, if the body is something else, too large or too slow, or holds other members.
    """
    kind = request.headers.get("content-type")
    form = (kind or "").partition(";")[0].strip().lower() == FORM
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    body = await content(request)
    if not body:
        return {}
    if coding != "identity" or not (form or is_json(kind)):
        bad(f"Send JSON (Content-Type: application/json) or a form ({FORM}), uncompressed.")
    found = form_members(body) if form else json_members(body)
    for name in found:
        if name not in names:
            known = f"It takes {', '.join(names)}." if names else "It takes none."
            bad(f"There is no member {plain(repr(name), 80)} here. {known}")
    return found


async def content(request: Request) -> bytes:
    """Read a body, as far as it may go."""
    body = bytearray()
    try:
        async with asyncio.timeout(READING):
            async for part in request.stream():
                body += part
                if len(body) > BODY_LIMIT:
                    bad(f"The body is too large: at most {BODY_LIMIT:,} bytes are read.")
    except TimeoutError:
        bad(f"The body did not come within {READING:g} s.")
    return bytes(body)


def json_members(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON object."""
    try:
        found = load(body)
    except JSONError as error:
        bad(f"The body is not JSON: {error}")
    if not isinstance(found, dict):
        bad("The body is JSON, and not an object, as it should be.")
    return found


def form_members(body: bytes) -> dict[str, Any]:
    """Return the fields of a form; each may stand in it once."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=FIELDS,
        )
    except ValueError:  # UnicodeDecodeError is one
        pairs = []
    found = dict(pairs)
    if not pairs or len(found) < len(pairs):
        bad(f"The body is no form: name=value, joined by &, percent-encoded, at most {FIELDS}.")
    return found


def text(found: dict[str, Any], name: str) -> str:
    """Return a member that has to be there, as text."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        bad(f"{name} is missing, or is no text.")
    return value


def optional(found: dict[str, Any], name: str, limit: int) -> str | None:
    """Return a member that may be missing or empty, as one line of at most `limit` characters."""
    value = found.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > limit or not value.isprintable():
        bad(f"{name} is no text of one line and at most {limit} characters.")
    return value


def number(request: Request, name: str, default: int, most: int) -> int:
    """Return a number of the query string, 1 to `most`."""
    value = request.query_params.get(name)
    if value is None:
        return default
    if not _NUMBER.fullmatch(value) or int(value) > most:
        bad(f"{name} is a number, 1 to {most:,}; got {plain(repr(value), 80)}.")
    return int(value)


def bad(message: str) -> NoReturn:
    """Refuse a request that makes no sense."""
    raise HTTPException(400, message)
