"""The clients of a harvest, their GitHub accounts, and whether these see the same results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.background import open_thread_pool
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import AuthError, GqlnbError, OptionError
from gqlnb.github.builtin_connections import open_client, register_connections
from gqlnb.github.harvester.requests import PortableClient
from gqlnb.lists.accounts import Account, AccountPool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import ExitStack

    from gqlnb.client.client import Client

# Without variables, for which a client would fetch the schema.
ACCOUNT_QUERY = "{ viewer { login } search(query: %s, type: %s, first: 1) { %s } }"
COUNT_ROUNDS = 3  # in which counts that differ are read, as rows may change in between
MAX_NAMED = 4


class AccountAnswer(NamedTuple):
    """The login of a client, and the number of results of a search; None for unknown."""

    login: str | None
    results: int | None


def open_clients(
    stack: ExitStack, client: object, clients: Sequence[object] | None, tokens: Sequence[Any] | None
) -> list[Client]:
    """Return all clients of a harvest; those created here are closed with the stack.

    Raises
    ------
    OptionError
        If `clients` or `tokens` is not valid.
    """
    for name, values in (("clients", clients), ("tokens", tokens)):
        if values is not None and (isinstance(values, str | bytes) or not values):
            msg = f"{name}= takes a list with at least one item."
            raise OptionError(msg)
    if clients is not None and tokens is not None:
        msg = "Give clients= or tokens=, not both."
        raise OptionError(msg)
    if tokens is None:
        return [stack.enter_context(open_client(each)) for each in clients or [client]]
    if not isinstance(client, str):
        msg = "tokens= needs the endpoint: give client= a name or a URL, such as client='github'."
        raise OptionError(msg)
    from gqlnb.client.client import connect

    register_connections()
    return [stack.enter_context(connect(client, token=token)) for token in tokens]


def group_clients(
    clients: Sequence[Client], query: str, search_type: str = "REPOSITORY"
) -> AccountPool[PortableClient]:
    """Return the accounts of clients, and compare the numbers of results they see of a search.

    Raises
    ------
    AuthError
        If all clients are refused.
    """
    if len(clients) == 1:
        return AccountPool([Account("client 1", [PortableClient(clients[0])])])
    answers, differ = _read_accounts(clients, query, search_type)
    accounts: dict[str, Account[PortableClient]] = {}
    counts: dict[str, int | None] = {}
    notes, refusals = list[str](), list[AuthError]()
    for number, (client, answer) in enumerate(zip(clients, answers, strict=True), 1):
        if isinstance(answer, AuthError):
            notes.append(f"Client {number} is not used: {answer}")
            refusals.append(answer)
            continue
        name = answer.login or f"client {number}"
        counts[name] = answer.results
        accounts.setdefault(name, Account(name, [])).clients.append(PortableClient(client))
    if not accounts:
        raise refusals[0]
    return AccountPool([*accounts.values()], notes, _explain_counts(counts) if differ else "")


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
