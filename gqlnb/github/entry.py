"""The connections ``demo`` and ``github``."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from gqlnb.client.connections import named, provide
from gqlnb.client.recordings import spared
from gqlnb.errors import AuthError
from gqlnb.sealing import unseen
from gqlnb.token import Token, TokenHolder

if TYPE_CHECKING:
    from gqlnb.client.client import Client

__all__ = ["DEMO", "ENDPOINT", "GITHUB", "demo", "enter", "github", "opened"]

DEMO = "demo"
GITHUB = "github"
ENDPOINT = "https://api.github.com/graphql"
_VARIABLE = "GITHUB_TOKEN"  # the name that GitHub's own tools read


def demo(*, viewer: str = "demo", restricted: bool = False, **options: Any) -> Client:
    """Return a client of the stand-in in this process.

    Parameters
    ----------
    viewer, restricted
        As for :func:`gqlnb.github.service`.
    **options
        As for :class:`~gqlnb.client.client.Client`.
    """
    from gqlnb.client.client import Client
    from gqlnb.client.transports import InProcess
    from gqlnb.github.standin import SOURCE, service

    standin = service(viewer=viewer, restricted=restricted)
    return Client(InProcess(standin, f"{DEMO}: {SOURCE}"), **options)


@unseen
def github(*, token: Token | TokenHolder | str | None = None, **options: Any) -> Client:
    """Return a client of GitHub's GraphQL API.

    Parameters
    ----------
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, a Token or a TokenBox; by
        default the environment variable ``GITHUB_TOKEN``.
    **options
        As for :class:`~gqlnb.client.client.Client`.

    Raises
    ------
    AuthError
        If there is no token, and no recording to answer instead; the message says how to get one.
    """
    from gqlnb.client.client import Client

    free = spared(options.get("recording"), options.get("mode", "auto"))
    if token is None and not os.environ.get(_VARIABLE, "").strip() and not free:
        msg = (
            f"GitHub answers GraphQL only with a token, and {_VARIABLE} is not set. Create a "
            "personal access token at https://github.com/settings/personal-access-tokens (for "
            f"public data no permission needs to be ticked). Then set {_VARIABLE} before Jupyter "
            "starts, or pass token='prompt'."
        )
        raise AuthError(msg)
    return Client(ENDPOINT, token=token or f"env:{_VARIABLE}", **options)


ABOUT = {
    DEMO: (demo, "The stand-in for GitHub in this process, with an embedded snapshot."),
    GITHUB: (github, f"GitHub's GraphQL API; needs a token, by default from {_VARIABLE}."),
}


def enter() -> None:
    """Enter ``demo`` and ``github`` among the connections that are there from the start."""
    for name, (make, about) in ABOUT.items():
        provide(name, make, about)


def opened(client: Any) -> AbstractContextManager[Client]:
    """Return the client that is meant; one that is made here is closed afterwards.

    Parameters
    ----------
    client
        The name of a connection, a client, or whatever a client can be made for.
    """
    from gqlnb.client.client import Client

    if isinstance(client, Client):
        return nullcontext(client)
    if isinstance(client, str) and "://" not in client and not client.startswith("/"):
        enter()
        return nullcontext(named(client))
    return Client(client)
