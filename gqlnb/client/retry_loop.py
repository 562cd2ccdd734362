"""The attempts at one request: when to make the next, and what a person hears of it."""

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
    """Counts the attempts at one request, and says whether there is another one.

    Parameters
    ----------
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    source
        Where the answers are from, as it is shown.
    timeout
        Seconds for all attempts together, waits apart.
    wait
        Seconds that may be waited in all, None for any number.
    fraction
        Gives a random number, ``0 <= number < 1``.
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
        """Make attempts until there is a result, or no other attempt may help.

        Parameters
        ----------
        attempt
            Makes one attempt that ends by a moment of :func:`time.monotonic`, and returns the
            result, or the error that another attempt might not have.
        turn
            Makes what each attempt is made within; the time to enter it is not counted.
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
            How the last one ended.

        Raises
        ------
        TransportError
            If there is no other attempt, with what was tried in its message. Of several errors it
            is the first with an HTTP status, else the first: a connection that breaks after such an
            answer says less about what is wrong.
        """
        ended = classify_failure(error)
        if self._first_error is None or (
            self._first_error.status is None and error.status is not None
        ):
            self._first_error = error
        if ended is None:
            raise error
        attempt = Attempt(self.kind, ended, self._attempt_number, self._wait_left, error.wait)
        over = error.replayed or monotonic() >= self.deadline
        wait = None if over else compute_retry_delay(attempt, self._fraction())
        if wait is None:
            error = self._first_error
            error.args = (f"{error.args[0]}{self._describe_attempts(error)}",)
            raise error
        self._attempt_number += 1
        self._wait_left -= wait
        self.deadline += wait
        self._announce_retry(wait, ended, error)
        return wait

    def _describe_attempts(self, error: TransportError) -> str:
        said = ""
        if self.kind != "query" and classify_failure(error) == "busy":
            said = f" {MAYBE_EXECUTED}"  # a gateway that gave up waiting does not know either
        if isinstance(error, RateLimited) and self.kind == "query" and self._wait_left < inf:
            said = (
                f" A client waits {self._max_wait:g} s in all by itself: "
                "give it limits=Limits(wait=...) for more."
            )
        if self._attempt_number > 1:
            said += (
                f" Asked {self._attempt_number} times in {monotonic() - self._started_at:.1f} s."
            )
        return said

    def _announce_retry(self, wait: float, ended: str, error: TransportError) -> None:
        """Say why nothing happens: in the log, and on the screen of a person who waits."""
        reason = {
            "limited": "rate limit reached",
            "busy": "the endpoint failed" if error.transient else f"HTTP {error.status}",
            "broken": "the connection broke",
        }[ended]
        said = (
            f"{self.source}: {reason}. Asking again in {wait:.1f} s "
            f"(attempt {self._attempt_number} of {MAX_ATTEMPTS})."
        )
        announce_wait(said, wait)


def announce_wait(said: str, wait: float) -> None:
    """Say why nothing happens for so many seconds: in the log, and to a person who waits."""
    _LOG.warning("%s", said)
    if wait >= NOTICEABLE_WAIT and is_interactive():
        sys.stderr.write(f"{said} Interrupt to stop waiting.\n")


def is_interactive() -> bool:
    """Tell whether a person sees what is written: in a notebook, or at a terminal."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        return True
    return sys.stderr is not None and sys.stderr.isatty()
