"""Sending of prepared requests: attempts, rate limits, and the reading of the responses."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.transports import MAYBE_EXECUTED, Transport
from gqlnb.document.upload import has_file
from gqlnb.errors import AnswerError, GqlnbError, RateLimited, TransportError
from gqlnb.http.messages import Request, RequestArray
from gqlnb.http.rate_limit_rules import (
    MAX_ATTEMPTS,
    Attempt,
    FailureKind,
    classify_failure,
    compute_retry_delay,
)
from gqlnb.http.response_parser import ResponseContext, parse_array, parse_response
from gqlnb.interactive import announce_wait, warn_caller
from gqlnb.redact import strip_traceback
from gqlnb.result.answer_notes import MAX_NOTES, WARNINGS, iterate_warnings
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.rate_limiter import RateLimiter
    from gqlnb.client.response_cache import CachedRequest

Failure: TypeAlias = TransportError | AnswerError
Outcome: TypeAlias = Result | Failure
Answer = TypeVar("Answer")  # of one request, or of an array of them


class PreparedRequest(NamedTuple):
    """A request that was checked, and everything needed to send it and to read its response.

    Attributes
    ----------
    request
        The request.
    context
        The context in which its response is read.
    transport
        The transport, or the recording in front of it, chosen once for all attempts.
    is_direct
        Whether the transport is the endpoint's own, so that rate limits apply.
    cached
        Its place among the remembered answers; None if it has none.
    """

    request: Request
    context: ResponseContext
    transport: Transport
    is_direct: bool
    cached: CachedRequest | None = None

    def can_share_array(self) -> bool:
        """Return whether it may be sent in an array with others."""
        return (
            self.is_direct  # recordings hold one request and its answer
            and isinstance(self.transport, HttpTransport)
            and not self.context.document.incremental_directives
            and not any(map(has_file, (self.request.variables or {}).values()))
            and (self.cached is None or self.cached.find() is None)
        )


class RequestSender:
    """Sends the requests of one client.

    Parameters
    ----------
    endpoint
        Gives the timeout and the limits.
    limiter
        The rate limiter.
    """

    def __init__(self, endpoint: Endpoint, limiter: RateLimiter) -> None:
        self._endpoint, self.limiter = endpoint, limiter
        self._shown_warnings: set[str] = set()

    def with_endpoint(self, endpoint: Endpoint, limiter: RateLimiter) -> RequestSender:
        """Return a sender of one call, which repeats none of the warnings of this one."""
        derived = RequestSender(endpoint, limiter)
        derived._shown_warnings = self._shown_warnings
        return derived

    def _start_loop(self, kind: str, max_wait: float | None = None) -> RetryLoop:
        """Return the loop of attempts at a request, with the bounds of the endpoint."""
        endpoint = self._endpoint
        wait = endpoint.limits.wait if max_wait is None else max_wait
        return RetryLoop(kind, endpoint.source, endpoint.options.timeout, wait)

    def send(
        self,
        prepared: PreparedRequest,
        *,
        queued: bool = False,
        max_wait: float | None = None,
        give_up: Callable[[TransportError], bool] | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
        quiet: bool = False,
    ) -> Result:
        """Send a request until there is a result, or another attempt would not help.

        Parameters
        ----------
        prepared
            The request.
        queued
            Whether each attempt waits for its turn among all clients that share the budget.
        max_wait
            Longest wait that the endpoint may ask for, in seconds; None for the client's limit.
        give_up
            Returns whether to raise an error at once, although another attempt might help.
        on_attempt
            Called after each attempt with its outcome, None if it raised, and its seconds.
        quiet
            Whether warnings of the endpoint are left to the caller.

        Raises
        ------
        GqlnbError
            If there is no result.
        """
        cached = find_cached(prepared, on_attempt)
        if cached is not None:
            return cached
        started, loop = monotonic(), self._start_loop(prepared.context.document.kind, max_wait)
        turn = partial(self.limiter.queue_request, wait=max_wait) if queued else nullcontext
        attempt = partial(self.send_once, prepared, on_attempt=on_attempt)
        result = loop.run(attempt, turn, give_up)
        self._finish(prepared, result, started, quiet=quiet)
        return result

    async def asend(
        self,
        prepared: PreparedRequest,
        *,
        queued: bool = False,
        give_up: Callable[[TransportError], bool] | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
        quiet: bool = False,
    ) -> Result:
        """Asynchronous version of :meth:`send`."""
        cached = find_cached(prepared, on_attempt)
        if cached is not None:
            return cached
        started, loop = monotonic(), self._start_loop(prepared.context.document.kind)
        turn = self.limiter.queue_request if queued else nullcontext
        attempt = partial(self.asend_once, prepared, on_attempt=on_attempt)
        result = await loop.arun(attempt, turn, give_up)
        self._finish(prepared, result, started, quiet=quiet)
        return result

    async def asend_array(self, prepared: Sequence[PreparedRequest]) -> list[Result | GqlnbError]:
        """Send requests in one array, in turn with the others of the endpoint.

        Returns
        -------
        list of Result or GqlnbError
            The outcome of each request. Those that recordings or remembered answers know, and
            those with files or with answers in parts, are sent alone; so are queries again whose
            own answer says that another attempt may help.
        """
        outcomes: dict[int, Result | GqlnbError] = {}
        together = [at for at, one in enumerate(prepared) if one.can_share_array()]
        if len(together) > 1:
            group = [prepared[at] for at in together]
            try:
                answers = await self._asend_group(group)
            except GqlnbError as error:
                outcomes = dict.fromkeys(together, error)
            else:
                outcomes = {
                    at: answer
                    for at, answer in zip(together, answers, strict=True)
                    if not may_repeat(prepared[at], answer)
                }
        for at, alone in enumerate(prepared):
            if at not in outcomes:
                try:
                    outcomes[at] = await self.asend(alone, queued=True)
                except GqlnbError as error:
                    outcomes[at] = error
        return [outcomes[at] for at in range(len(prepared))]

    async def _asend_group(self, group: Sequence[PreparedRequest]) -> list[Result | GqlnbError]:
        """Send one array, again where that may help; raise the error of the whole array."""
        kind = "query" if all(one.request.is_query for one in group) else "mutation"
        started, loop = monotonic(), self._start_loop(kind)
        attempt = partial(self._asend_group_once, group)
        outcomes = await loop.arun(attempt, self.limiter.queue_request)
        for prepared, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Result):
                self._finish(prepared, outcome, started, quiet=False)
        return outcomes

    async def _asend_group_once(
        self, group: Sequence[PreparedRequest], deadline: float
    ) -> list[Result | GqlnbError] | Failure:
        """Make one attempt; an error that another attempt might not have is returned."""
        contexts = [replace(one.context, now=time.time()) for one in group]
        array = RequestArray(tuple(one.request for one in group), deadline)
        transport = cast("HttpTransport", group[0].transport)
        try:
            self.limiter.check_wait()
            outcomes = parse_array(await transport.asend(array), contexts)
        except (TransportError, AnswerError) as error:
            failure = strip_traceback(error)
            self.limiter.record_outcome(failure)
            return failure
        for number, outcome in enumerate(outcomes):
            if isinstance(outcome, TransportError) or (isinstance(outcome, Result) and not number):
                self.limiter.record_outcome(outcome)
        return outcomes

    def _finish(
        self, prepared: PreparedRequest, result: Result, started: float, *, quiet: bool
    ) -> None:
        """Show the warnings of an answer, and remember it."""
        if not quiet and WARNINGS in result.extensions:
            self._show_warnings(result)
        # Numbers read as null are an error for other clients, which find the same answer.
        if prepared.cached is not None and not getattr(result.response, "nullified", 0):
            prepared.cached.store(result, monotonic() - started)

    def _show_warnings(self, result: Result) -> None:
        """Warn once for each new warning in a result, at the line of the caller outside gqlnb."""
        for kind, text in iterate_warnings(result.extensions):
            if kind not in self._shown_warnings and len(self._shown_warnings) < MAX_NOTES:
                self._shown_warnings.add(kind)
                warn_caller(f"{result.source} warns: {text}")

    def send_once(
        self,
        prepared: PreparedRequest,
        deadline: float | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
    ) -> Outcome:
        """Make one attempt; an error that another attempt might not have is returned."""
        started = monotonic()
        outcome: Outcome | None = None
        try:
            if prepared.is_direct:
                self.limiter.check_wait()
            # The response gets no name here: a traceback may show the locals of this frame.
            outcome = parse_response(
                prepared.transport.send(replace(prepared.request, deadline=deadline)),
                replace(prepared.context, now=time.time()),
            )
        except (TransportError, AnswerError) as error:
            outcome = strip_traceback(error)
        finally:  # also after an interrupt: the request was sent and may have cost points
            if on_attempt is not None:
                on_attempt(outcome, monotonic() - started)
        return self.limiter.record_outcome(outcome)

    async def asend_once(
        self,
        prepared: PreparedRequest,
        deadline: float | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
    ) -> Outcome:
        """Asynchronous version of :meth:`send_once`."""
        started = monotonic()
        outcome: Outcome | None = None
        try:
            if prepared.is_direct:
                self.limiter.check_wait()
            outcome = parse_response(
                await prepared.transport.asend(replace(prepared.request, deadline=deadline)),
                replace(prepared.context, now=time.time()),
            )
        except (TransportError, AnswerError) as error:
            outcome = strip_traceback(error)
        finally:
            if on_attempt is not None:
                on_attempt(outcome, monotonic() - started)
        return self.limiter.record_outcome(outcome)


def find_cached(
    prepared: PreparedRequest, on_attempt: Callable[[Outcome | None, float], None] | None
) -> Result | None:
    """Return the remembered answer to a request; None if it must be sent."""
    answer = None if prepared.cached is None else prepared.cached.find()
    if answer is None:
        return None
    response, seconds = answer
    try:
        result = parse_response(response, prepared.context)
    except GqlnbError:  # it does not fit the document any more
        return None
    if result.errors:  # nor the schema: answers with errors are not remembered
        return None
    if on_attempt is not None:
        # With the seconds of the request: page sizes depend on them, and repeat only with them.
        on_attempt(result, seconds)
    return result


def may_repeat(prepared: PreparedRequest, outcome: Result | GqlnbError) -> bool:
    """Return whether another attempt at one request of an array is allowed and may help."""
    return (
        isinstance(outcome, TransportError)
        and prepared.request.is_query
        and classify_failure(outcome) is not None
    )


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
        # The two bounds are apart: `timeout` is for the work of the endpoint, `wait` for the
        # patience of the person, so a wait moves the deadline by its own length.
        self.deadline = monotonic() + timeout
        self._max_wait = inf if wait is None else wait
        self._wait_left = self._max_wait
        self._started_at = monotonic()
        self._attempt_number = 1
        self._first_error: Failure | None = None
        self._fraction = fraction

    def run(
        self,
        attempt: Callable[[float], Answer | Failure],
        turn: Callable[[], AbstractContextManager[Any]] = nullcontext,
        give_up: Callable[[TransportError], bool] | None = None,
    ) -> Answer:
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
        TransportError, AnswerError
            If there is no result, as :meth:`plan_delay` does.
        """
        while True:
            # Waiting for a turn is not the endpoint's time, so the deadline moves with it.
            begun = monotonic()
            with turn():
                self.deadline += monotonic() - begun
                outcome = attempt(self.deadline)
            if not isinstance(outcome, (TransportError, AnswerError)):
                return outcome
            time.sleep(self.plan_delay(outcome, give_up))

    async def arun(
        self,
        attempt: Callable[[float], Awaitable[Answer | Failure]],
        turn: Callable[[], AbstractAsyncContextManager[Any]] = nullcontext,
        give_up: Callable[[TransportError], bool] | None = None,
    ) -> Answer:
        """Asynchronous version of :meth:`run`."""
        while True:
            begun = monotonic()
            async with turn():
                self.deadline += monotonic() - begun
                outcome = await attempt(self.deadline)
            if not isinstance(outcome, (TransportError, AnswerError)):
                return outcome
            await asyncio.sleep(self.plan_delay(outcome, give_up))

    def plan_delay(
        self, error: Failure, give_up: Callable[[TransportError], bool] | None = None
    ) -> float:
        """Return the seconds to wait before the next attempt.

        Parameters
        ----------
        error
            The error of the last attempt.
        give_up
            As for :meth:`run`.

        Raises
        ------
        TransportError, AnswerError
            If there is no other attempt, with the attempts in its message; at once if `give_up`
            says so.
        """
        if give_up is not None and isinstance(error, TransportError) and give_up(error):
            raise error
        failure = classify_failure(error)
        # Of several errors, the first of those that say most about the cause is raised.
        if self._first_error is None or rank_failure(error) > rank_failure(self._first_error):
            self._first_error = error
        if failure is None:
            raise error
        asked = error.wait if isinstance(error, TransportError) else None
        attempt = Attempt(self.kind, failure, self._attempt_number, self._wait_left, asked)
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
        announce_wait(
            f"{self.source}: {describe_failure(error, failure)}. Retrying in {wait:.1f} s "
            f"(attempt {self._attempt_number} of {MAX_ATTEMPTS}).",
            wait,
        )
        return wait

    def _describe_attempts(self, error: Failure) -> str:
        text = ""
        # A gateway with a timeout does not know either. Errors of a broken connection say it.
        is_unclear = classify_failure(error) == "busy" or isinstance(error, AnswerError)
        if self.kind != "query" and is_unclear:
            text = f" {MAYBE_EXECUTED}"
        if isinstance(error, RateLimited) and self.kind == "query" and self._wait_left < inf:
            text = (
                f" The maximum total wait is {self._max_wait:g} s. "
                "To wait longer, pass limits=Limits(wait=...)."
            )
        if self._attempt_number > 1:
            seconds = monotonic() - self._started_at
            text += f" Gave up after {self._attempt_number} attempts in {seconds:.1f} s."
        return text


def rank_failure(error: Failure) -> int:
    """Return how much an error says about the cause, compared with others of the same request."""
    # An HTTP status says more than an answer that was cut, and that more than a lost connection.
    if isinstance(error, AnswerError):
        return 1
    return 0 if error.status is None else 2


def describe_failure(error: Failure, kind: FailureKind) -> str:
    """Return the reason for another attempt, as the beginning of a sentence."""
    if isinstance(error, AnswerError):
        return "the answer was empty or incomplete"
    if kind == "limited":
        return "rate limit reached"
    if kind == "broken":
        return "the connection broke"
    return "the endpoint failed" if error.transient else f"HTTP {error.status}"
