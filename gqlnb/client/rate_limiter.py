"""Rate limits: clients and threads that share a budget send their requests in turn."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from math import inf
from typing import Any, Self, TypeVar
from weakref import WeakSet, WeakValueDictionary

from gqlnb.background import wait_for_event
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.transports import InProcessTransport, Transport
from gqlnb.errors import AnswerError, RateLimited, TransportError
from gqlnb.http.rate_limit_rules import (
    MAX_CONCURRENT,
    OBSERVED_HEADERS,
    Budget,
    Throttle,
    classify_failure,
    read_budget,
)
from gqlnb.interactive import NOTICEABLE_WAIT, announce_wait
from gqlnb.result.result import Result
from gqlnb.tokens import compute_fingerprint

Outcome = TypeVar("Outcome", bound=Result | TransportError | AnswerError)
# Seconds after which a wait looks at the clock again: the machine may have been suspended.
MAX_SLEEP = 30.0
CLOCK_TOLERANCE = 0.1  # seconds by which a wait on another clock may have been too short
NO_MEMBERS: Mapping[str, Any] = {}
BUDGET_FIELD = "rateLimit"  # of GitHub; data are decoded for it only if the document names it


class Clock:
    """The time, and waiting; tests pass their own."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def wait(self, event: threading.Event, seconds: float | None) -> None:
        """Wait for an event, at most so many seconds; None for any number."""
        wait_for_event(event, seconds)

    async def await_(self, event: asyncio.Event, seconds: float | None) -> None:
        """Asynchronous version of :meth:`wait`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()


class QueuedRequest:
    """The place of one request in a queue; a context manager, for ``with`` and ``async with``.

    Attributes
    ----------
    wait
        Longest wait that the endpoint may ask for, in seconds.
    source
        The endpoint, as it is shown.
    is_sent
        Whether the request was admitted and has not ended.
    """

    def __init__(self, queue: RequestQueue, wait: float, source: str) -> None:
        self._queue, self.wait, self.source = queue, wait, source
        self.is_sent = self._is_announced = False
        self._announcement: tuple[str, float] | None = None
        self._wakeup: threading.Event | asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        queue = self._queue
        try:
            if queue.admit(self, is_new=True) != 0:
                self._wakeup = event = threading.Event()
                while (seconds := self._try_again()) != 0:
                    queue.clock.wait(event, seconds)
                    event.clear()
        except BaseException:
            queue.withdraw(self)
            raise
        return self

    async def __aenter__(self) -> Self:
        queue = self._queue
        try:
            if queue.admit(self, is_new=True) != 0:
                self._wakeup = event = asyncio.Event()
                self._loop = asyncio.get_running_loop()
                while (seconds := self._try_again()) != 0:
                    await queue.clock.await_(event, seconds)
                    event.clear()
        except BaseException:
            queue.withdraw(self)
            raise
        return self

    def _try_again(self) -> float | None:
        """Ask to be admitted, as :meth:`RequestQueue.admit`; announce a pause."""
        seconds = self._queue.admit(self)
        if seconds != 0 and self._announcement is not None:
            announcement, self._announcement = self._announcement, None
            announce_wait(*announcement)
        return seconds

    def note_pause(self, seconds: float, reason: str) -> None:
        """Note a pause to announce, once; not here, where the queue is locked."""
        if not self._is_announced and seconds >= NOTICEABLE_WAIT:
            self._is_announced = True
            text = f"{self.source}: {reason} Retrying in {seconds:.1f} s."
            self._announcement = text, seconds

    def wake(self) -> None:
        """Make the waiting thread or task ask again; from any thread."""
        if self._wakeup is None:
            return
        if self._loop is None:
            self._wakeup.set()
            return
        with suppress(RuntimeError):  # the loop was closed, and its tasks with it
            self._loop.call_soon_threadsafe(self._wakeup.set)

    def __exit__(self, *_: object) -> None:
        self._queue.finish(self)

    async def __aexit__(self, *_: object) -> None:
        self._queue.finish(self)


class RequestQueue:
    """The queue of all clients that send the same token to one endpoint; thread-safe.

    Parameters
    ----------
    width
        Largest number of requests at once.
    clock
        The time.
    """

    def __init__(self, width: int = MAX_CONCURRENT, clock: Clock | None = None) -> None:
        self.clock = Clock() if clock is None else clock
        self._width = width
        self.reset()
        _all_queues.add(self)

    def reset(self) -> None:
        """Empty the queue, as a forked child does."""
        self.lock = threading.Lock()
        self.flow = Throttle(self._width)
        self._waiting: deque[QueuedRequest] = deque()

    def admit(self, request: QueuedRequest, *, is_new: bool = False) -> float | None:
        """Return 0 if a request may be sent, else the seconds to wait; None until it is woken.

        A new request is first put at the end of the queue.

        Raises
        ------
        RateLimited
            If the wait is longer than the request allows.
        """
        with self.lock:
            if is_new:
                self._waiting.append(request)
            now = self.clock.now()
            seconds = self.flow.compute_delay(now)
            if seconds is not None and seconds > request.wait:
                msg = (
                    f"{request.source}: {explain_wait(self.flow, now)} The next request is allowed "
                    f"in {seconds:.0f} s, but the maximum wait is {request.wait:g} s. "
                    "To wait longer, pass limits=Limits(wait=...)."
                )
                raise RateLimited(msg, wait=seconds)
            if seconds is None or self._waiting[0] is not request:
                return None
            if seconds > 0:
                request.note_pause(seconds, explain_wait(self.flow, now))
                return min(seconds, MAX_SLEEP)
            self._waiting.popleft()
            request.is_sent = True
            self.flow.start_request()
            self._wake_first()
            return 0

    def withdraw(self, request: QueuedRequest) -> None:
        """Remove a request that was given up, even if it had just been admitted."""
        if request.is_sent:
            self.finish(request)
            return
        with self.lock:
            with suppress(ValueError):
                self._waiting.remove(request)
            self._wake_first()

    def finish(self, request: QueuedRequest) -> None:
        """Note the end of a request."""
        with self.lock:
            request.is_sent = False
            self.flow.finish_request()
            self._wake_first()

    def update_flow(self, change: Callable[[Throttle], None]) -> None:
        """Change the knowledge of the limits, and make all waiting requests ask again."""
        with self.lock:
            change(self.flow)
            for request in self._waiting:
                request.wake()

    def _wake_first(self) -> None:
        if self._waiting:
            self._waiting[0].wake()


_all_queues: WeakSet[RequestQueue] = WeakSet()
_shared_queues: WeakValueDictionary[Hashable, RequestQueue] = WeakValueDictionary()
_lock = threading.Lock()


def _after_fork() -> None:
    """Replace the locks in a forked child: a thread of the parent may have held them."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
    for queue in list(_all_queues):
        queue.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def get_queue(transport: Transport) -> RequestQueue:
    """Return the queue of an endpoint: the same one for the same origin and secrets."""
    if isinstance(transport, InProcessTransport):
        return RequestQueue(1)  # concurrent executions in this process would not be faster
    if not isinstance(transport, HttpTransport):
        return RequestQueue()
    secrets = frozenset(compute_fingerprint(token) for token in transport.credentials.tokens)
    # A budget belongs to a token, or to an address where none is sent. A server on this machine
    # may be restarted at any time, so each client begins anew.
    if not secrets and transport.is_local:
        return RequestQueue()
    key = (transport.origin, secrets)
    with _lock:
        queue = _shared_queues.get(key)
        if queue is None:
            queue = _shared_queues[key] = RequestQueue()
        return queue


# One limiter per endpoint and token. `gqlnb.http.rate_limit_rules` decides by plain numbers when a
# request may be sent; this class adds the lock, the order and the waiting. Points of running
# requests count as spent, and the remaining points of a window never rise, so that answers in any
# order never let a request too many through.
class RateLimiter:
    """The queue of an endpoint with the limits of one client.

    Parameters
    ----------
    queue
        The queue.
    source
        The endpoint, as it is shown.
    wait
        Longest wait that the endpoint may ask for, in seconds; None for any number. Time behind
        other requests in the queue does not count.
    """

    def __init__(self, queue: RequestQueue, source: str, wait: float | None) -> None:
        self._queue, self._source = queue, source
        self._max_wait = inf if wait is None else wait

    def queue_request(self, wait: float | None = None) -> QueuedRequest:
        """Return a context manager that waits until one request may be sent.

        Requests are sent in the order in which ``with`` or ``async with`` is entered, which raises
        :class:`RateLimited` at once if the wait would be longer than allowed.

        Parameters
        ----------
        wait
            Longest wait for this request in seconds; None for the client's.
        """
        return QueuedRequest(self._queue, self._max_wait if wait is None else wait, self._source)

    @property
    def concurrency(self) -> int:
        """The number of requests that may run at once; it changes with the endpoint's reports."""
        return self._queue.flow.capacity

    @property
    def budget(self) -> Budget:
        """The present budget, as far as it is known."""
        queue = self._queue
        with queue.lock:
            return queue.flow.estimate_budget(queue.clock.now())

    def check_wait(self) -> None:
        """Raise RateLimited before the time until which the endpoint asked to wait."""
        until = self._queue.flow.requested_until
        if until:
            seconds = until - self._queue.clock.now()
            if seconds > CLOCK_TOLERANCE:
                msg = f"{self._source}: The endpoint asked to wait {seconds:.0f} s more."
                raise RateLimited(msg, wait=seconds)

    def record_outcome(self, outcome: Outcome) -> Outcome:
        """Learn the budget and limits from a result or an error; return it unchanged.

        Parameters
        ----------
        outcome
            The outcome of a request.
        """
        result = outcome if isinstance(outcome, Result) else outcome.result
        response = result.response if isinstance(result, Result) else None
        # The rate limits in a recording are outdated.
        if getattr(response if outcome is result else outcome, "replayed", False):
            return outcome
        limit = outcome if isinstance(outcome, RateLimited) else None
        if not isinstance(outcome, Result) and limit is None:
            return self._record_failure(outcome)
        headers = NO_MEMBERS if response is None else response.headers
        extensions, data = NO_MEMBERS, None
        if isinstance(result, Result):
            extensions, document = result.extensions, result.document
            if document is not None and BUDGET_FIELD in document.text:
                data = result.data
        if (
            limit is None
            and not extensions
            and data is None
            and OBSERVED_HEADERS.isdisjoint(headers)
            and self._queue.flow.is_unconstrained
        ):
            return outcome  # most endpoints report no limits
        now = self._queue.clock.now()
        budget = read_budget(headers, extensions, data, now)

        def apply_outcome(flow: Throttle) -> None:
            flow.record_answer(budget, headers, now)
            if limit is None:
                flow.record_success(now)
            else:
                flow.record_limit(limit.wait, now)

        self._queue.update_flow(apply_outcome)
        return outcome

    def _record_failure(self, error: Outcome) -> Outcome:
        """Count the cost of a request without a usable response, which may have been executed."""
        if not isinstance(error, Result) and classify_failure(error) is not None:
            wait = error.wait if isinstance(error, TransportError) else None
            now = self._queue.clock.now()
            self._queue.update_flow(lambda flow: flow.record_loss(wait, now))
        return error


def explain_wait(flow: Throttle, now: float) -> str:
    """Return the reason for a wait, as a sentence."""
    budget = flow.estimate_budget(now)
    if now < flow.blocked_until:
        return "The endpoint requested a delay."
    if budget.reset is not None and budget.remaining is not None and not budget.remaining >= 1:
        return f"The budget is used up until {budget.reset:%Y-%m-%d %H:%M:%S} UTC."
    if budget.restored:
        return f"The budget has {budget.remaining:,.0f} points, too few for the request."
    return "The limit of 60 seconds of processing time per minute is exhausted."
