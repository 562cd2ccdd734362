"""Who may ask a server, and for what: the switches beside the limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, NoReturn, Protocol

from gqlnb.document.limits import Limits
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.http.headers import normalize_origin, parse_host
from gqlnb.http.messages import Response

__all__ = [
    "ENDPOINT",
    "LOOPBACK_HOSTS",
    "STATUS_PROFILES",
    "Access",
    "DocumentationUrls",
    "ServerRules",
    "StatusProfile",
    "TokenVerifier",
]

PROFILES = ("audit", "draft")
# RFC 6454, 6.2: scheme, host and port, and nothing after them.
_ORIGIN_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


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
        object.__setattr__(self, "hosts", check_names("hosts", self.hosts, check_host))
        object.__setattr__(self, "origins", check_names("origins", self.origins, check_origin))
        for option in fields(self):
            if option.type == "bool" and not isinstance(getattr(self, option.name), bool):
                raise_option_error(option.name, getattr(self, option.name), "True or False")
        if self.profile not in PROFILES:
            raise_option_error("profile", self.profile, "'audit' or 'draft'")


def check_names(option: str, given: Any, read: Callable[[str], str]) -> frozenset[str]:
    """Return the names given, one or several, as they are compared.

    Raises
    ------
    OptionError
        If one is none.
    """
    given = (given,) if isinstance(given, str) else given
    if not isinstance(given, Iterable):
        raise_option_error(option, given, "names")
    return frozenset(read(name) for name in given)


def check_host(name: str) -> str:
    """Return the name of a host as it is compared: in lower case, IPv6 in brackets.

    Raises
    ------
    OptionError
        If it is none.
    """
    text = str(name)
    bracketed = f"[{text}]" if text.count(":") > 1 and "[" not in text else text
    found = parse_host(bracketed)
    if found is None or found != bracketed.lower() or not found.isascii() or "*" in found:
        raise_option_error(
            "hosts", name, "names without a port, such as 'lab.example'; there is no '*'"
        )
    return found


def check_origin(name: str) -> str:
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
    if _ORIGIN_PATTERN.fullmatch(found) is None:
        likes = "'http://localhost:5173': scheme, host and port, without a slash at the end"
        raise_option_error("origins", name, f"origins such as {likes}")
    return normalize_origin(found)


def raise_option_error(option: str, given: object, right: str) -> NoReturn:
    """Raise the error that says what an option takes."""
    message = f"Access({option}=...) takes {right}; got {sanitize_text(repr(given), 80)}."
    raise OptionError(message)


ENDPOINT = "/graphql"
# The names a browser on this machine uses for it. Any other name that leads here was rebound by
# someone's DNS, and the page that did so must not read an answer.
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class StatusProfile(NamedTuple):
    """What a reading of GraphQL over HTTP answers where the two readings differ.

    Attributes
    ----------
    partial
        Data beside errors, to who takes GraphQL's media type.
    malformed
        JSON that is no GraphQL request.
    too_large
        A body over the limit.
    uses_legacy_errors
        Whether a request error is 200 to who takes plain JSON only.
    refuses_unacceptable
        Whether who accepts neither media type is refused with 406.
    """

    partial: int
    malformed: int
    too_large: int
    uses_legacy_errors: bool
    refuses_unacceptable: bool


STATUS_PROFILES: Mapping[str, StatusProfile] = {
    "audit": StatusProfile(200, 400, 400, uses_legacy_errors=True, refuses_unacceptable=False),
    "draft": StatusProfile(294, 422, 413, uses_legacy_errors=False, refuses_unacceptable=True),
}


class TokenVerifier(Protocol):
    """Anything that knows the right ``Authorization`` header: a Token."""

    def matches(self, header: str | None) -> bool:
        """Tell whether the header carries the secret."""


class DocumentationUrls(NamedTuple):
    """Where a 401 sends its reader; by default where GitHub sends its own.

    Attributes
    ----------
    missing
        For who sends no token.
    wrong
        For who sends one that does not fit.
    """

    missing: str = (
        "https://docs.github.com/graphql/guides/forming-calls-with-graphql"
        "#authenticating-with-graphql"
    )
    wrong: str = "https://docs.github.com/graphql"


@dataclass(frozen=True, slots=True)
class ServerRules:
    """What one server lets through.

    Attributes
    ----------
    token
        What the ``Authorization`` header must match; None asks for none.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None allows any, for a
        server that a token protects.
    limits
        How much of anything.
    access
        Who else may ask, and for what; its hosts stand in `hosts` already.
    pages
        Ready-made answers to GET by path: the page a browser gets, and its assets. None of them
        is given where there is a token.
    documentation
        Where the 401 sends its reader.
    """

    token: TokenVerifier | None = None
    hosts: frozenset[str] | None = LOOPBACK_HOSTS
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    pages: Mapping[str, Response] = field(default_factory=dict)
    documentation: DocumentationUrls = field(default_factory=DocumentationUrls)

    @property
    def statuses(self) -> StatusProfile:
        """The statuses of the profile."""
        return STATUS_PROFILES[self.access.profile]
