"""The access rules of a server, and the statuses of the two profiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

from gqlnb.errors import OptionError
from gqlnb.http.messages import HttpRequest, Response, normalize_origin, parse_host
from gqlnb.limits import Limits
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.tokens import Token

# RFC 6454, 6.2: scheme, host and port, and nothing after them.
_ORIGIN_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


@explain_keywords
@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The access rules of a server (:func:`gqlnb.serve`).

    By default only programs on this machine have access, and no page in its browsers.

    Attributes
    ----------
    hosts
        Names, without port, that the ``Host`` header may have beside those of this machine, such
        as a proxy's. A server that other machines can reach, with a token, accepts any name
        unless some are given here.
    origins
        Origins whose pages have access, each by its exact name, such as
        ``"http://localhost:5173"``. Only they get CORS headers. ``"*"`` is not supported.
    page
        Whether browsers get a page with a query editor. Never where a token is required.
    get
        Whether queries are answered by GET, as ``?query=...&variables=...``, and subscriptions
        by a browser's ``EventSource``. Mutations never are.
    batch
        Requests in one POST, as a JSON array; they are executed one after the other. None, the
        default, for single requests only.
    uploads
        Whether files are accepted as variables, by the GraphQL multipart request specification; a
        resolver gets a :class:`gqlnb.Upload`. The limit of the body applies.
    introspection
        Whether ``__schema`` and ``__type`` are answered. Switch `hints` off too, since suggestions
        reveal names one by one.
    hints
        Whether errors suggest similar names.
    health
        Whether ``GET /health`` is answered with 200, without a token, for the probes of a load
        balancer or container.
    metrics
        Whether ``GET /metrics`` is answered with metrics for Prometheus: requests by operation and
        status, and their duration; with the token, where one is required. It needs
        ``pip install prometheus-client``.
    log
        Whether requests are logged by the logger ``gqlnb.access`` in the common log format, without
        queries, variables and tokens. ``logging.basicConfig()`` shows the lines.
    profile
        The source of the HTTP statuses: ``"audit"``, the published audits, which most clients
        expect, or ``"draft"``, that of August 2026: 294 for data with errors, 422 for a
        well-formed request that is not valid, 413, and 406.

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
    batch: int | None = None
    uploads: bool = False
    introspection: bool = True
    hints: bool = True
    health: bool = False
    metrics: bool = False
    log: bool = False
    profile: Literal["audit", "draft"] = "audit"

    def __post_init__(self) -> None:
        """Validate the options and normalize the names.

        Raises
        ------
        OptionError
            If a name or a switch is not valid; the message gives the valid form.
        """
        object.__setattr__(self, "hosts", _normalize_names("hosts", self.hosts, _normalize_host))
        object.__setattr__(
            self, "origins", _normalize_names("origins", self.origins, _normalize_access_origin)
        )
        # A string such as "no" is true: refuse it rather than open what was to be closed.
        for option in (entry.name for entry in fields(self) if isinstance(entry.default, bool)):
            if not isinstance(getattr(self, option), bool):
                raise_option_error(option, getattr(self, option), "True or False", owner="Access")
        most = self.batch
        if most is not None and (type(most) is not int or most < 1):
            raise_option_error("batch", most, "a whole number above 0, or None", owner="Access")
        if self.profile not in tuple(STATUS_PROFILES):
            raise_option_error("profile", self.profile, "'audit' or 'draft'", owner="Access")


def _normalize_names(option: str, names: object, normalize: Callable[[str], str]) -> frozenset[str]:
    names = (names,) if isinstance(names, str) else names
    if not isinstance(names, Iterable):
        raise_option_error(option, names, "names", owner="Access")
    return frozenset(map(normalize, names))


def _normalize_host(name: str) -> str:
    """Return the name of a host in lower case, IPv6 in brackets."""
    text = str(name)
    bracketed = f"[{text}]" if text.count(":") > 1 and "[" not in text else text
    host = parse_host(bracketed)
    if host is None or host != bracketed.lower() or not host.isascii() or "*" in host:
        raise_option_error(
            "hosts",
            name,
            "names without a port, such as 'lab.example'; there is no '*'",
            owner="Access",
        )
    return host


def _normalize_access_origin(name: str) -> str:
    """Return an origin as browsers send it: in lower case, without the port of its scheme."""
    if name == "*":
        message = (
            "Access(origins='*') would let every page on the internet read the data of the schema "
            "through your browser. Name the pages: Access(origins=['http://localhost:5173'])."
        )
        raise OptionError(message)
    origin = str(name).lower()
    if _ORIGIN_PATTERN.fullmatch(origin) is None:
        form = "'http://localhost:5173': scheme, host and port, without a slash at the end"
        raise_option_error("origins", name, f"origins such as {form}", owner="Access")
    return normalize_origin(origin)


ENDPOINT = "/graphql"
# Off by default: whoever may not read the schema learns nothing of the server, not even that it is
# one, and only who runs it knows whether something probes it.
HEALTH_PATH, METRICS_PATH = "/health", "/metrics"
# The names of this machine in its own browsers. Any other name that resolves here may be a page's
# DNS rebinding, and that page must not read a response.
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class StatusProfile(NamedTuple):
    """The HTTP statuses in which the two profiles differ.

    Attributes
    ----------
    partial
        Data with errors, in GraphQL's media type.
    malformed
        JSON that is not a GraphQL request.
    too_large
        A body over the limit.
    uses_legacy_errors
        Whether a request error is 200 in plain JSON.
    refuses_unacceptable
        Whether a client that accepts neither media type gets 406.
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


class TokenGuides(NamedTuple):
    """The `documentation_url` of a response with status 401.

    Attributes
    ----------
    missing, wrong
        For a request without a token, and for one with another token.
    """

    missing: str
    wrong: str


# How a client sends a bearer token, and what the server's answer to a wrong one means.
BEARER_GUIDES = TokenGuides(
    "https://www.rfc-editor.org/rfc/rfc6750#section-2.1",
    "https://www.rfc-editor.org/rfc/rfc6750#section-3.1",
)
# The key under which a schema that imitates a service has the guides of that service, in its
# `extensions`.
GUIDES_EXTENSION = "tokenGuides"


@dataclass(frozen=True, slots=True)
class ServerRules:
    """All rules of one server.

    Attributes
    ----------
    path
        The path of the endpoint.
    token
        The required token; None for none.
    verify
        The function that verifies tokens, and returns the identity of a client; None for none.
    context
        The function that makes the context of resolvers from a request; None for none.
    hosts
        Lower-case names, without port, that the ``Host`` header may have; None allows any, for a
        server that a token protects.
    limits
        The limits of requests and of their execution.
    access
        The access rules; `hosts` includes theirs.
    has_subscriptions
        Whether the schema has subscriptions, and so the requests of event connections.
    token_guides
        The addresses that a response with status 401 names.
    pages
        Responses to GET by path: the page for browsers and its assets. They are not used where a
        token is required.
    """

    path: str = ENDPOINT
    token: Token | None = None
    hosts: frozenset[str] | None = LOOPBACK_HOSTS
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    has_subscriptions: bool = False
    token_guides: TokenGuides = BEARER_GUIDES
    verify: Callable[[str], object] | None = None
    context: Callable[[HttpRequest], object] | None = None
    pages: Mapping[str, Response] = field(default_factory=dict)

    def is_monitoring_path(self, path: str) -> bool:
        """Return whether health or metrics are served at a path."""
        access = self.access
        return (access.health and path == HEALTH_PATH) or (access.metrics and path == METRICS_PATH)

    @property
    def requires_token(self) -> bool:
        """Whether a client has to send a token."""
        return self.token is not None or self.verify is not None

    @property
    def statuses(self) -> StatusProfile:
        """The HTTP statuses of the profile."""
        return STATUS_PROFILES[self.access.profile]
