"""A thread that notices when an operation blocks the event loop.

A function cannot be interrupted, so operations move to the loop only after fast runs, and this
thread sees to it that one that blocks nevertheless does so once. It looks twenty times a second
while operations run on the loop, and ends ten seconds after them. A run that it finds at two looks
blocks: a process that was merely stopped by the system, threads and all, has ended it by then.
"""

from __future__ import annotations

import os
import sys
import threading
from time import monotonic, sleep, time
from typing import TYPE_CHECKING
from weakref import WeakSet

from gqlnb.server.worker_pool import (
    HANGING_SECONDS,
    HangingCall,
    describe_frame,
    find_resolver_frame,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from gqlnb.server.scheduling import KnownRequest

__all__ = ["StallWatchdog"]

INTERVAL_SECONDS = 0.05
_IDLE_LOOKS = 200  # looks without a run, after which the thread ends


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

    __slots__ = (
        "__weakref__",
        "_is_closed",
        "_lock",
        "_loop_thread",
        "_report_stall",
        "_seen_since",
        "_thread",
        "is_awake",
        "run_number",
        "running",
    )

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
