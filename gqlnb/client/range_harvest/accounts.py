"""The accounts of a harvest: each has its own budget, and reads one thing at a time.

GitHub's budget belongs to the account, not to the token, so tokens of one account are clients of
one :class:`Account`, of which the next one replaces the one that is refused.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from typing import TYPE_CHECKING, Generic, TypeVar

from gqlnb.background import POLL_SECONDS, open_thread_pool
from gqlnb.client.paging import pager
from gqlnb.client.progress import announce_pause, sum_budgets
from gqlnb.errors import AuthError, GqlnbError, QueryError, RateLimited
from gqlnb.http.rate_limit_rules import DEFAULT_LIMIT_WAIT
from gqlnb.http.response_parser import find_refusal
from gqlnb.result.result import PartialError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.client.range_harvest.range_reader import RangeReader
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["Account", "AccountPool", "ReaderPool"]

Sender = TypeVar("Sender")
Task = TypeVar("Task")
Answer = TypeVar("Answer")

MAX_RATE_LIMITS = 8  # in a row, after which an account is given up
# The hint that paging adds to an error.
ADVICE = re.compile(rf" [\d,]+ items were received before\. {re.escape(pager.ADVICE)}")


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

    def __repr__(self) -> str:
        state = f", refused: {self.refusal}" if self.refusal else ""
        budget = f", {self.budget}" if self.budget else ""
        return f"{self.name}: {self.requests:,} requests{budget}{state}"


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

    @property
    def budget(self) -> Budget | None:
        """The remaining budget of all accounts."""
        return sum_budgets(self.accounts)

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

    def _compute_pause(self) -> float | None:
        """Return the seconds until an account may send again; None if none is waiting."""
        return min((pause for each in self._live if (pause := each.compute_pause())), default=None)

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
                # Before rows are written, so that the endpoint does not wait for the disk.
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
        pause = self._compute_pause() if has_work else None
        if not running:
            time.sleep(pause or 0)
        pause = POLL_SECONDS if pause is None else min(pause, POLL_SECONDS)
        done, _ = wait(running, pause, return_when=FIRST_COMPLETED)
        return [(future, *running.pop(future)) for future in done]

    def explain_failure(
        self,
        account: Account[Sender],
        client: Sender,
        error: GqlnbError,
        seconds: float | None = None,
    ) -> GqlnbError | None:
        """Return the error to raise for a failed request; None if it may succeed later.

        Then another client or account sends it again, or the same one after a pause.

        Parameters
        ----------
        account, client
            Those that sent the request.
        error
            The reason.
        seconds
            How long to wait after a rate limit; None for what the error says.
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
            seconds = error.wait if seconds is None else seconds
            seconds = DEFAULT_LIMIT_WAIT if seconds is None else seconds
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


class ReaderPool(AccountPool["RangeReader"]):
    """The accounts of a harvest in ranges, whose readers run in threads if there are several.

    Parameters
    ----------
    accounts, notes, doubt
        As of :class:`AccountPool`.
    """

    def __init__(
        self,
        accounts: Sequence[Account[RangeReader]],
        notes: Sequence[str] = (),
        doubt: str = "",
    ) -> None:
        super().__init__(accounts, notes, doubt, waits=False)

    def call(self, task: Callable[[RangeReader], Answer]) -> Answer:
        """Run one task, and return its result.

        Raises
        ------
        GqlnbError
            If it failed for good.
        """
        answers: list[Answer] = []
        tasks = iter([task])
        self.run_tasks(
            lambda: next(tasks, None),
            lambda task, reader: task(reader),
            lambda _, answer: answers.append(answer),
        )
        return answers[0]

    def run_tasks(
        self,
        take_task: Callable[[], Task | None],
        execute: Callable[[Task, RangeReader], Answer],
        add_answer: Callable[[Task, Answer], object],
    ) -> None:
        """Run all tasks.

        Parameters
        ----------
        take_task
            Returns the next task; None if there is none before another answer.
        execute
            Runs a task; called in threads if there are several accounts.
        add_answer
            Called with each answer, in this thread.

        Raises
        ------
        GqlnbError
            If a task failed for good; the answers of the others are processed before.
        """
        again: list[Task] = []

        def add(
            task: Task, account: Account[RangeReader], reader: RangeReader, future: Future[Answer]
        ) -> None:
            try:
                answer = future.result()
            except GqlnbError as error:
                remove_advice(error)
                failure = self.explain_failure(account, reader, error)
                if failure is not None:
                    raise failure from None
                again.append(task)
                return
            account.limits, account.budget = 0, reader.budget
            add_answer(task, answer)

        several = len(self.accounts) > 1
        with open_thread_pool(len(self.accounts)) if several else nullcontext() as executor:
            submit = _call_now if executor is None else executor.submit
            self.run(
                lambda _: again.pop() if again else take_task(),
                lambda task, reader: submit(execute, task, reader),
                add,
                has_work=lambda: bool(again),
                width=len(self.accounts),
            )


def remove_advice(error: BaseException) -> None:
    """Remove the hint at client.resume(), which would continue only one range."""
    if error.args:
        error.args = (ADVICE.sub("", str(error.args[0])), *error.args[1:])
    notes = getattr(error, "__notes__", [])
    notes[:] = [note for note in notes if "client.resume()" not in note]


def _call_now(
    execute: Callable[[Task, RangeReader], Answer], task: Task, reader: RangeReader
) -> Future[Answer]:
    """Run a task in this thread, as an executor would."""
    future: Future[Answer] = Future()
    try:
        future.set_result(execute(task, reader))
    except GqlnbError as error:
        future.set_exception(error)
    except KeyboardInterrupt as error:
        remove_advice(error)
        raise
    return future
