"""The readers of a harvest in ranges: one range at a time for each account.

GitHub's budget belongs to the account, so tokens of one account are readers of which the next one
replaces the one that is refused.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gqlnb.background import POLL_SECONDS, open_thread_pool
from gqlnb.client.paging import pager
from gqlnb.client.progress import announce_pause, sum_budgets
from gqlnb.errors import AuthError, GqlnbError, QueryError, RateLimited
from gqlnb.http.response_parser import find_refusal
from gqlnb.http.retry_rules import DEFAULT_LIMIT_WAIT
from gqlnb.result.result import PartialError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gqlnb.client.paging.pager import Pager
    from gqlnb.client.progress import Account
    from gqlnb.client.range_harvest.range_reader import RangeReader
    from gqlnb.http.rate_limit_rules import Budget

    # The pagers of clients by account, notes on clients that were refused, and a doubt.
    FindAccounts = Callable[[], tuple[Mapping[str, Sequence[Pager]], list[str], str]]

__all__ = ["ReaderAccount", "ReaderPool", "describe_refusal"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

MAX_RATE_LIMITS = 8  # in a row, after which an account is given up
# The hint that paging adds to an error.
ADVICE = re.compile(rf" [\d,]+ items were received before\. {re.escape(pager.ADVICE)}")


@dataclass
class ReaderAccount:
    """An account with its readers.

    Attributes
    ----------
    name
        The login; empty if there is only one account.
    readers
        The readers of its tokens; the first one is in use.
    limits
        Rate limits in a row.
    resumes_at
        When it may read again, in seconds of time.monotonic().
    refusal
        The reason for which it reads no more; empty while it does.
    """

    name: str
    readers: list[RangeReader]
    limits: int = 0
    resumes_at: float = 0.0
    refusal: str = ""

    @property
    def budget(self) -> Budget:
        """The remaining budget."""
        return self.readers[0].budget


class ReaderPool:
    """Runs tasks with the readers of several accounts, in threads if there are several.

    Parameters
    ----------
    accounts
        The accounts.
    doubt
        The reason why rows may be missing, if the accounts see different rows; else empty.

    Attributes
    ----------
    notes
        The accounts and tokens that were refused or given up, as sentences.
    """

    def __init__(self, accounts: Sequence[ReaderAccount], doubt: str = "") -> None:
        self._accounts, self.doubt = list(accounts), doubt
        self.notes: list[str] = []

    @property
    def budget(self) -> Budget | None:
        """The remaining budget of all accounts."""
        return sum_budgets(self._accounts)

    @property
    def _live(self) -> list[ReaderAccount]:
        """The accounts that were not refused."""
        return [each for each in self._accounts if not each.refusal]

    def call(self, task: Callable[[RangeReader], Answer]) -> Answer:
        """Run one task, and return its result.

        Raises
        ------
        GqlnbError
            If it failed for good.
        """
        answers: list[Answer] = []
        tasks = iter([task])
        self.run(
            lambda: next(tasks, None),
            lambda task, reader: task(reader),
            lambda _, answer: answers.append(answer),
        )
        return answers[0]

    def run(
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
        running: dict[Future[Answer], tuple[Task, ReaderAccount]] = {}
        again: list[Task] = []
        failures: list[GqlnbError] = []
        several = len(self._accounts) > 1
        with open_thread_pool(len(self._accounts)) if several else nullcontext() as executor:
            submit = _call_now if executor is None else executor.submit
            while True:
                while not failures and (account := self._find_idle(running)) is not None:
                    task = again.pop() if again else take_task()
                    if task is None:
                        break
                    running[submit(execute, task, account.readers[0])] = task, account
                pause = self._compute_pause()
                if not running:
                    if not again or failures:
                        break
                    time.sleep(pause or 0)
                pause = min(pause, POLL_SECONDS) if again and pause is not None else POLL_SECONDS
                done, _ = wait(running, pause, return_when=FIRST_COMPLETED)
                for future in done:
                    task, account = running.pop(future)
                    try:
                        answer = future.result()
                    except GqlnbError as error:
                        remove_advice(error)
                        if self._continue_after(account, error):
                            again.append(task)
                        else:
                            failures.append(error)
                        continue
                    account.limits = 0
                    add_answer(task, answer)
        if failures:
            raise failures[0]

    def _find_idle(
        self, running: Mapping[Future[Answer], tuple[Task, ReaderAccount]]
    ) -> ReaderAccount | None:
        """Return an account that may read now; None if there is none."""
        busy, now = [account for _, account in running.values()], time.monotonic()
        # Compared by identity, as accounts may be equal.
        free = (it for it in self._live if not any(it is each for each in busy))
        return next((account for account in free if account.resumes_at <= now), None)

    def _compute_pause(self) -> float | None:
        """Return the seconds until a paused account may read again; None without one."""
        now = time.monotonic()
        pauses = [each.resumes_at - now for each in self._live if each.resumes_at > now]
        return min(pauses, default=None)

    def _continue_after(self, account: ReaderAccount, error: GqlnbError) -> bool:
        """Return whether a failed request may succeed for another reader or later."""
        refused = isinstance(error, QueryError | PartialError) and find_refusal(error.result)
        refusal = refused or isinstance(error, AuthError)
        if refusal and len(account.readers) > 1:
            del account.readers[0]
            self.notes.append(describe_refusal(account, error))
            return True
        if len(self._live) < 2:
            return False
        if isinstance(error, RateLimited) and account.limits < MAX_RATE_LIMITS:
            pause = DEFAULT_LIMIT_WAIT if error.wait is None else error.wait
            account.limits += 1
            account.resumes_at = time.monotonic() + pause
            if all(each.resumes_at > time.monotonic() for each in self._live):
                announce_pause(error, pause)
            return True
        if refusal or isinstance(error, RateLimited):
            account.refusal = str(error)
            self.notes.append(describe_refusal(account, error))
            return True
        return False


def remove_advice(error: BaseException) -> None:
    """Remove the hint at client.resume(), which would continue only one range."""
    if error.args:
        error.args = (ADVICE.sub("", str(error.args[0])), *error.args[1:])
    notes = getattr(error, "__notes__", [])
    notes[:] = [note for note in notes if "client.resume()" not in note]


def describe_refusal(account: Account, error: GqlnbError) -> str:
    """Return which token or account is refused, which ones continue, and the reason."""
    if account.refusal:
        return f"{account.name} is refused; the others continue: {error}"
    return f"A token of {account.name} is refused; its next one continues: {error}"


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
