"""Scheduling of operations: on the event loop after fast runs, else in a worker thread.

Switching to a thread and back takes longer than a short operation; an operation that blocks the
loop delays all others. So run times are measured. A request that ran fast `NEEDED_RUNS` times in
threads, without waiting for anything, runs on the loop when it is repeated, variables included.
After slow runs on the loop it returns to threads, and needs more fast runs each time. A request
that waits, however briefly, may wait for this very loop, and always runs in a thread.

An operation that was seen to wait (for I/O, a lock, a sleep) needs many more fast runs, and after
the second time stays in threads. One that blocks the loop is found by
:class:`StallWatchdog`: neither it nor its field runs there again.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from copy import deepcopy
from math import inf
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from gqlnb.document.sized_cache import SizedCache
from gqlnb.document.variables import bind_variables
from gqlnb.errors import sanitize_text
from gqlnb.server.worker_pool import (
    HANGING_SECONDS,
    HangingCall,
    describe_frame,
    find_resolver_frame,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from types import CodeType, FrameType

    from gqlnb.document.document import Document
    from gqlnb.engine.schema_adapters import SchemaAdapter
    from gqlnb.http.messages import Request
    from gqlnb.result.result import Result


FAST_SECONDS = 0.001  # a switch of threads takes a tenth of it, in an idle interpreter
# Another thread may hold the GIL for this long (sys.getswitchinterval()).
SLOW_SECONDS = 0.005
TOO_SLOW_SECONDS = 0.05  # one such run sends a request back to threads
SUSPICION_RUNS = 100  # fast runs after which a slow one is forgotten
NEEDED_RUNS = 2  # fast runs in threads, at first
# Seconds of idle time not counted as waiting; the shortest exchange with another thread takes
# several times as long.
MAX_IDLE_SECONDS = 0.00001
MAX_NEEDED_RUNS = 1024
MAX_KNOWN_REQUESTS = 512
# A run that was idle for longer waited for I/O, a lock or a sleep.
WAIT_SECONDS = 0.001
MAX_SUSPECTS = 4096  # operations and fields that have waited
_LOG = logging.getLogger("gqlnb")
_FLAT_TYPES = frozenset({str, int, float, bool})
MAX_KNOWN_BODY = 4096  # bytes


class RunOutcome(NamedTuple):
    """The run of the plain resolvers of a request.

    Attributes
    ----------
    outcome
        A Result, or an awaitable of one where a resolver was ``async``.
    document
        The executed document.
    seconds
        Run time, without parsing and validation.
    waited
        Seconds of it in which the thread was idle.
    has_blocked
        Whether it gave up its CPU for longer than `WAIT_SECONDS` while the process was idle.
    """

    outcome: Result | Awaitable[Result]
    document: Document
    seconds: float
    waited: float
    has_blocked: bool = False


class KnownRequest:
    """A query that was executed before, parsed and validated.

    Attributes
    ----------
    document
        The document.
    fast_runs, needed_runs
        Its fast runs in threads, and the number of them after which it runs on the event loop;
        infinite if it stays in threads.
    is_json_safe
        Whether all leaf types are built-in, so that the values need no check before encoding.
    extensions
        The extensions of the request, or None.
    pending_runs
        Runs started on the fast path that turned out to need an await, or to be large; the executor
        answers them.
    is_large
        Whether an answer was too large to be sent at once.
    """

    def __init__(
        self,
        document: Document,
        variables: Mapping[str, Any],
        needed_runs: float = NEEDED_RUNS,
        extensions: Mapping[str, Any] | None = None,
    ) -> None:
        self.document = document
        self.extensions = extensions
        self.is_json_safe = document.has_builtin_leaves
        self.fast_runs = 0
        self.needed_runs = needed_runs
        self._suspicion = 0  # fast runs until a slow one is forgotten
        self.pending_runs: list[Result | Awaitable[Result]] = []
        self.is_large = False
        self._variables = variables
        self._is_flat = not variables or all(
            value is None or type(value) in _FLAT_TYPES for value in variables.values()
        )

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables; copied if they are mutable, since resolvers may change them."""
        return self._variables if self._is_flat else deepcopy(self._variables)

    @property
    def is_fast(self) -> bool:
        """Whether it has proven fast enough for the event loop."""
        return self.fast_runs >= self.needed_runs

    def record_loop_run(self, seconds: float) -> None:
        """Record the time of a run on the loop."""
        # Other load on the machine makes any request slow occasionally. Two slow runs, or a very
        # slow one, send the request back to threads.
        if seconds <= SLOW_SECONDS:
            if self._suspicion:
                self._suspicion -= 1
            return
        if seconds > TOO_SLOW_SECONDS or self._suspicion:
            self.require_runs(min(4 * self.needed_runs, MAX_NEEDED_RUNS))
        self._suspicion = SUSPICION_RUNS

    def require_runs(self, needed: float) -> None:
        """Require that many fast runs in threads, beginning now; never fewer than before."""
        self.fast_runs = 0
        self.needed_runs = max(self.needed_runs, needed)


# An operation moves to the event loop only after two fast runs with the same text and variables
# that awaited nothing, because anything that waits could be waiting for this very loop. It
# returns to a thread when it is slow. Mutations always run in threads, and a replaced resolver
# starts again.
class Scheduler:
    """The known requests of one schema; used on one loop.

    Parameters
    ----------
    adapter
        The adapter of the schema; its `revision` changes when a resolver is replaced.
    """

    def __init__(self, adapter: SchemaAdapter) -> None:
        self.adapter = adapter
        self._revision = adapter.revision
        self._known_requests: SizedCache[bytes, KnownRequest] = SizedCache(MAX_KNOWN_REQUESTS)
        # The runs needed by operations that have waited, by hash of the text, or root field: one
        # that waits in one text does so in the next, and with other variables.
        self._suspects: SizedCache[object, float] = SizedCache(MAX_SUSPECTS)

    def find_known(self, body: bytes) -> KnownRequest | None:
        """Return a known request; all are forgotten when a resolver is replaced."""
        # A replaced resolver must prove fast anew, in a thread.
        if self.adapter.revision != self._revision:
            self._revision = self.adapter.revision
            self._known_requests.clear()
            self._suspects.clear()
        return self._known_requests.get(body)

    def record_thread_run(self, request: Request, done: RunOutcome) -> None:
        """Record a run in a thread, with nothing to await."""
        body = request.raw
        # Mutations are seldom repeated word for word, and their time depends on more than the text.
        if done.document.kind != "query" or not 0 < len(body) <= MAX_KNOWN_BODY:
            return
        known = self.find_known(body)
        if known is None:
            # Bound again: resolvers may have changed the variables of the run.
            variables = bind_variables(done.document, request.variables)
            needed = self._count_needed_runs(done.document)
            known = KnownRequest(done.document, variables, needed, request.extensions)
            self._known_requests.add(body, known, len(body))
        if done.has_blocked:
            # Once, it may have been the system, loading a module from a slow disk.
            first = known.needed_runs < MAX_NEEDED_RUNS
            self._suspect(done.document, MAX_NEEDED_RUNS if first else inf)
        elif done.seconds > SLOW_SECONDS:
            known.fast_runs = 0
        elif done.seconds <= FAST_SECONDS and done.waited <= MAX_IDLE_SECONDS:
            known.fast_runs += 1

    def record_stall(
        self, known: KnownRequest, code: CodeType | None, resolver: str | None
    ) -> None:
        """Keep an operation that blocks the loop, and the field that does, in threads for good.

        Parameters
        ----------
        known
            The request.
        code
            The code of the resolver that runs; None if unknown.
        resolver
            Its name and line.
        """
        self._suspect(known.document, inf, code)
        known.require_runs(inf)
        name = known.document.name
        _LOG.warning(
            "Operation %s blocked the event loop, and all other clients, in %s. "
            "From now on it runs in worker threads.",
            sanitize_text(name, 80) if name else "without a name",
            resolver or "the engine",
        )

    def _count_needed_runs(self, document: Document) -> float:
        """Return the number of fast runs that an operation needs."""
        if not self._suspects:
            return NEEDED_RUNS
        keys = hash(document.text), *document.root_fields
        return max(self._suspects.get(key, NEEDED_RUNS) for key in keys)

    def _suspect(self, document: Document, needed: float, code: CodeType | None = None) -> None:
        """Require more runs of an operation and the root fields that may have blocked."""
        fields = [name for name in document.root_fields if not name.startswith("__")]
        guilty = [name for name in fields if code in self._list_codes(name)]
        if not guilty and (len(fields) == 1 or needed == inf):
            guilty = fields
        for key in (hash(document.text), *guilty):
            self._suspects.add(key, max(needed, self._suspects.get(key, 0)), 1)
        # Requests that share its fields prove fast anew.
        self._known_requests.clear()

    def _list_codes(self, name: str) -> Iterator[CodeType | None]:
        """Yield the code of the resolver of a root field, and of the functions that it wraps."""
        query = self.adapter.graphql.query_type
        field = query.fields.get(name) if query is not None else None
        function: Any = field.resolve if field is not None else None
        while function is not None:
            if code := getattr(function, "__code__", None):
                yield code
            function = getattr(function, "__wrapped__", None) or getattr(function, "func", None)


INTERVAL_SECONDS = 0.05
_IDLE_LOOKS = 200  # looks without a run, after which the thread ends


# A function cannot be interrupted, so operations move to the loop only after fast runs, and this
# thread sees to it that one that blocks nevertheless does so once. It looks twenty times a second
# while operations run on the loop, and ends ten seconds after them. A run that it finds at two
# looks blocks: a process that was merely stopped by the system, threads and all, has ended it by
# then.
class StallWatchdog:
    """Watches the operations of one server that run on the event loop.

    The loop sets `running` and increments `run_number` before each run, resets `running` after it,
    and calls :meth:`wake` if `is_awake` is false.

    Parameters
    ----------
    report_stall
        Called once per stall, in the thread, with the request, the code of the resolver that runs,
        and its description; None for both if the engine itself runs.

    Attributes
    ----------
    running
        The request that runs on the loop; None for none.
    run_number
        The number of runs begun.
    is_awake
        Whether the thread is looking.
    """

    def __init__(
        self, report_stall: Callable[[KnownRequest, CodeType | None, str | None], None]
    ) -> None:
        self._report_stall = report_stall
        self._lock = threading.Lock()
        self._loop_thread = 0
        self._seen_since = 0.0  # monotonic time of the first look at the running request
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self.running: KnownRequest | None = None
        self.run_number = 0
        self.is_awake = False
        _watchdogs.add(self)

    def wake(self) -> None:
        """Look from now on; called on the loop."""
        with self._lock:
            self._loop_thread = threading.get_ident()
            self.is_awake = True
            self._is_closed = False
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="gqlnb-watchdog", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """End the thread; a run that comes later starts another."""
        self._is_closed = True

    def list_hanging(self) -> list[HangingCall]:
        """Return the run that blocks the loop for longer than a second, if there is one."""
        known, began = self.running, self._seen_since
        seconds = monotonic() - began
        if known is None or not began or seconds < HANGING_SECONDS:
            return []
        name, resolver = known.document.name, describe_frame(self._find_frame())
        return [HangingCall(time() - seconds, seconds, name, resolver)]

    def _find_frame(self) -> FrameType | None:
        return find_resolver_frame(sys._current_frames().get(self._loop_thread))  # noqa: SLF001

    def _watch(self) -> None:
        last = reported = quiet = 0
        while True:
            sleep(INTERVAL_SECONDS)
            known, number = self.running, self.run_number
            if known is None:
                quiet = quiet + 1 if number == last else 0
                self._seen_since = 0.0
            elif number != last or not self._seen_since:
                self._seen_since, quiet = monotonic(), 0
            elif number != reported:
                reported, frame = number, self._find_frame()
                code = None if frame is None else frame.f_code
                self._report_stall(known, code, describe_frame(frame))
                del frame  # it holds the objects of the request
            del known
            last = number
            if (quiet >= _IDLE_LOOKS or self._is_closed) and self._end_thread(last):
                return

    def _end_thread(self, last: int) -> bool:
        """Record that the thread ends, unless a run has begun since the last look."""
        with self._lock:
            self.is_awake = False
            if self.run_number != last or self.running is not None:
                self.is_awake = True
                return False
            self._thread = None
            return True


_watchdogs: WeakSet[StallWatchdog] = WeakSet()


def _reset_after_fork() -> None:
    for watchdog in list(_watchdogs):  # the thread stayed in the parent
        StallWatchdog.__init__(watchdog, watchdog._report_stall)  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
