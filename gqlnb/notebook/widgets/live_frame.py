"""A subscription as a DataFrame that grows: its last rows, shown where they came.

It is no widget with a comm: what is shown is static HTML, updated in place and thus saved with the
notebook as it was last. The events are followed on the process's background loop, and painted in a
thread, so that neither waits for a running cell, nor for the other.
"""

from __future__ import annotations

import asyncio
import operator
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Hashable,
    Iterable,
    Mapping,
)
from contextlib import suppress
from functools import partial
from html import escape
from inspect import isawaitable
from threading import Event, Lock, RLock
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from gqlnb import background
from gqlnb.errors import GqlnbError, OptionError, describe_exception, sanitize_text
from gqlnb.notebook.display import format_count
from gqlnb.notebook.widgets.live_output import OutputUpdater, is_in_kernel
from gqlnb.redact import strip_traceback
from gqlnb.result.renderer import HTML_CLASSES, format_errors, render_note
from gqlnb.result.result import Result
from gqlnb.server.calling_cell import find_calling_cell

if TYPE_CHECKING:
    from typing import SupportsIndex

    import pandas as pd

    from gqlnb.document.document import Document
    from gqlnb.notebook.widgets.live_output import MimeBundle
    from gqlnb.server.calling_cell import CellRun

__all__ = ["LiveFrame"]

ROWS = 1000  # what a person scrolls through, and a megabyte or so
SECONDS_TO_END = 5.0  # for what runs at the end of a subscription
END = object()
WORDS = 2000  # characters of an error
# The phases of its life.
WAITING, LIVE, ENDED, FULL, STOPPED, FAILED = range(6)


_MADE: WeakKeyDictionary[LiveFrame, CellRun] = WeakKeyDictionary()
_MAKING = Lock()


class LiveFrame:
    """The last rows of a subscription as a DataFrame, shown while they come.

    It follows the events from the beginning, in the background, until they end, :meth:`stop`, the
    end of a ``with`` block, or an interrupt of :meth:`wait`; where the cell that made it is run
    again, until then. Where it is shown in a notebook it changes in place, ten times a second at
    most, and stays as it was at the end.

    Parameters
    ----------
    source
        What gives the Results: ``client.subscribe(...)``, or any iterator or asynchronous iterator
        of Results or of dicts of data. An asynchronous one is iterated on gqlnb's own loop, not
        on that of the notebook.
    rows
        How many rows are kept at most, the last ones; older ones are dropped, and counted.
    path
        The list in each event whose items are the rows, as for :meth:`gqlnb.Result.frame`. None:
        its one list; a row for each event where there is none, or more than one.
    max_results
        After how many events it ends; None for no end of its own.

    Attributes
    ----------
    document : Document or None
        What the events answer, as far as `source` says.

    Raises
    ------
    OptionError
        If `source` gives no Results, or a number is none above 0.

    Examples
    --------
    >>> def countdown(root, args, context):
    ...     yield from range(args["start"], 0, -1)
    >>> from gqlnb import Client, Schema
    >>> schema = Schema(
    ...     "type Query { hello: String } type Subscription { countdown(start: Int!): Int }",
    ...     {"Subscription": {"countdown": countdown}},
    ... )
    >>> live = LiveFrame(Client(schema).subscribe("subscription { countdown(start: 9) }"), rows=2)
    >>> live.wait()
    True
    >>> live
       countdown
    7          2
    8          1
    Ended after 9 rows; the last 2 are kept, 7 were dropped.
    """

    def __init__(
        self,
        source: Iterable[Result] | AsyncIterable[Result] | Iterable[dict[str, Any]],
        *,
        rows: SupportsIndex = ROWS,
        path: str | None = None,
        max_results: SupportsIndex | None = None,
    ) -> None:
        self._source = check_source(source)
        self.document: Document | None = getattr(source, "document", None)
        self._max_rows = check_positive("rows", rows)
        self._max_events = (
            None if max_results is None else check_positive("max_results", max_results)
        )
        self._path = path
        self._lock = RLock()
        self._kept_results: deque[tuple[Result, int]] = deque()
        self._kept_size = 0
        self._rows = self._events = self._events_with_errors = 0
        self._last_errors: list[str] = []
        self._phase = WAITING
        self._failure: Exception | None = None
        self._error_text: str | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._finished = Event()
        self._output = OutputUpdater(
            self._build_bundle, lambda: (self._events, self._reconnects), self._finished
        )
        self._stop_previous_run()
        background.start(self._follow())

    def _stop_previous_run(self) -> None:
        """Stop what the same cell made when it was run before: nobody sees that any more."""
        cell = find_calling_cell()
        if cell is None:
            return
        with _MAKING:
            others = list(_MADE.items())
            _MADE[self] = cell
        for other, before in others:
            if cell.is_rerun_of(before):
                other.stop()

    # -- following

    async def _follow(self) -> None:
        """Take what comes until there is no more; on the background loop."""
        with self._lock:
            self._task = asyncio.current_task()
            stopping = self._stopping
        phase = STOPPED
        try:
            if not stopping:
                phase = await self._follow_all()
        except asyncio.CancelledError:
            phase = STOPPED
        except GqlnbError as error:
            phase, self._failure, self._error_text = FAILED, strip_traceback(error), str(error)
        except Exception as error:  # whatever the source raises: there is nobody else to tell
            phase, self._failure, self._error_text = FAILED, error, describe_exception(error)
        with self._lock:
            self._phase, self._task = phase, None
            self._finished.set()
            self._output.news.set()

    async def _follow_all(self) -> int:
        steps = (
            self._source
            if isinstance(self._source, AsyncIterator)
            else iterate_in_thread(self._source)
        )
        try:
            async for came in steps:
                if not self._add_result(to_result(came)):
                    return FULL
                await asyncio.sleep(0)  # others on this loop, and who stops it, have their turn
            return ENDED
        finally:
            await close_iterator(steps)

    def _add_result(self, result: Result) -> bool:
        """Hold one more result, and no more rows than wanted; return whether to go on."""
        from gqlnb.result.event_frames import count_rows

        count = count_rows(result, self._path)
        with self._lock:
            self._phase = LIVE
            self._kept_results.append((result, count))
            self._events += 1
            self._rows += count
            # What has no rows takes a place too: there may be many such events.
            self._kept_size += max(count, 1)
            while self._kept_size - max(self._kept_results[0][1], 1) >= self._max_rows:
                self._kept_size -= max(self._kept_results.popleft()[1], 1)
            if result.errors:
                self._events_with_errors += 1
                self._last_errors = format_errors(result)[1:]
            self._output.news.set()
            return self._max_events is None or self._events < self._max_events

    # -- what there is

    @property
    def frame(self) -> pd.DataFrame:
        """The rows that are kept, as a DataFrame with the dtypes of the schema.

        Its index counts the rows from the beginning, so it shows how many were dropped. ``attrs``
        holds ``source``, ``partial`` (whether events came with errors), ``rows`` and ``events``
        (how many came in all) and ``reconnects``.
        """
        return self._build_frame()[0]

    @property
    def results(self) -> list[Result]:
        """The results whose rows are kept, the oldest first."""
        with self._lock:
            return [result for result, _ in self._kept_results]

    @property
    def error(self) -> str | None:
        """What ended it, in words, if that was an error; None if nothing went wrong."""
        return self._error_text

    @property
    def events(self) -> int:
        """How many events came."""
        return self._events

    @property
    def live(self) -> bool:
        """Whether more may come."""
        return not self._finished.is_set()

    def _build_frame(self, most: int | None = None) -> tuple[pd.DataFrame, str]:
        """Return the last `most` rows, all by default, and in words what they are the last of."""
        import pandas as pd

        from gqlnb.result.event_frames import build_events_frame

        with self._lock:
            held, rows = list(self._kept_results), self._rows
            attrs: dict[Hashable | None, Any] = {
                "source": getattr(held[-1][0] if held else self._source, "source", None),
                "partial": self._events_with_errors > 0,
                "rows": rows,
                "events": self._events,
                "reconnects": self._reconnects,
            }
            said = self._describe_status()
        last = min(self._max_rows, most or self._max_rows)
        results: list[Result] = []
        count = 0
        while held and count < last:
            result, more = held.pop()
            results.insert(0, result)
            count += more
        made = build_events_frame(results, self._path, self.document).tail(last)
        first = max(0, rows - len(made))
        made.index = pd.RangeIndex(first, first + len(made))
        made.attrs = attrs
        return made, said

    @property
    def _reconnects(self) -> int:
        return int(getattr(self._source, "reconnects", 0))

    # -- its end

    def stop(self) -> None:
        """End the subscription; the rows stay. Nothing happens where it has ended already."""
        with self._lock:
            self._stopping = True
            task = self._task
        if task is not None:
            with suppress(RuntimeError):  # the loop is gone: the process is about to end
                task.get_loop().call_soon_threadsafe(task.cancel)
        self._finished.wait(SECONDS_TO_END)
        self._output.wait()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the subscription has ended; an interrupt stops it.

        Parameters
        ----------
        timeout
            Seconds to wait at most; None for no end.

        Returns
        -------
        bool
            Whether it has ended; :attr:`error` says if that was an error.
        """
        try:
            over = self._finished.wait(timeout)
        except BaseException:  # the interrupt button
            self.stop()
            raise
        if over:
            self._output.wait()
        return over

    def raise_for_error(self) -> Self:
        """Return this live frame, or raise what ended it.

        Raises
        ------
        Exception
            The error of the subscription; the rows that came before are kept.
        """
        if self._failure is not None:
            raise self._failure
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- showing

    @property
    def status(self) -> str:
        """How far it is, in a sentence."""
        with self._lock:
            return self._describe_status()

    def _describe_status(self) -> str:
        count = format_count(self._rows, "row")
        if self._events != self._rows:
            count = f"{format_count(self._events, 'event')}, {count}"
        begun = {
            WAITING: "Waiting for the first event",
            LIVE: f"Live, {count} so far",
            ENDED: f"Ended after {count}",
            FULL: f"Ended after {count}, as many events as asked for",
            STOPPED: f"Stopped after {count}",
            FAILED: f"Failed after {count}",
        }[self._phase]
        dropped = self._rows - self._max_rows
        if dropped > 0:
            were = "was" if dropped == 1 else "were"
            begun += f"; the last {self._max_rows:,} are kept, {dropped:,} {were} dropped"
        if again := self._reconnects:
            times = "once" if again == 1 else f"{again:,} times"
            begun += f"; the connection broke and was made again {times}, events may be missing"
        return f"{begun}."

    def _describe_faults(self) -> list[str]:
        """Return what went wrong, a line each."""
        with self._lock:
            faulty, lines = self._events_with_errors, list(self._last_errors)
        if faulty:
            lines.insert(0, f"{format_count(faulty, 'event')} came with errors; the last of them:")
        if self.error is not None:
            lines += [sanitize_text(line, WORDS) for line in self.error.splitlines()]
        return lines

    def _build_bundle(self, hint: str = "") -> MimeBundle:
        """Return what is shown now, as text and as HTML."""
        from gqlnb.result.renderer import IN_HTML, ROWS_SHOWN, build_grid

        try:
            frame, said = self._build_frame(ROWS_SHOWN)
        except GqlnbError as error:  # of the path that was asked for
            faults = [sanitize_text(error, WORDS)]
            return {"text/plain": faults[0], "text/html": wrap_html(render_note(faults))}
        said = f"{said} {hint}".rstrip() if self.live else said
        faults = self._describe_faults()
        table = [build_grid(frame).to_text()] if len(frame) else []
        text = "\n".join([*table, said, *faults])
        body = build_grid(frame, IN_HTML).to_html() if len(frame) else ""
        below = f'<p style="opacity:.7;margin:2px 0">{escape(said)}</p>'
        return {"text/plain": text, "text/html": wrap_html(f"{body}{below}{render_note(faults)}")}

    def __repr__(self) -> str:
        return self._build_bundle()["text/plain"]

    def _repr_mimebundle_(self, **_: object) -> MimeBundle:
        return self._build_bundle()

    def _ipython_display_(self) -> None:
        """Show it in place while it lives; what has ended is shown as any value is.

        Raises
        ------
        NotImplementedError
            Which IPython takes as the wish for that.
        """
        if not self.live or not is_in_kernel():
            raise NotImplementedError
        self.show()

    def show(self, *, keep: bool = True, hint: str = "") -> None:
        """Show it here in the notebook, in place while it lives.

        Parameters
        ----------
        keep
            Whether it stays as it was at the end, or nothing is left of it.
        hint
            What to say beside it while it lives.
        """
        self._output.show(keep=keep, hint=hint)


def check_source(source: Any) -> Any:
    """Return an iterator over Results.

    Raises
    ------
    OptionError
        If it is nothing of that kind.
    """
    if not isinstance(source, (Result, str, bytes, Mapping)):
        if isinstance(source, AsyncIterable):
            return source.__aiter__()
        if isinstance(source, Iterable):
            return iter(source)
    msg = (
        "LiveFrame takes client.subscribe(...), or an iterator of Results, not "
        f"{sanitize_text(type(source).__name__, 40)}."
    )
    raise OptionError(msg)


def check_positive(name: str, value: SupportsIndex) -> int:
    """Return a whole number above 0.

    Raises
    ------
    OptionError
        If it is none.
    """
    with suppress(TypeError):
        number = operator.index(value)
        if number > 0 and type(value) is not bool:
            return number
    msg = f"{name}= takes a whole number above 0, not {sanitize_text(repr(value), 40)}."
    raise OptionError(msg)


def to_result(came: Any) -> Result:
    """Return an event as a Result.

    Raises
    ------
    OptionError
        If it is neither one nor the data of one.
    """
    if isinstance(came, Result):
        return came
    if isinstance(came, dict):
        return Result(came)
    msg = f"LiveFrame takes Results or dicts of data; one of type {type(came).__name__} came."
    raise OptionError(msg)


async def iterate_in_thread(source: Any) -> AsyncGenerator[Any, None]:
    """Yield from a plain iterator, each step in a thread: it may wait for ever."""
    try:
        while (found := await background.run_in_thread(partial(next, source, END))) is not END:
            yield found
    finally:
        if isinstance(source, Generator):
            with suppress(ValueError):  # it runs still: it is left where it waits
                source.close()


async def close_iterator(steps: Any) -> None:
    """End what was iterated, so that it runs its ``finally`` blocks."""
    close = getattr(steps, "aclose", None)
    if close is not None:
        done = close()
        if isawaitable(done):
            await done


def wrap_html(body: str) -> str:
    """Return HTML in an element of the package's own classes."""
    return f'<div class="{HTML_CLASSES}">{body}</div>'
