"""The accounts of a harvest: each has its own budget, and reads one thing at a time.

GitHub's budget belongs to the account, not to the token, so tokens of one account are clients of
one :class:`Account`, of which the next one replaces the one that is refused.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Generic, TypeVar

from gqlnb.background import POLL_SECONDS
from gqlnb.errors import AuthError, GqlnbError, QueryError, RateLimited
from gqlnb.http.rate_limit_rules import DEFAULT_LIMIT_WAIT, Budget
from gqlnb.http.response_parser import find_refusal
from gqlnb.interactive import announce_wait
from gqlnb.result.result import PartialError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Sender = TypeVar("Sender")
Other = TypeVar("Other")
Task = TypeVar("Task")
Answer = TypeVar("Answer")

MAX_RATE_LIMITS = 8  # in a row, after which an account is given up
MAX_ACCOUNTS_SHOWN = 4  # beside a bar


class Account(Generic[Sender]):
    """An account with its clients and its state in a harvest.

    Parameters
    ----------
    name
        The login, or the number of the client if the endpoint does not say the login.
    clients
        What sends the requests with each of its tokens; the first one is in use.

    Attributes
    ----------
    requests, in_flight
        Numbers of requests answered, and on their way.
    width
        Requests that the endpoint accepts at once.
    limits
        Rate limits in a row.
    limit
        The last one in the endpoint's own words; None before.
    refusal
        The reason for which it sends no more requests; empty while it does.
    budget
        The remaining budget; None if unknown.
    """

    def __init__(self, name: str, clients: Sequence[Sender]) -> None:
        self.name, self.clients = name, list(clients)
        self.requests = self.in_flight = self.limits = 0
        self.width = 1
        self.limit: RateLimited | None = None
        self.refusal = ""
        self.budget: Budget | None = None
        self._paused_until = 0.0  # in time.monotonic()

    @property
    def client(self) -> Sender:
        """The client in use."""
        return self.clients[0]

    def pause(self, seconds: float) -> None:
        """Send no request for a while."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def compute_pause(self) -> float:
        """Return the seconds until the next request may be sent."""
        return max(0.0, self._paused_until - time.monotonic())

    def format_rest(self) -> str:
        """Return the points it has left, as text."""
        if self.refusal:
            return "refused"
        left = None if self.budget is None else self.budget.remaining
        return "?" if left is None else f"{left:,.0f}"

    def __repr__(self) -> str:
        state = f", refused: {self.refusal}" if self.refusal else ""
        budget = f", {self.budget}" if self.budget else ""
        return f"{self.name}: {self.requests:,} requests{budget}{state}"


class AccountBudgets(Budget, frozen=True):
    """The budgets of several accounts together.

    Attributes
    ----------
    accounts
        Name and rest of each, as text.
    """

    accounts: tuple[str, ...] = ()

    def __str__(self) -> str:
        total = Budget.__str__(self)
        if len(self.accounts) > MAX_ACCOUNTS_SHOWN:
            return f"{len(self.accounts)} accounts: {total}"
        return f"{total} ({', '.join(self.accounts)})"


def announce_pause(error: Exception, wait: float) -> None:
    """Announce that a harvest waits for a rate limit, without the error's advice to callers."""
    source = str(error).partition(": ")[0]
    text = f"{source}: rate limit reached. The harvest goes on by itself in {wait:.0f} s."
    announce_wait(text, wait)


class AccountPool(Generic[Sender]):
    """The accounts of a harvest, and the loop that gives them work.

    Parameters
    ----------
    accounts
        The accounts.
    notes
        Sentences about clients that were refused before.
    doubt
        The reason why rows may be missing, if the accounts see different rows; else empty.
    waits
        Whether a rate limit is waited for if there is no other account; else the clients do.

    Attributes
    ----------
    notes
        The accounts and tokens that were refused or given up, as sentences.
    """

    def __init__(
        self,
        accounts: Sequence[Account[Sender]],
        notes: Sequence[str] = (),
        doubt: str = "",
        *,
        waits: bool = True,
    ) -> None:
        self.accounts, self.notes, self.doubt = list(accounts), list(notes), doubt
        self._waits = waits

    def convert(self, convert_client: Callable[[Sender], Other]) -> AccountPool[Other]:
        """Return a pool of the same accounts with other clients, which wait for rate limits."""
        accounts = [
            Account(each.name, [*map(convert_client, each.clients)]) for each in self.accounts
        ]
        return AccountPool(accounts, self.notes, self.doubt, waits=False)

    @property
    def budget(self) -> Budget | None:
        """The remaining budget of all accounts together, until the first one is renewed."""
        known = [each.budget for each in self._live if each.budget is not None]
        if len(self.accounts) < 2:
            return known[0] if known else None
        left = [each.remaining for each in known if each.remaining is not None]
        return AccountBudgets(
            limit=sum(each.limit or 0 for each in known) or None,
            remaining=sum(left) if left and len(left) == len(known) else None,
            reset=min((each.reset for each in known if each.reset), default=None),
            cost=known[-1].cost if known else None,
            accounts=tuple(f"{each.name} {each.format_rest()}" for each in self.accounts),
        )

    @property
    def _live(self) -> list[Account[Sender]]:
        """The accounts that were not refused."""
        return [each for each in self.accounts if not each.refusal]

    def _list_free(self, width: int) -> list[Account[Sender]]:
        """Return the accounts that can send a request now, the least busy first.

        Parameters
        ----------
        width
            Most requests at once, of all together.
        """
        live = self._live
        share = -(-width // max(1, len(live)))
        free = [
            each
            for each in live
            if each.in_flight < min(share, each.width) and not each.compute_pause()
        ]
        return sorted(free, key=lambda each: each.in_flight)

    def run(
        self,
        take_task: Callable[[int], Task | None],
        submit: Callable[[Task, Sender], Future[Answer]],
        add_answer: Callable[[Task, Account[Sender], Sender, Future[Answer]], object],
        *,
        has_work: Callable[[], bool],
        end_round: Callable[[], object] = lambda: None,
        width: int = 1,
    ) -> None:
        """Run all tasks.

        Parameters
        ----------
        take_task
            Returns the next task, for a number of accounts that are free; None if there is none
            before another answer.
        submit
            Starts a task with a client.
        add_answer
            Called with each answer, in this thread.
        has_work
            Returns whether there is a task that waits for an account.
        end_round
            Called after the answers that came at the same time.
        width
            Most tasks at once.

        Raises
        ------
        GqlnbError
            If `add_answer` raised it; the answers of the other tasks under way are added before.
        """
        running: dict[Future[Answer], tuple[Task, Account[Sender], Sender]] = {}
        failures: list[GqlnbError] = []

        def send() -> None:
            while not failures and (free := self._list_free(width)):
                task = take_task(len(free))
                if task is None:
                    return
                account = free[0]
                running[submit(task, account.client)] = task, account, account.client
                account.in_flight += 1

        try:
            send()
            while running or (not failures and has_work()):
                finished = self._await_answers(running, has_work=has_work())
                for future, task, account, client in finished:
                    account.in_flight -= 1
                    try:
                        add_answer(task, account, client, future)
                    except GqlnbError as error:
                        failures.append(error)
                send()
                end_round()
        finally:
            for future in running:
                future.cancel()
        if failures:
            raise failures[0]

    def _await_answers(
        self,
        running: dict[Future[Answer], tuple[Task, Account[Sender], Sender]],
        *,
        has_work: bool,
    ) -> list[tuple[Future[Answer], Task, Account[Sender], Sender]]:
        """Remove and return the tasks that are done, after a while none if an account is paused."""
        pauses = [pause for each in self._live if has_work and (pause := each.compute_pause())]
        if not running:
            time.sleep(min(pauses, default=0))
        done, _ = wait(running, min([*pauses, POLL_SECONDS]), return_when=FIRST_COMPLETED)
        return [(future, *running.pop(future)) for future in done]

    def explain_failure(
        self, account: Account[Sender], client: Sender, error: GqlnbError
    ) -> GqlnbError | None:
        """Return the error to raise for a failed request; None if it may succeed later.

        Then another client or account sends it again, or the same one after a pause.

        Parameters
        ----------
        account, client
            Those that sent the request.
        error
            The reason.
        """
        is_refusal = isinstance(error, AuthError) or bool(
            isinstance(error, QueryError | PartialError) and find_refusal(error.result)
        )
        if not (is_refusal or isinstance(error, RateLimited)):
            return error
        if is_refusal and client is not account.client:  # another request of it was refused before
            return None if self._live else error
        if is_refusal and len(account.clients) > 1:
            del account.clients[0]
            self.notes.append(
                f"A token of {account.name} is refused; its next one continues: {error}"
            )
            return None
        is_last = len(self._live) < 2
        if isinstance(error, RateLimited) and (self._waits or not is_last):
            seconds = DEFAULT_LIMIT_WAIT if error.wait is None else error.wait
            # The endpoint's own words, not ours about the wait that they began.
            if error.status is None and account.limit is not None:
                error = account.limit
            account.limits, account.limit = account.limits + 1, error
            if account.limits <= MAX_RATE_LIMITS:
                account.pause(seconds)
                if all(each.compute_pause() for each in self._live):
                    announce_pause(error, seconds)
                return None
        account.refusal = str(error)
        if is_last:
            return error
        self.notes.append(f"{account.name} is refused; the others continue: {error}")
        return None
