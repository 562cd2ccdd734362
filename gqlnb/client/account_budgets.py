"""The budgets of the accounts of a harvest, as its progress shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gqlnb.http.rate_limit_rules import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Account", "sum_budgets"]

MAX_SHOWN = 4  # accounts beside a progress bar


class Account(Protocol):
    """An account that sends requests of a harvest.

    Attributes
    ----------
    name
        The login, or the number of the client if the endpoint does not say the login.
    refusal
        The reason for which it sends no more requests; empty while it does.
    budget
        The remaining budget; None before its first answer.
    """

    name: str
    refusal: str

    @property
    def budget(self) -> Budget | None:
        """The remaining budget."""


@dataclass(frozen=True, slots=True, repr=False)
class AccountBudgets(Budget):
    """The budgets of several accounts together.

    Attributes
    ----------
    accounts
        Name and rest of each, as text.
    """

    accounts: tuple[str, ...] = ()

    def __str__(self) -> str:
        total = Budget.__str__(self)
        if len(self.accounts) > MAX_SHOWN:
            return f"{len(self.accounts)} accounts: {total}"
        return f"{total} ({', '.join(self.accounts)})"


def sum_budgets(accounts: Sequence[Account]) -> Budget | None:
    """Return the budget of all accounts together, until the first one is renewed."""
    known = [each.budget for each in accounts if each.budget is not None and not each.refusal]
    if len(accounts) < 2:
        return known[0] if known else None
    left = [each.remaining for each in known if each.remaining is not None]
    return AccountBudgets(
        limit=sum(each.limit or 0 for each in known) or None,
        remaining=sum(left) if left and len(left) == len(known) else None,
        reset=min((each.reset for each in known if each.reset), default=None),
        cost=known[-1].cost if known else None,
        accounts=tuple(map(describe_account, accounts)),
    )


def describe_account(account: Account) -> str:
    """Return the name of an account and the points it has left."""
    left = account.budget.remaining if account.budget else None
    state = "?" if left is None else f"{left:,.0f}"
    return f"{account.name} {'refused' if account.refusal else state}"
