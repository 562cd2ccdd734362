"""Who may ask a server, and for what: the switches beside the limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, NoReturn

from gqlnb.errors import OptionError, plain
from gqlnb.wire.http import bare_origin, host_name

__all__ = ["Access"]

PROFILES = ("audit", "draft")
# RFC 6454, 6.2: scheme, host and port, and nothing after them.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may ask a server (:func:`gqlnb.serve`), and for what.

    The defaults let in this machine alone, and none of the pages that its browsers show.

    Attributes
    ----------
    hosts
        Names, without port, that the ``Host`` header may hold beside those of this machine: what
        a proxy or a colleague calls it. A server that listens for others, with a token, answers
        to any name, unless some are given here.
    origins
        Pages of other origins that may ask, each by its exact name, such as
        ``"http://localhost:5173"``. They get the CORS headers and an answer to their preflight;
        everybody else gets neither. There is no ``"*"``.
    page
        Whether a browser gets a page to type queries into. Never where there is a token.
    get
        Whether queries may be asked by GET, as ``?query=...&variables=...``, and subscriptions
        by a browser's ``EventSource``. Mutations never.
    introspection
        Whether ``__schema`` and ``__type`` are answered. Who switches this off will want `hints`
        off, too: suggestions tell the names one by one.
    hints
        Whether an error suggests what may have been meant.
    profile
        Which reading of GraphQL over HTTP decides the statuses: ``"audit"``, what the published
        audits ask for and most clients expect, or ``"draft"``, that of August 2026: 294 where
        data came with errors, 422 for what is well-formed and wrong, 413, and 406.

    Examples
    --------
    >>> import gqlnb
    >>> access = gqlnb.Access(origins=["http://localhost:5173"], introspection=False, hints=False)
    >>> with gqlnb.serve(gqlnb.reference_schema(), port=0, access=access) as server:
    ...     gqlnb.Client(server.url).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """

    hosts: Collection[str] = frozenset()
    origins: Collection[str] = frozenset()
    page: bool = True
    get: bool = False
    introspection: bool = True
    hints: bool = True
    profile: Literal["audit", "draft"] = "audit"

    def __post_init__(self) -> None:
        """Refuse what is no name, and keep names as they are compared.

        Raises
        ------
        OptionError
            If a name or a switch is none; the message says what would be.
        """
        object.__setattr__(self, "hosts", names("hosts", self.hosts, host))
        object.__setattr__(self, "origins", names("origins", self.origins, origin))
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                refuse(field.name, getattr(self, field.name), "True or False")
        if self.profile not in PROFILES:
            refuse("profile", self.profile, "'audit' or 'draft'")


def names(option: str, given: Any, read: Callable[[str], str]) -> frozenset[str]:
    """Return the names given, one or several, as they are compared.

    Raises
    ------
    OptionError
        If one is none.
    """
    given = (given,) if isinstance(given, str) else given
    if not isinstance(given, Iterable):
        refuse(option, given, "names")
    return frozenset(read(name) for name in given)


def host(name: str) -> str:
    """Return the name of a host as it is compared: in lower case, IPv6 in brackets.

    Raises
    ------
    OptionError
        If it is none.
    """
    text = str(name)
    bracketed = f"[{text}]" if text.count(":") > 1 and "[" not in text else text
    found = host_name(bracketed)
    if found is None or found != bracketed.lower() or not found.isascii() or "*" in found:
        refuse("hosts", name, "names without a port, such as 'lab.example'; there is no '*'")
    return found


def origin(name: str) -> str:
    """Return an origin as a browser sends it: in lower case, without the port of its scheme.

    Raises
    ------
    OptionError
        If it is none.
    """
    if name == "*":
        message = (
            "Access(origins='*') would let every page on the internet read, through the browser "
            "of whoever serves, what the schema knows. Name the pages: "
            "Access(origins=['http://localhost:5173'])."
        )
        raise OptionError(message)
    found = str(name).lower()
    if _ORIGIN.fullmatch(found) is None:
        likes = "'http://localhost:5173': scheme, host and port, without a slash at the end"
        refuse("origins", name, f"origins such as {likes}")
    return bare_origin(found)


def refuse(option: str, given: object, right: str) -> NoReturn:
    """Raise the error that says what an option takes."""
    message = f"Access({option}=...) takes {right}; got {plain(repr(given), 80)}."
    raise OptionError(message)
