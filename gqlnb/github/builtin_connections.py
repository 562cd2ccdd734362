"""The built-in connections ``demo`` and ``github``."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from gqlnb.auth import Token, TokenHolder
from gqlnb.client.connections import get_client, provide_builtin
from gqlnb.client.recording.session import can_omit_token
from gqlnb.errors import AuthError
from gqlnb.redact import hide_locals

if TYPE_CHECKING:
    from gqlnb.client.client import Client

__all__ = [
    "DEMO",
    "GITHUB",
    "GITHUB_ENDPOINT",
    "connect_demo",
    "connect_github",
    "open_client",
    "register_connections",
]

DEMO = "demo"
GITHUB = "github"
GITHUB_ENDPOINT = "https://api.github.com/graphql"
_TOKEN_VARIABLE = "GITHUB_TOKEN"  # the name that GitHub's own tools read  # noqa: S105


def connect_demo(*, viewer: str = "demo", restricted: bool = False, **options: Any) -> Client:
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
    from gqlnb.client.client import Client
    from gqlnb.client.transports import InProcessTransport
    from gqlnb.github.standin.github_schema import SNAPSHOT_SOURCE, service

    standin = service(viewer=viewer, restricted=restricted)
    return Client(InProcessTransport(standin, f"{DEMO}: {SNAPSHOT_SOURCE}"), **options)


@hide_locals
def connect_github(*, token: Token | TokenHolder | str | None = None, **options: Any) -> Client:
    """Return a client of GitHub's GraphQL API.

    Parameters
    ----------
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, a Token or a TokenBox; by
        default the environment variable ``GITHUB_TOKEN``.
    **options
        As for :class:`~gqlnb.client.client.Client`.

    Returns
    -------
    Client
        The client of ``https://api.github.com/graphql``.

    Raises
    ------
    AuthError
        If there is neither a token nor a recording that answers without one.
    """
    from gqlnb.client.client import Client

    is_recorded = can_omit_token(options.get("recording"), options.get("mode", "auto"))
    if token is None and not os.environ.get(_TOKEN_VARIABLE, "").strip() and not is_recorded:
        msg = (
            f"GitHub answers GraphQL only with a token, and {_TOKEN_VARIABLE} is not set. Create a "
            "personal access token at https://github.com/settings/personal-access-tokens (for "
            f"public data no permission needs to be ticked). Then set {_TOKEN_VARIABLE} before "
            "Jupyter starts, or pass token='prompt'."
        )
        raise AuthError(msg)
    return Client(GITHUB_ENDPOINT, token=token or f"env:{_TOKEN_VARIABLE}", **options)


BUILTIN_CONNECTIONS = {
    DEMO: (connect_demo, "The stand-in for GitHub in this process, with an embedded snapshot."),
    GITHUB: (
        connect_github,
        f"GitHub's GraphQL API; needs a token, by default from {_TOKEN_VARIABLE}.",
    ),
}


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
    """
    from gqlnb.client.client import Client

    if isinstance(client, Client):
        return nullcontext(client)
    # A name opens a connection of the session, which stays open for later calls.
    if isinstance(client, str) and "://" not in client and not client.startswith("/"):
        register_connections()
        return nullcontext(get_client(client))
    return Client(client)
