"""Sending of prepared requests: attempts, rate limits, and the reading of the responses."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gqlnb.client.retry_loop import RetryLoop
from gqlnb.errors import TransportError
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.redact import strip_traceback
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.rate_limiter import QueuedRequest, RateLimiter
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request

__all__ = ["Outcome", "PreparedRequest", "RequestSender"]

Outcome: TypeAlias = Result | TransportError


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
    """

    request: Request
    context: ResponseContext
    transport: Transport
    is_direct: bool


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
        self._endpoint, self._limiter = endpoint, limiter

    def send(
        self,
        prepared: PreparedRequest,
        *,
        queued: bool = False,
        max_wait: float | None = None,
        give_up: Callable[[TransportError], bool] | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
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

        Raises
        ------
        GqlnbError
            If there is no result.
        """
        loop, turn = self._start_loop(prepared, queued, max_wait)
        return loop.run(
            lambda deadline: self.send_once(prepared, deadline, on_attempt), turn, give_up
        )

    async def asend(
        self,
        prepared: PreparedRequest,
        *,
        queued: bool = False,
        max_wait: float | None = None,
        give_up: Callable[[TransportError], bool] | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`send`."""
        loop, turn = self._start_loop(prepared, queued, max_wait)
        return await loop.arun(
            lambda deadline: self.asend_once(prepared, deadline, on_attempt), turn, give_up
        )

    def _start_loop(
        self, prepared: PreparedRequest, queued: bool, max_wait: float | None
    ) -> tuple[RetryLoop, Callable[[], QueuedRequest | nullcontext[Any]]]:
        endpoint = self._endpoint
        wait = endpoint.limits.wait if max_wait is None else max_wait
        loop = RetryLoop(
            prepared.context.document.kind, endpoint.source, endpoint.options.timeout, wait
        )
        if not queued:
            return loop, nullcontext
        return loop, partial(self._limiter.queue_request, wait=inf if wait is None else wait)

    def send_once(
        self,
        prepared: PreparedRequest,
        deadline: float | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
    ) -> Outcome:
        """Make one attempt; an error that another attempt might not have is returned."""
        started = time.monotonic()
        outcome: Outcome | None = None
        try:
            if prepared.is_direct:
                self._limiter.check_wait()
            # The response gets no name here: a traceback may show the locals of this frame.
            outcome = parse_response(
                prepared.transport.send(replace(prepared.request, deadline=deadline)),
                replace(prepared.context, now=time.time()),
            )
        except TransportError as error:
            outcome = strip_traceback(error)
        finally:  # also after an interrupt: the request was sent and may have cost points
            if on_attempt is not None:
                on_attempt(outcome, time.monotonic() - started)
        return self._limiter.record_outcome(outcome, time.monotonic() - started)

    async def asend_once(
        self,
        prepared: PreparedRequest,
        deadline: float | None = None,
        on_attempt: Callable[[Outcome | None, float], None] | None = None,
    ) -> Outcome:
        """Asynchronous version of :meth:`send_once`."""
        started = time.monotonic()
        outcome: Outcome | None = None
        try:
            if prepared.is_direct:
                self._limiter.check_wait()
            outcome = parse_response(
                await prepared.transport.asend(replace(prepared.request, deadline=deadline)),
                replace(prepared.context, now=time.time()),
            )
        except TransportError as error:
            outcome = strip_traceback(error)
        finally:
            if on_attempt is not None:
                on_attempt(outcome, time.monotonic() - started)
        return self._limiter.record_outcome(outcome, time.monotonic() - started)
