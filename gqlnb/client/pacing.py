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

from gqlnb.client.addresses import loopback, shown_origin
from gqlnb.client.attempts import NOTICED, tell
from gqlnb.client.http import Http
from gqlnb.client.transports import InProcess
from gqlnb.errors import RateLimited, TransportError
from gqlnb.model.result import Result
from gqlnb.wire.budget import Budget, budget_of
from gqlnb.wire.pacing import MARKS, WIDTH, Flow
from gqlnb.wire.retry import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from gqlnb.client.transports import Transport

__all__ = ["Clock", "Gate", "Pace", "Turn", "gate_of"]

Outcome = TypeVar("Outcome", bound=Result | TransportError)
GLANCE = 30.0  # seconds after which a wait looks at the clock: a machine may have slept meanwhile
NEAR = 0.1  # seconds; who has waited by another clock is not sent back for so little
NOTHING: Mapping[str, Any] = {}
FIELD = "rateLimit"  # of GitHub; the data are looked at only where a document names it


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


class Turn:
    """One request's place in the order; a context manager, for ``with`` and ``async with``.

    Attributes
    ----------
    points
        What the request is taken to cost.
    wait
        Seconds it may be kept waiting because the endpoint asks to.
    source
        The endpoint, as it is shown.
    going
        Whether its request is on its way.
    """

    __slots__ = ("_due", "_gate", "_loop", "_told", "going", "news", "points", "source", "wait")

    def __init__(self, gate: Gate, points: float, wait: float, source: str) -> None:
        self._gate, self.points, self.wait, self.source = gate, points, wait, source
        self.going = self._told = False
        self._due: tuple[str, float] | None = None
        self.news: threading.Event | asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        gate = self._gate
        try:
            if gate.join(self) != 0:
                self.news = event = threading.Event()
                while (seconds := gate.ask(self)) != 0:
                    self._tell()
                    gate.clock.wait(event, seconds)
                    event.clear()
        except BaseException:
            gate.leave(self)
            raise
        return self

    async def __aenter__(self) -> Self:
        gate = self._gate
        try:
            if gate.join(self) != 0:
                self.news = event = asyncio.Event()
                self._loop = asyncio.get_running_loop()
                while (seconds := gate.ask(self)) != 0:
                    self._tell()
                    await gate.clock.await_(event, seconds)
                    event.clear()
        except BaseException:
            gate.leave(self)
            raise
        return self

    def pausing(self, seconds: float, reason: str) -> None:
        """Note that it has to wait so long; why is told once, and not where the gate is locked."""
        if not self._told and seconds >= NOTICED:
            self._told = True
            self._due = f"{self.source}: {reason} Asking again in {seconds:.1f} s.", seconds

    def _tell(self) -> None:
        due, self._due = self._due, None
        if due is not None:
            tell(*due)

    def wake(self) -> None:
        """Have whoever waits look again; from any thread."""
        if self.news is None:
            return
        if self._loop is None:
            self.news.set()
            return
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            self._loop.call_soon_threadsafe(self.news.set)

    def __exit__(self, *_: object) -> None:
        self._gate.end(self)

    async def __aexit__(self, *_: object) -> None:
        self._gate.end(self)


class Gate:
    """The one gate before an endpoint, for all who send it the same token; thread-safe.

    Parameters
    ----------
    width
        Most requests at once.
    clock
        The time.
    """

    def __init__(self, width: int = WIDTH, clock: Clock | None = None) -> None:
        self.clock = Clock() if clock is None else clock
        self.width = width
        self.begin()
        _living.add(self)

    def begin(self) -> None:
        """Begin with nobody waiting, as a forked child does."""
        self.lock = threading.Lock()
        self.flow = Flow(self.width)
        self._queue: deque[Turn] = deque()

    def join(self, turn: Turn) -> float | None:
        """Enter a turn as the last one; return as :meth:`ask` does."""
        with self.lock:
            self._queue.append(turn)
        return self.ask(turn)

    def ask(self, turn: Turn) -> float | None:
        """Return 0 if a turn has come, else the seconds to wait; None to wait for news.

        Raises
        ------
        RateLimited
            If the wait is longer than it has patience for.
        """
        with self.lock:
            now = self.clock.now()
            seconds = self.flow.delay(turn.points, now)
            if seconds is not None and seconds > turn.wait:
                raise late(turn, seconds, why(self.flow, now))
            if seconds is None or self._queue[0] is not turn:
                return None
            if seconds > 0:
                turn.pausing(seconds, why(self.flow, now))
                return min(seconds, GLANCE)
            self._queue.popleft()
            turn.going = True
            self.flow.begin(turn.points)
            self._next()
            return 0

    def leave(self, turn: Turn) -> None:
        """Forget a turn that was given up, be it that it had just come."""
        if turn.going:
            self.end(turn)
            return
        with self.lock:
            with suppress(ValueError):
                self._queue.remove(turn)
            self._next()

    def end(self, turn: Turn) -> None:
        """Note that the request of a turn is over."""
        with self.lock:
            turn.going = False
            self.flow.end(turn.points)
            self._next()

    def note(self, change: Callable[[Flow], None]) -> None:
        """Change what is known; whoever waits looks again."""
        with self.lock:
            change(self.flow)
            for turn in self._queue:
                turn.wake()

    def _next(self) -> None:
        if self._queue:
            self._queue[0].wake()


_living: WeakSet[Gate] = WeakSet()
_shared: WeakValueDictionary[Hashable, Gate] = WeakValueDictionary()
_lock = threading.Lock()


def _after_fork() -> None:
    """Give a forked child gates of its own: a thread of the parent may have held their locks."""
    global _lock  # noqa: PLW0603 - a lock that is held for ever is of no use
    _lock = threading.Lock()
    for gate in list(_living):
        gate.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def gate_of(transport: Transport) -> Gate:
    """Return the gate before an endpoint: the same one for the same origin and secrets.

    A budget belongs to a token, or to an address where none is sent. Without a token, a server on
    this machine is one that somebody restarts, and each client of it begins anew.
    """
    if isinstance(transport, InProcess):
        return Gate(1)  # it is this process that works: more at once would only take turns
    if not isinstance(transport, Http):
        return Gate()
    secrets = frozenset(token.fingerprint() for token in transport.secrets.tokens())
    if not secrets and loopback(transport.url):
        return Gate()
    key = (shown_origin(transport.url), secrets)
    with _lock:
        gate = _shared.get(key)
        if gate is None:
            gate = _shared[key] = Gate()
        return gate


class Pace:
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

    def __init__(self, gate: Gate, source: str, wait: float | None) -> None:
        self._gate, self._source = gate, source
        self._wait = inf if wait is None else wait

    def turn(self, points: float = 1, wait: float | None = None) -> Turn:
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
        return Turn(self._gate, points, self._wait if wait is None else wait, self._source)

    @property
    def width(self) -> int:
        """How many requests may be on their way at once; it changes with what is learned."""
        return self._gate.flow.room

    @property
    def budget(self) -> Budget:
        """What is known of the budget now."""
        gate = self._gate
        with gate.lock:
            return gate.flow.budget(gate.clock.now())

    def check(self) -> None:
        """Do nothing, unless the endpoint has named a time before which it will not be asked.

        Raises
        ------
        RateLimited
            With the seconds until then.
        """
        asked = self._gate.flow.asked
        if asked:
            seconds = asked - self._gate.clock.now()
            if seconds > NEAR:
                msg = f"{self._source}: The endpoint asked to wait {seconds:.0f} s more."
                raise RateLimited(msg, wait=seconds)

    def learn(self, outcome: Outcome, took: float = 0.0) -> Outcome:
        """Take in what an answer, or an error, says about budget and limits; return it unchanged.

        Parameters
        ----------
        outcome
            What came of a request.
        took
            Seconds from the request to the end of its answer.
        """
        if from_a_recording(outcome):
            return outcome
        limit = outcome if isinstance(outcome, RateLimited) else None
        if not isinstance(outcome, Result) and limit is None:
            return self._lose(outcome, took)
        headers, extensions, data = said(outcome if limit is None else limit.result)
        silent = limit is None and not extensions and data is None and MARKS.isdisjoint(headers)
        if silent and self._gate.flow.easy:
            return outcome
        now = self._gate.clock.now()
        told = budget_of(headers, extensions, data, now)

        def change(flow: Flow) -> None:
            flow.answered(told, headers, took, now)
            if limit is None:
                flow.good(now)
            else:
                flow.limited(limit.wait, now)

        self._gate.note(change)
        return outcome

    def _lose(self, error: Outcome, took: float) -> Outcome:
        """Take in that no answer came, to a request that may have been executed."""
        if isinstance(error, TransportError) and failure(error) is not None:
            wait, now = error.wait, self._gate.clock.now()
            self._gate.note(lambda flow: flow.lost(took, wait, now))
        return error


def from_a_recording(outcome: Outcome) -> bool:
    """Tell whether an outcome was replayed: what it says of a limit was so long ago."""
    came = outcome.response if isinstance(outcome, Result) else outcome
    return bool(getattr(came, "replayed", False))


def said(result: Any) -> tuple[Mapping[str, str], Mapping[str, Any], Any]:
    """Return headers and extensions of a result, and the data if its document asks for a budget."""
    if not isinstance(result, Result):
        return NOTHING, NOTHING, None
    response, document = result.response, result.document
    asks = document is not None and FIELD in document.text
    headers = NOTHING if response is None else response.headers
    return headers, result.extensions, result.data if asks else None


def why(flow: Flow, now: float) -> str:
    """Say why the next request may not go yet."""
    known = flow.budget(now)
    if now < flow.held:
        return "The endpoint asks for a pause."
    if known.reset is not None and known.remaining is not None and not known.remaining >= 1:
        return f"The budget is used up until {known.reset:%Y-%m-%d %H:%M:%S} UTC."
    if known.restored:
        return f"The budget has {known.remaining:,.0f} points, too few for the request."
    return "The endpoint works a minute of each minute, and that is used up."


def late(turn: Turn, seconds: float, reason: str) -> RateLimited:
    """Return the error for a turn that would come too late."""
    msg = (
        f"{turn.source}: {reason} The next request may go in {seconds:.0f} s. A client waits "
        f"{turn.wait:g} s by itself: give it limits=Limits(wait=...) for more."
    )
    return RateLimited(msg, wait=seconds)
