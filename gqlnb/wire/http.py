"""An HTTP request as a plain value, and the few headers a GraphQL server reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "HttpRequest",
    "absolute",
    "bare_origin",
    "fields",
    "host_name",
    "is_json",
    "same_origin",
]

# RFC 9110, 7.2: a name or an address, IPv6 in brackets, and perhaps a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]@/,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request, whatever brought it.

    Attributes
    ----------
    method
        The method in upper case.
    path
        The path, percent-decoded, without the query string.
    headers
        Header values by lower-case name; values of a repeated header joined by ``", "``.
    body
        The whole body; of one that is too large, any part longer than the limit.
    query_string
        What stood behind the question mark, as it came.
    """

    method: str
    path: str
    # Not in the repr: a traceback with variables must not show a token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    query_string: bytes = field(default=b"", repr=False)


def fields(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; a repeated one is joined, as RFC 9110, 5.3 says.

    A repeated ``Host`` or ``Origin`` thereby becomes a value that no allow-list holds.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def absolute(target: str, headers: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Read a target in absolute form, whose host counts instead of the header's (RFC 9112, 3.2.2).

    Returns
    -------
    (str, dict)
        The path and the headers; as they were, if the target has another form.
    """
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() not in _PORTS:
        return target, headers
    host, slash, path = rest.partition("/")
    return slash + path or "/", headers | {"host": host}


def host_name(host: str | None) -> str | None:
    """Return the lower-case name of a ``Host`` header without its port; None if it is not one."""
    match = _HOST.fullmatch(host or "")
    return match[1].lower() if match else None


def bare_origin(origin: str) -> str:
    """Return an origin in lower case without the port that its scheme has anyway."""
    origin = origin.lower()
    return origin.removesuffix(_PORTS.get(origin.partition("://")[0], ""))


def same_origin(origin: str, host: str) -> bool:
    """Tell whether an ``Origin`` names the very ``Host`` that was asked, over http or https."""
    scheme, _, authority = origin.lower().partition("://")
    port = _PORTS.get(scheme)
    return port is not None and authority.removesuffix(port) == host.lower().removesuffix(port)


def is_json(content_type: str | None) -> bool:
    """Tell whether a ``Content-Type`` is JSON in UTF-8: any case, other parameters ignored."""
    if content_type == "application/json":
        return True
    media, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    given = (parameter.partition("=") for parameter in parameters)
    charsets = {value.strip('"') for name, _, value in given if name == "charset"}
    return media == "application/json" and charsets <= {"utf-8", "utf8"}
