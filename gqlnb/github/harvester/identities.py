"""The accounts of a harvest: each has its own budget, and one request in flight.

GitHub's budget belongs to the account, not to the token, so tokens of one account are one
:class:`Identity`; the others replace its first token if that is refused.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gqlnb.background import open_thread_pool
from gqlnb.errors import AuthError, GqlnbError
from gqlnb.github.harvester.requests import PortableClient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.client.client import Client
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["Identity", "group_clients"]

IDENTITY_QUERY = "{ viewer { login } }"


class Identity:
    """An account with its clients and its state in a harvest.

    Parameters
    ----------
    name
        The login, or the number of the client if the endpoint does not say the login.
    client
        Its first client.

    Attributes
    ----------
    requests, in_flight
        Numbers of requests answered, and on their way.
    width
        Requests that the endpoint accepts at once.
    limits
        Rate limits in a row.
    refusal
        The reason for which it sends no more requests; empty while it does.
    budget
        The remaining budget; None if unknown.
    """

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.clients = [PortableClient(client)]
        self.requests = self.in_flight = self.limits = 0
        self.width = 1
        self.refusal = ""
        self.budget: Budget | None = None
        self._paused_until = 0.0  # in time.monotonic()

    @property
    def client(self) -> PortableClient:
        """The client in use."""
        return self.clients[0]

    def pause(self, seconds: float) -> None:
        """Send no request for a while."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def compute_pause(self) -> float:
        """Return the seconds until the next request may be sent."""
        return max(0.0, self._paused_until - time.monotonic())

    def refuse(self, error: GqlnbError) -> None:
        """Replace the client, or stop the identity if it was the last."""
        if isinstance(error, AuthError) and len(self.clients) > 1:
            del self.clients[0]
        else:
            self.refusal = str(error)

    def __repr__(self) -> str:
        state = f", refused: {self.refusal}" if self.refusal else ""
        budget = f", {self.budget}" if self.budget else ""
        return f"{self.name}: {self.requests:,} requests{budget}{state}"


def group_clients(clients: Sequence[Client]) -> tuple[list[Identity], list[str]]:
    """Return the identities of clients, and notes on those that were refused.

    Raises
    ------
    AuthError
        If all are refused.
    """
    if len(clients) == 1:
        return [Identity("client 1", clients[0])], []
    identities: dict[str, Identity] = {}
    notes, refusals = list[str](), list[AuthError]()
    # At once, though some may be of one account: GitHub accepts up to 100 requests of an account at
    # a time, and one after another they would take as long as a harvest of some 1,000 repositories.
    with open_thread_pool(len(clients)) as executor:
        logins = [*executor.map(_read_login, clients)]
    for number, (client, login) in enumerate(zip(clients, logins, strict=True), 1):
        if isinstance(login, AuthError):
            notes.append(f"Client {number} is not used: {login}")
            refusals.append(login)
            continue
        name = login or f"client {number}"
        if name in identities:
            identities[name].clients.append(PortableClient(client))
        else:
            identities[name] = Identity(name, client)
    if not identities:
        raise refusals[0]
    return list(identities.values()), notes


def _read_login(client: Client) -> str | AuthError | None:
    """Return the login of a client's account; None if the endpoint does not say it."""
    try:
        return str(client.execute(IDENTITY_QUERY).data["viewer"]["login"])
    except AuthError as error:
        return error
    except (GqlnbError, KeyError, TypeError):
        return None  # such as the token of an installation, which has no viewer
