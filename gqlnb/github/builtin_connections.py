"""The built-in connections ``demo`` and ``github``."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gqlnb.client.client import Client
from gqlnb.client.connections import get_client, provide_builtin
from gqlnb.client.recording.session import can_omit_token
from gqlnb.client.transports import InProcessTransport
from gqlnb.errors import AuthError, TargetError, sanitize_text
from gqlnb.redact import hide_locals
from gqlnb.tokens import Token, TokenHolder

if TYPE_CHECKING:
    from collections.abc import Callable


DEMO = "demo"
GITHUB = "github"
GITHUB_ENDPOINT = "https://api.github.com/graphql"
# GitHub's command line reads these, the first that is set; the second pair is for other hosts than
# github.com and *.ghe.com. Source: "gh help environment".
TOKEN_VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN")
ENTERPRISE_TOKEN_VARIABLES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


def connect_demo(*, viewer: str = "demo", restricted: bool = False, **options: Any) -> Client:  # noqa: ANN401 - options of Client
    """Return a client of the stand-in in this process.

    Parameters
    ----------
    viewer, restricted
        As for :func:`gqlnb.github.service`.
    **options
        As for :class:`~gqlnb.client.client.Client`.

    Returns
    -------
    Client
        The client; its source names the embedded snapshot.
    """
    return Client(open_standin(viewer, restricted=restricted), **options)


def open_standin(viewer: str = "demo", *, restricted: bool = False) -> InProcessTransport:
    """Return a transport to the stand-in in this process; the first call builds its schema."""
    from gqlnb.github.standin.github_schema import SNAPSHOT_SOURCE, service  # loads numpy

    standin = service(viewer=viewer, restricted=restricted)
    return InProcessTransport(standin, f"{DEMO}: {SNAPSHOT_SOURCE}")


@hide_locals
def connect_github(
    *,
    token: Token | TokenHolder | str | None = None,
    base_url: str | None = None,
    **options: Any,  # noqa: ANN401 - options of Client
) -> Client:
    """Return a client of GitHub's GraphQL API.

    Parameters
    ----------
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, a Token or a TokenBox; by
        default the environment variable ``GH_TOKEN`` or ``GITHUB_TOKEN``; for an Enterprise Server
        ``GH_ENTERPRISE_TOKEN`` or ``GITHUB_ENTERPRISE_TOKEN``.
    base_url
        The address of a GitHub Enterprise, such as ``"https://github.example.com"``; by default
        github.com.
    **options
        As for :class:`~gqlnb.client.client.Client`.

    Returns
    -------
    Client
        The client of ``https://api.github.com/graphql``, or of the Enterprise's endpoint.

    Raises
    ------
    AuthError
        If there is neither a token nor a recording that answers without one.
    TargetError
        If `base_url` is not an address.
    """
    endpoint = GITHUB_ENDPOINT if base_url is None else find_github_endpoint(base_url)
    names = TOKEN_VARIABLES if _is_github_cloud(endpoint) else ENTERPRISE_TOKEN_VARIABLES
    found = next((name for name in names if os.environ.get(name, "").strip()), None)
    is_recorded = can_omit_token(options.get("recording"), options.get("mode", "auto"))
    if token is None and found is None and not is_recorded:
        other, name = names
        msg = (
            f"GitHub answers GraphQL only with a token, and {name} is not set, nor is {other}. "
            "Create a personal access token at https://github.com/settings/personal-access-tokens "
            f"(for public data no permission needs to be ticked). Then set {name} before Jupyter "
            "starts, or pass token='prompt'."
        )
        raise AuthError(msg)
    return Client(endpoint, token=token or f"env:{found or names[1]}", **options)


def find_github_endpoint(base_url: str) -> str:
    """Return the address of the GraphQL API of a GitHub.

    Parameters
    ----------
    base_url
        An address of the GitHub: its pages, its REST API or its GraphQL API.

    Returns
    -------
    str
        The address of its GraphQL API.

    Raises
    ------
    TargetError
        If `base_url` is not an address.

    Notes
    -----
    Source: GitHub documentation, "Forming calls with GraphQL" of Enterprise Server and of
    Enterprise Cloud with data residency.

    Examples
    --------
    >>> find_github_endpoint("https://github.example.com/api/v3")
    'https://github.example.com/api/graphql'
    >>> find_github_endpoint("https://octocorp.ghe.com")
    'https://api.octocorp.ghe.com/graphql'
    """
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        shown = sanitize_text(repr(base_url.rpartition("@")[2]), 80)
        msg = (
            f"base_url={shown} is not the address of a GitHub. "
            "Give for example 'https://github.example.com'."
        )
        raise TargetError(msg)
    host = parts.hostname.removeprefix("api.")
    if host in {"github.com", "www.github.com"}:
        return GITHUB_ENDPOINT
    if host.endswith(".ghe.com"):
        return f"https://api.{host}/graphql"
    return f"{parts.scheme}://{parts.netloc}/api/graphql"


def _is_github_cloud(endpoint: str) -> bool:
    """Return whether an endpoint takes the tokens of github.com and its subdomains."""
    return endpoint == GITHUB_ENDPOINT or endpoint.endswith(".ghe.com/graphql")


BUILTIN_CONNECTIONS: dict[str, tuple[Callable[..., Client], str]] = {
    DEMO: (connect_demo, "The stand-in for GitHub in this process, with an embedded snapshot."),
    GITHUB: (
        connect_github,
        f"GitHub's GraphQL API; needs a token, by default from {' or '.join(TOKEN_VARIABLES)}.",
    ),
}


@cache  # once per process: every cell calls it
def register_connections() -> None:
    """Register the built-in connections; those of files and sessions take precedence."""
    for name, (make, about) in BUILTIN_CONNECTIONS.items():
        provide_builtin(name, make, about)


def open_client(client: object) -> AbstractContextManager[Client]:
    """Return a context manager of a client, which closes it only if it was created here.

    Parameters
    ----------
    client
        The name of a connection, a client, or any target of a client.

    Returns
    -------
    context manager
        Enters the client.
    """
    if isinstance(client, Client):
        return nullcontext(client)
    # A name opens a connection of the session, which stays open for later calls.
    if isinstance(client, str) and "://" not in client and not client.startswith("/"):
        register_connections()
        return nullcontext(get_client(client))
    return Client(client)
