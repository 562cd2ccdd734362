"""The accounts of a harvest: each has its own budget, and sends GitHub one request at a time.

GitHub's budget belongs to the account, not to the token, so tokens of one account are one
:class:`Identity`; the others replace its first token if that is refused.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.background import open_thread_pool
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import AuthError, GqlnbError
from gqlnb.github.harvester.requests import PortableClient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.client.client import Client
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["AccountGroups", "Identity", "group_clients"]

# Without variables, for which a client would fetch the schema.
ACCOUNT_QUERY = "{ viewer { login } search(query: %s, type: %s, first: 1) { %s } }"
COUNT_ROUNDS = 3  # in which counts that differ are read, as rows may change in between
MAX_NAMED = 4


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

    def refuse(self, error: GqlnbError, client: PortableClient) -> None:
        """Replace a refused client by the next one, or stop the identity if it was the last."""
        if client is not self.client:  # another request of it was refused before
            return
        if isinstance(error, AuthError) and len(self.clients) > 1:
            del self.clients[0]
        else:
            self.refusal = str(error)

    def __repr__(self) -> str:
        state = f", refused: {self.refusal}" if self.refusal else ""
        budget = f", {self.budget}" if self.budget else ""
        return f"{self.name}: {self.requests:,} requests{budget}{state}"


class AccountAnswer(NamedTuple):
    """The login of a client, and the number of results of a search; None for unknown."""

    login: str | None
    results: int | None


class AccountGroups(NamedTuple):
    """The accounts of several clients.

    Attributes
    ----------
    identities
        The accounts.
    notes
        Sentences about clients that were refused.
    doubt
        The reason why rows may be missing, if the accounts see different numbers of rows.
    """

    identities: list[Identity]
    notes: list[str]
    doubt: str


def group_clients(
    clients: Sequence[Client], query: str, search_type: str = "REPOSITORY"
) -> AccountGroups:
    """Return the accounts of clients, and compare the numbers of results they see of a search.

    Raises
    ------
    AuthError
        If all clients are refused.
    """
    if len(clients) == 1:
        return AccountGroups([Identity("client 1", clients[0])], [], "")
    answers, differ = _read_accounts(clients, query, search_type)
    identities: dict[str, Identity] = {}
    counts: dict[str, int | None] = {}
    notes, refusals = list[str](), list[AuthError]()
    for number, (client, answer) in enumerate(zip(clients, answers, strict=True), 1):
        if isinstance(answer, AuthError):
            notes.append(f"Client {number} is not used: {answer}")
            refusals.append(answer)
            continue
        name = answer.login or f"client {number}"
        counts[name] = answer.results
        if name in identities:
            identities[name].clients.append(PortableClient(client))
        else:
            identities[name] = Identity(name, client)
    if not identities:
        raise refusals[0]
    return AccountGroups([*identities.values()], notes, _explain_counts(counts) if differ else "")


def _read_accounts(
    clients: Sequence[Client], query: str, search_type: str
) -> tuple[list[AccountAnswer | AuthError], bool]:
    """Return the answer of each client, and whether they see different numbers of results."""
    read = partial(_read_account, query=query, search_type=search_type)
    seen: dict[int, list[int]] = {}
    # At once, though some may be of one account: GitHub accepts up to 100 requests of an account at
    # a time, and one after another they would take as long as a harvest of some 1,000 repositories.
    with open_thread_pool(len(clients)) as executor:
        for _ in range(COUNT_ROUNDS):
            answers = [*executor.map(read, clients)]
            for number, answer in enumerate(answers):
                if isinstance(answer, AccountAnswer) and answer.results is not None:
                    seen.setdefault(number, []).append(answer.results)
            # Counts that change meanwhile overlap.
            least, most = map(min, seen.values()), map(max, seen.values())
            if max(least, default=0) <= min(most, default=0):
                return answers, False
    return answers, True


def _read_account(client: Client, query: str, search_type: str) -> AccountAnswer | AuthError:
    """Return the login of a client, and the number of results it sees."""
    name = f"{search_type.lower()}Count"
    text = ACCOUNT_QUERY % (dump_valid_json(query).decode(), search_type, name)
    try:
        data = client.execute(text).data or {}
    except AuthError as error:
        return error
    except GqlnbError:
        data = {}
    # The token of an installation has no viewer.
    login = (data.get("viewer") or {}).get("login")
    return AccountAnswer(login, (data.get("search") or {}).get(name))


def _explain_counts(counts: Mapping[str, int | None]) -> str:
    """Return why rows may be missing."""
    known = [f"{name}: {count:,}" for name, count in counts.items() if count is not None]
    shown = ", ".join(known[:MAX_NAMED]) + (", ..." if len(known) > MAX_NAMED else "")
    return (
        f"The accounts see different numbers of results ({shown}), so those that only some of them "
        "see may be missing. Give all tokens the same rights, or harvest with one account."
    )
