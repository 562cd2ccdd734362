"""Retries of one request: when to make the next attempt, and its announcement."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import time
from contextlib import nullcontext
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from gqlnb.client.network_errors import MAYBE_EXECUTED
from gqlnb.errors import RateLimited, TransportError
from gqlnb.http.rate_limit_rules import MAX_ATTEMPTS, Attempt, classify_failure, compute_retry_delay
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    Outcome = Result | TransportError

__all__ = ["NOTICEABLE_WAIT", "RetryLoop", "announce_wait", "is_interactive"]

_LOG = logging.getLogger("gqlnb")
NOTICEABLE_WAIT = 1.5  # seconds; a shorter wait needs no explanation


class RetryLoop:
    """The attempts at one request.

    Parameters
    ----------
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    source
        The endpoint, as it is shown.
    timeout
        Seconds for all attempts together, without the waits between them.
    wait
        Seconds to wait in all, None for any number.
    fraction
        Returns a random number, ``0 <= number < 1``.
    """

    def __init__(
        self,
        kind: str,
        source: str,
        timeout: float,
        wait: float | None,
        *,
        fraction: Callable[[], float] = random.random,
    ) -> None:
        self.kind, self.source = kind, source
        self.deadline = monotonic() + timeout
        self._max_wait = inf if wait is None else wait
        self._wait_left = self._max_wait
        self._started_at = monotonic()
        self._attempt_number = 1
        self._first_error: TransportError | None = None
        self._fraction = fraction

    def run(
        self,
        attempt: Callable[[float], Outcome],
        turn: Callable[[], AbstractContextManager[Any]] = nullcontext,
        give_up: Callable[[TransportError], bool] | None = None,
    ) -> Result:
        """Make attempts until there is a result, or another attempt would not help.

        Parameters
        ----------
        attempt
            Makes one attempt, which ends by the given :func:`time.monotonic`, and returns the
            result, or an error that another attempt might not have.
        turn
            Returns the context manager for each attempt; entering it does not use up the timeout.
        give_up
            Returns whether to raise an error at once, although another attempt might help.

        Raises
        ------
        TransportError
            If there is no result; as :meth:`plan_delay` does, or as `give_up` says.
        """
        while True:
            begun = monotonic()
            with turn():
                self.deadline += monotonic() - begun
                outcome = attempt(self.deadline)
            if isinstance(outcome, Result):
                return outcome
            if give_up is not None and give_up(outcome):
                raise outcome
            time.sleep(self.plan_delay(outcome))

    async def arun(
        self,
        attempt: Callable[[float], Awaitable[Outcome]],
        turn: Callable[[], AbstractAsyncContextManager[Any]] = nullcontext,
        give_up: Callable[[TransportError], bool] | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`run`."""
        while True:
            begun = monotonic()
            async with turn():
                self.deadline += monotonic() - begun
                outcome = await attempt(self.deadline)
            if isinstance(outcome, Result):
                return outcome
            if give_up is not None and give_up(outcome):
                raise outcome
            await asyncio.sleep(self.plan_delay(outcome))

    def plan_delay(self, error: TransportError) -> float:
        """Return the seconds to wait before the next attempt.

        Parameters
        ----------
        error
            The error of the last attempt.

        Raises
        ------
        TransportError
            If there is no other attempt, with the attempts in its message.
        """
        failure = classify_failure(error)
        # Of several errors the first with an HTTP status is raised, else the first: a connection
        # that breaks after such a response says less about the cause.
        if self._first_error is None or (
            self._first_error.status is None and error.status is not None
        ):
            self._first_error = error
        if failure is None:
            raise error
        attempt = Attempt(self.kind, failure, self._attempt_number, self._wait_left, error.wait)
        # A replayed error would be replayed again.
        over = error.replayed or monotonic() >= self.deadline
        wait = None if over else compute_retry_delay(attempt, self._fraction())
        if wait is None:
            error = self._first_error
            error.args = (f"{error.args[0]}{self._describe_attempts(error)}",)
            raise error
        self._attempt_number += 1
        self._wait_left -= wait
        self.deadline += wait
        reason = {
            "limited": "rate limit reached",
            "busy": "the endpoint failed" if error.transient else f"HTTP {error.status}",
            "broken": "the connection broke",
        }[failure]
        announce_wait(
            f"{self.source}: {reason}. Asking again in {wait:.1f} s "
            f"(attempt {self._attempt_number} of {MAX_ATTEMPTS}).",
            wait,
        )
        return wait

    def _describe_attempts(self, error: TransportError) -> str:
        text = ""
        if self.kind != "query" and classify_failure(error) == "busy":
            text = f" {MAYBE_EXECUTED}"  # a gateway with a timeout does not know either
        if isinstance(error, RateLimited) and self.kind == "query" and self._wait_left < inf:
            text = (
                f" A client waits {self._max_wait:g} s in all by itself: "
                "give it limits=Limits(wait=...) for more."
            )
        if self._attempt_number > 1:
            seconds = monotonic() - self._started_at
            text += f" Asked {self._attempt_number} times in {seconds:.1f} s."
        return text


def announce_wait(text: str, wait: float) -> None:
    """Log the reason for a wait of so many seconds; in interactive use also write it to stderr."""
    _LOG.warning("%s", text)
    if wait >= NOTICEABLE_WAIT and is_interactive():
        sys.stderr.write(f"{text} Interrupt to stop waiting.\n")


def is_interactive() -> bool:
    """Return whether stderr is seen by a person: in a notebook, or at a terminal."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        return True
    return sys.stderr is not None and sys.stderr.isatty()
