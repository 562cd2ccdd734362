"""Pacing: all clients and threads that share a budget ask in turn, and none before it may."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakSet, WeakValueDictionary

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.retry_loop import NOTICEABLE_WAIT, announce_wait
from gqlnb.client.transports import InProcessTransport
from gqlnb.client.urls import format_origin, is_loopback
from gqlnb.errors import RateLimited, TransportError
from gqlnb.http.rate_limit_rules import Budget, classify_failure, read_budget
from gqlnb.http.throttle import MAX_CONCURRENT, OBSERVED_HEADERS, Throttle
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from gqlnb.client.transports import Transport

__all__ = ["Clock", "QueuedRequest", "RateLimiter", "RequestQueue", "get_queue"]

Outcome = TypeVar("Outcome", bound=Result | TransportError)
MAX_SLEEP = (
    30.0  # seconds after which a wait looks at the clock: a machine may have slept meanwhile
)
CLOCK_TOLERANCE = 0.1  # seconds; who has waited by another clock is not sent back for so little
NO_MEMBERS: Mapping[str, Any] = {}
BUDGET_FIELD = "rateLimit"  # of GitHub; the data are looked at only where a document names it


class Clock:
    """The time, and waiting; tests have one of their own."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def wait(self, event: threading.Event, seconds: float | None) -> None:
        """Wait until an event or for a time; None for any."""
        event.wait(seconds)

    async def await_(self, event: asyncio.Event, seconds: float | None) -> None:
        """Do the same without blocking the running loop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()


class QueuedRequest:
    """One request's place in the order; a context manager, for ``with`` and ``async with``.

    Attributes
    ----------
    points
        What the request is taken to cost.
    wait
        Seconds it may be kept waiting because the endpoint asks to.
    source
        The endpoint, as it is shown.
    is_sent
        Whether its request is on its way.
    """

    __slots__ = (
        "_announcement",
        "_is_announced",
        "_loop",
        "_queue",
        "is_sent",
        "points",
        "source",
        "wait",
        "wakeup",
    )

    def __init__(self, gate: RequestQueue, points: float, wait: float, source: str) -> None:
        self._queue, self.points, self.wait, self.source = gate, points, wait, source
        self.is_sent = self._is_announced = False
        self._announcement: tuple[str, float] | None = None
        self.wakeup: threading.Event | asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        gate = self._queue
        try:
            if gate.enqueue(self) != 0:
                self.wakeup = event = threading.Event()
                while (seconds := gate.admit(self)) != 0:
                    self._announce_pause()
                    gate.clock.wait(event, seconds)
                    event.clear()
        except BaseException:
            gate.withdraw(self)
            raise
        return self

    async def __aenter__(self) -> Self:
        gate = self._queue
        try:
            if gate.enqueue(self) != 0:
                self.wakeup = event = asyncio.Event()
                self._loop = asyncio.get_running_loop()
                while (seconds := gate.admit(self)) != 0:
                    self._announce_pause()
                    await gate.clock.await_(event, seconds)
                    event.clear()
        except BaseException:
            gate.withdraw(self)
            raise
        return self

    def note_pause(self, seconds: float, reason: str) -> None:
        """Note that it has to wait so long; why is told once, and not where the gate is locked."""
        if not self._is_announced and seconds >= NOTICEABLE_WAIT:
            self._is_announced = True
            self._announcement = (
                f"{self.source}: {reason} Asking again in {seconds:.1f} s.",
                seconds,
            )

    def _announce_pause(self) -> None:
        due, self._announcement = self._announcement, None
        if due is not None:
            announce_wait(*due)

    def wake(self) -> None:
        """Have whoever waits look again; from any thread."""
        if self.wakeup is None:
            return
        if self._loop is None:
            self.wakeup.set()
            return
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            self._loop.call_soon_threadsafe(self.wakeup.set)

    def __exit__(self, *_: object) -> None:
        self._queue.finish(self)

    async def __aexit__(self, *_: object) -> None:
        self._queue.finish(self)


class RequestQueue:
    """The one gate before an endpoint, for all who send it the same token; thread-safe.

    Parameters
    ----------
    width
        Most requests at once.
    clock
        The time.
    """

    def __init__(self, width: int = MAX_CONCURRENT, clock: Clock | None = None) -> None:
        self.clock = Clock() if clock is None else clock
        self.width = width
        self.reset()
        _all_queues.add(self)

    def reset(self) -> None:
        """Begin with nobody waiting, as a forked child does."""
        self.lock = threading.Lock()
        self.flow = Throttle(self.width)
        self._waiting: deque[QueuedRequest] = deque()

    def enqueue(self, turn: QueuedRequest) -> float | None:
        """Enter a turn as the last one; return as :meth:`admit` does."""
        with self.lock:
            self._waiting.append(turn)
        return self.admit(turn)

    def admit(self, turn: QueuedRequest) -> float | None:
        """Return 0 if a turn has come, else the seconds to wait; None to wait for news.

        Raises
        ------
        RateLimited
            If the wait is longer than it has patience for.
        """
        with self.lock:
            now = self.clock.now()
            seconds = self.flow.compute_delay(turn.points, now)
            if seconds is not None and seconds > turn.wait:
                raise build_late_error(turn, seconds, explain_wait(self.flow, now))
            if seconds is None or self._waiting[0] is not turn:
                return None
            if seconds > 0:
                turn.note_pause(seconds, explain_wait(self.flow, now))
                return min(seconds, MAX_SLEEP)
            self._waiting.popleft()
            turn.is_sent = True
            self.flow.start_request(turn.points)
            self._wake_first()
            return 0

    def withdraw(self, turn: QueuedRequest) -> None:
        """Forget a turn that was given up, be it that it had just come."""
        if turn.is_sent:
            self.finish(turn)
            return
        with self.lock:
            with suppress(ValueError):
                self._waiting.remove(turn)
            self._wake_first()

    def finish(self, turn: QueuedRequest) -> None:
        """Note that the request of a turn is over."""
        with self.lock:
            turn.is_sent = False
            self.flow.finish_request(turn.points)
            self._wake_first()

    def update_flow(self, change: Callable[[Throttle], None]) -> None:
        """Change what is known; whoever waits looks again."""
        with self.lock:
            change(self.flow)
            for turn in self._waiting:
                turn.wake()

    def _wake_first(self) -> None:
        if self._waiting:
            self._waiting[0].wake()


_all_queues: WeakSet[RequestQueue] = WeakSet()
_shared_queues: WeakValueDictionary[Hashable, RequestQueue] = WeakValueDictionary()
_lock = threading.Lock()


def _after_fork() -> None:
    """Give a forked child gates of its own: a thread of the parent may have held their locks."""
    global _lock  # noqa: PLW0603 - a lock that is held for ever is of no use
    _lock = threading.Lock()
    for gate in list(_all_queues):
        gate.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def get_queue(transport: Transport) -> RequestQueue:
    """Return the gate before an endpoint: the same one for the same origin and secrets.

    A budget belongs to a token, or to an address where none is sent. Without a token, a server on
    this machine is one that somebody restarts, and each client of it begins anew.
    """
    if isinstance(transport, InProcessTransport):
        return RequestQueue(1)  # it is this process that works: more at once would only take turns
    if not isinstance(transport, HttpTransport):
        return RequestQueue()
    secrets = frozenset(
        token.compute_fingerprint() for token in transport.credentials.list_tokens()
    )
    if not secrets and is_loopback(transport.url):
        return RequestQueue()
    key = (format_origin(transport.url), secrets)
    with _lock:
        gate = _shared_queues.get(key)
        if gate is None:
            gate = _shared_queues[key] = RequestQueue()
        return gate


class RateLimiter:
    """The gate as one client sees it.

    Parameters
    ----------
    gate
        The gate.
    source
        The endpoint, as it is shown.
    wait
        Seconds that one turn may be waited for because the endpoint asks to; None for any number.
        Waiting for others who go first is not counted.
    """

    def __init__(self, gate: RequestQueue, source: str, wait: float | None) -> None:
        self._queue, self._source = gate, source
        self._max_wait = inf if wait is None else wait

    def queue_request(self, points: float = 1, wait: float | None = None) -> QueuedRequest:
        """Return the turn of one request, a context manager: it begins when the request may go.

        In the order in which they are entered, by ``with`` or ``async with``. Entering it raises
        :class:`RateLimited` at once, with the time, if the wait would be longer than allowed.

        Parameters
        ----------
        points
            What the request is taken to cost.
        wait
            Seconds that this one may be waited for; None for what all of the client's may be.
        """
        return QueuedRequest(
            self._queue, points, self._max_wait if wait is None else wait, self._source
        )

    @property
    def concurrency(self) -> int:
        """How many requests may be on their way at once; it changes with what is learned."""
        return self._queue.flow.capacity

    @property
    def budget(self) -> Budget:
        """What is known of the budget now."""
        gate = self._queue
        with gate.lock:
            return gate.flow.estimate_budget(gate.clock.now())

    def check_wait(self) -> None:
        """Do nothing, unless the endpoint has named a time before which it will not be asked.

        Raises
        ------
        RateLimited
            With the seconds until then.
        """
        asked = self._queue.flow.requested_until
        if asked:
            seconds = asked - self._queue.clock.now()
            if seconds > CLOCK_TOLERANCE:
                msg = f"{self._source}: The endpoint asked to wait {seconds:.0f} s more."
                raise RateLimited(msg, wait=seconds)

    def record_outcome(self, outcome: Outcome, took: float = 0.0) -> Outcome:
        """Take in what an answer, or an error, says about budget and limits; return it unchanged.

        Parameters
        ----------
        outcome
            What came of a request.
        took
            Seconds from the request to the end of its answer.
        """
        if is_replayed(outcome):
            return outcome
        limit = outcome if isinstance(outcome, RateLimited) else None
        if not isinstance(outcome, Result) and limit is None:
            return self._record_failure(outcome, took)
        headers, extensions, data = read_reports(outcome if limit is None else limit.result)
        silent = (
            limit is None
            and not extensions
            and data is None
            and OBSERVED_HEADERS.isdisjoint(headers)
        )
        if silent and self._queue.flow.is_unconstrained:
            return outcome
        now = self._queue.clock.now()
        told = read_budget(headers, extensions, data, now)

        def apply_outcome(flow: Throttle) -> None:
            flow.record_answer(told, headers, took, now)
            if limit is None:
                flow.record_success(now)
            else:
                flow.record_limit(limit.wait, now)

        self._queue.update_flow(apply_outcome)
        return outcome

    def _record_failure(self, error: Outcome, took: float) -> Outcome:
        """Take in that no answer came, to a request that may have been executed."""
        if isinstance(error, TransportError) and classify_failure(error) is not None:
            wait, now = error.wait, self._queue.clock.now()
            self._queue.update_flow(lambda flow: flow.record_loss(took, wait, now))
        return error


def is_replayed(outcome: Outcome) -> bool:
    """Tell whether an outcome was replayed: what it says of a limit was so long ago."""
    came = outcome.response if isinstance(outcome, Result) else outcome
    return bool(getattr(came, "replayed", False))


def read_reports(result: Any) -> tuple[Mapping[str, str], Mapping[str, Any], Any]:
    """Return headers and extensions of a result, and the data if its document asks for a budget."""
    if not isinstance(result, Result):
        return NO_MEMBERS, NO_MEMBERS, None
    response, document = result.response, result.document
    asks = document is not None and BUDGET_FIELD in document.text
    headers = NO_MEMBERS if response is None else response.headers
    return headers, result.extensions, result.data if asks else None


def explain_wait(flow: Throttle, now: float) -> str:
    """Say why the next request may not go yet."""
    known = flow.estimate_budget(now)
    if now < flow.blocked_until:
        return "The endpoint asks for a pause."
    if known.reset is not None and known.remaining is not None and not known.remaining >= 1:
        return f"The budget is used up until {known.reset:%Y-%m-%d %H:%M:%S} UTC."
    if known.restored:
        return f"The budget has {known.remaining:,.0f} points, too few for the request."
    return "The endpoint works a minute of each minute, and that is used up."


def build_late_error(turn: QueuedRequest, seconds: float, reason: str) -> RateLimited:
    """Return the error for a turn that would come too late."""
    msg = (
        f"{turn.source}: {reason} The next request may go in {seconds:.0f} s. A client waits "
        f"{turn.wait:g} s by itself: give it limits=Limits(wait=...) for more."
    )
    return RateLimited(msg, wait=seconds)
