"""A subscription as a growing DataFrame.

The display is static HTML that is updated in place, not a widget with a comm, so the notebook saves
its last state. Events are received on the background loop of the process and displayed in a thread:
neither waits for a running cell or for the other.
"""

from __future__ import annotations

import asyncio
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
from threading import Event, Lock, RLock
from typing import TYPE_CHECKING, Any, Self, SupportsIndex
from weakref import WeakKeyDictionary

from gqlnb import background
from gqlnb.errors import GqlnbError, OptionError, describe_exception, format_count, sanitize_text
from gqlnb.notebook.display import MimeBundle, OutputUpdater, is_in_kernel
from gqlnb.option_checks import check_whole_number, explain_keywords
from gqlnb.redact import strip_traceback
from gqlnb.result.renderer import (
    IN_HTML,
    ROWS_SHOWN,
    build_grid,
    format_errors,
    render_caption,
    render_note,
    wrap_html,
)
from gqlnb.result.result import Result
from gqlnb.server.listener import CellRun, find_calling_cell

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.document.document import Document

ROWS = 1000  # enough to scroll through, about a megabyte
END_TIMEOUT = 5.0  # seconds for the cleanup of a subscription
END = object()
MAX_ERROR_LENGTH = 2000  # characters of an error
# The phases of a live frame.
WAITING, LIVE, ENDED, FULL, STOPPED, FAILED = range(6)


_CELL_OF_FRAME: WeakKeyDictionary[LiveFrame, CellRun] = WeakKeyDictionary()
_CELL_LOCK = Lock()


# A live frame is HTML that is updated in place, without a comm. It starts and ends empty where a
# value follows, so that saved outputs compare equal.
@explain_keywords
class LiveFrame:
    """The last rows of a subscription as a DataFrame, displayed as they arrive.

    A live frame receives events in the background until the source ends, :meth:`stop` is called, a
    ``with`` block ends, :meth:`wait` is interrupted, or the cell that created it is run again. In a
    notebook its display is updated in place, at most ten times a second, and keeps the last state.

    Parameters
    ----------
    source
        ``client.subscribe(...)``, or any iterator or asynchronous iterator of Results or of dicts
        of data. An asynchronous one is iterated on gqlnb's own loop, not on that of the notebook.
    rows
        The largest number of rows to keep; older rows are dropped and counted.
    path
        The list in each event whose items are the rows, as for :meth:`gqlnb.Result.frame`. None:
        the only list of an event; if it has none or several, one row for each event.
    max_results
        The number of events after which it ends; None for no limit.

    Attributes
    ----------
    document : Document or None
        The document of the subscription, if `source` has one.

    Raises
    ------
    OptionError
        If `source` is not an iterator of Results, or a number is not above 0.

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
        self._max_rows = check_whole_number("rows", rows, least=1)
        self._max_events = (
            None
            if max_results is None
            else check_whole_number("max_results", max_results, least=1, or_none=True)
        )
        self._path = path
        # Events arrive on the background loop, properties are read in any thread.
        self._lock = RLock()
        self._kept_results: deque[tuple[Result, int]] = deque()
        self._kept_size = 0
        self._rows = self._events = self._events_with_errors = 0
        self._last_errors: list[str] = []
        self._events_cut = 0  # whose list lacks rows
        self._last_cut = ""
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
        """Stop the live frames of an earlier run of the same cell."""
        cell = find_calling_cell()
        if cell is None:
            return
        with _CELL_LOCK:
            others = list(_CELL_OF_FRAME.items())
            _CELL_OF_FRAME[self] = cell
        for other, before in others:
            if cell.is_rerun_of(before):
                other.stop()

    async def _follow(self) -> None:
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
        except Exception as error:  # noqa: BLE001 - raise_for_error() raises it
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
            async for event in steps:
                if not self._add_result(to_result(event)):
                    return FULL
                await asyncio.sleep(0)  # a fast source must not starve the loop, nor stop()
            return ENDED
        finally:
            if hasattr(steps, "aclose"):  # so that its `finally` blocks run
                await steps.aclose()

    def _add_result(self, result: Result) -> bool:
        """Add a result, drop old rows, and return whether to continue."""
        from gqlnb.result.event_frames import count_rows, describe_cut_list

        count, cut = count_rows(result, self._path), describe_cut_list(result, self._path)
        with self._lock:
            self._phase = LIVE
            self._kept_results.append((result, count))
            self._events += 1
            self._rows += count
            # An event without rows counts as one row, or there could be any number of them.
            self._kept_size += max(count, 1)
            while self._kept_size - max(self._kept_results[0][1], 1) >= self._max_rows:
                self._kept_size -= max(self._kept_results.popleft()[1], 1)
            if cut:
                self._events_cut, self._last_cut = self._events_cut + 1, cut
            if result.errors:
                self._events_with_errors += 1
                self._last_errors = format_errors(result)[1:]
            self._output.news.set()
            return self._max_events is None or self._events < self._max_events

    @property
    def frame(self) -> pd.DataFrame:
        """The kept rows as a DataFrame with the dtypes of the schema.

        The index numbers all rows from 0, including dropped ones. ``attrs`` has ``source``,
        ``partial`` (whether events had errors or incomplete lists), the total numbers of ``rows``
        and ``events``, and ``reconnects``.
        """
        return self._build_frame()[0]

    @property
    def results(self) -> list[Result]:
        """The results of the kept rows, oldest first."""
        with self._lock:
            return [result for result, _ in self._kept_results]

    @property
    def error(self) -> str | None:
        """The error that ended the subscription, as text; None if there was none."""
        return self._error_text

    @property
    def events(self) -> int:
        """The number of received events."""
        return self._events

    @property
    def live(self) -> bool:
        """Whether the subscription is still running."""
        return not self._finished.is_set()

    def _build_frame(self, most: int | None = None) -> tuple[pd.DataFrame, str]:
        """Return the last `most` rows, by default all that are kept, and the status."""
        import pandas as pd

        from gqlnb.result.event_frames import build_events_frame

        with self._lock:
            held, rows = list(self._kept_results), self._rows
            attrs: dict[Hashable | None, Any] = {
                "source": getattr(held[-1][0] if held else self._source, "source", None),
                "partial": self._events_with_errors + self._events_cut > 0,
                "rows": rows,
                "events": self._events,
                "reconnects": self._reconnects,
            }
            status = self._describe_status()
        last = min(self._max_rows, most or self._max_rows)
        # From the end, and only as many results as needed: a display shows the last rows.
        results: list[Result] = []
        count = 0
        while held and count < last:
            result, more = held.pop()
            results.insert(0, result)
            count += more
        frame = build_events_frame(results, self._path, self.document).tail(last)
        first = max(0, rows - len(frame))
        frame.index = pd.RangeIndex(first, first + len(frame))
        frame.attrs = attrs
        return frame, status

    @property
    def _reconnects(self) -> int:
        return int(getattr(self._source, "reconnects", 0))

    def stop(self) -> None:
        """End the subscription and keep the rows; no effect after the end."""
        with self._lock:
            self._stopping = True
            task = self._task
        if task is not None:
            with suppress(RuntimeError):  # the loop is closed: the process is about to exit
                task.get_loop().call_soon_threadsafe(task.cancel)
        self._finished.wait(END_TIMEOUT)
        self._output.wait()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of the subscription; an interrupt stops it.

        Parameters
        ----------
        timeout
            The longest wait in seconds; None for no limit.

        Returns
        -------
        bool
            Whether it has ended, regularly or with an :attr:`error`.
        """
        try:
            finished = background.wait_for_event(self._finished, timeout)
        except BaseException:  # the interrupt button
            self.stop()
            raise
        if finished:
            self._output.wait()
        return finished

    def raise_for_error(self) -> Self:
        """Raise the error that ended the subscription, if any.

        Returns
        -------
        LiveFrame
            This live frame.

        Raises
        ------
        Exception
            The error of the subscription; the rows received before are kept.
        """
        if self._failure is not None:
            raise self._failure
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def status(self) -> str:
        """The progress as a sentence."""
        with self._lock:
            return self._describe_status()

    def _describe_status(self) -> str:
        count = format_count(self._rows, "row")
        if self._events != self._rows:
            count = f"{format_count(self._events, 'event')}, {count}"
        status = {
            WAITING: "Waiting for the first event",
            LIVE: f"Live, {count} so far",
            ENDED: f"Ended after {count}",
            FULL: f"Ended after {count}, the requested number of events",
            STOPPED: f"Stopped after {count}",
            FAILED: f"Failed after {count}",
        }[self._phase]
        dropped = self._rows - self._max_rows
        if dropped > 0:
            were = "was" if dropped == 1 else "were"
            status += f"; the last {self._max_rows:,} are kept, {dropped:,} {were} dropped"
        if self._events_cut:
            has = "list" if self._events_cut == 1 else "lists"
            count = format_count(self._events_cut, "event")
            status += f"; incomplete {has} in {count}, the last: {self._last_cut}"
        if again := self._reconnects:
            times = "once" if again == 1 else f"{again:,} times"
            status += f"; the connection was lost and re-established {times}; events may be missing"
        return f"{status}."

    def _describe_faults(self) -> list[str]:
        """Return a line for each error."""
        with self._lock:
            faulty, lines = self._events_with_errors, list(self._last_errors)
        if faulty:
            lines.insert(0, f"{format_count(faulty, 'event')} had errors; the last of them:")
        if self.error is not None:
            lines += [sanitize_text(line, MAX_ERROR_LENGTH) for line in self.error.splitlines()]
        return lines

    def _build_bundle(self, hint: str = "") -> MimeBundle:
        """Return the current display as text and as HTML."""
        try:
            frame, status = self._build_frame(ROWS_SHOWN)
        except GqlnbError as error:  # the path does not fit the events
            faults = [sanitize_text(error, MAX_ERROR_LENGTH)]
            return {"text/plain": faults[0], "text/html": wrap_html(render_note(faults))}
        status = f"{status} {hint}".rstrip() if self.live else status
        faults = self._describe_faults()
        table = [build_grid(frame).to_text()] if len(frame) else []
        text = "\n".join([*table, status, *faults])
        body = build_grid(frame, IN_HTML).to_html() if len(frame) else ""
        html = wrap_html(f"{body}{render_caption(status)}{render_note(faults)}")
        return {"text/plain": text, "text/html": html}

    def __repr__(self) -> str:
        return self._build_bundle()["text/plain"]

    def _repr_mimebundle_(self, **_: object) -> MimeBundle:
        return self._build_bundle()

    def _ipython_display_(self) -> None:
        """Display in place while it is running, later like any value.

        Raises
        ------
        NotImplementedError
            Tells IPython to display it like any value.
        """
        if not self.live or not is_in_kernel():
            raise NotImplementedError
        self.show()

    def show(self, *, keep: bool = True, hint: str = "") -> None:
        """Display the rows here in the notebook, updated in place.

        Parameters
        ----------
        keep
            Whether the last state stays; otherwise the output is cleared at the end.
        hint
            A text beside the status until the end.
        """
        self._output.show(keep=keep, hint=hint)


def check_source(source: object) -> object:
    """Return an iterator over Results."""
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


def to_result(event: object) -> Result:
    """Convert an event to a Result."""
    if isinstance(event, Result):
        return event
    if isinstance(event, dict):
        return Result(event)
    msg = f"The source of a LiveFrame yields Results or dicts of data, not {type(event).__name__}."
    raise OptionError(msg)


async def iterate_in_thread(source: object) -> AsyncGenerator[Any, None]:
    """Yield from a plain iterator, each step in a thread because it may block."""
    try:
        while (event := await background.run_in_thread(partial(next, source, END))) is not END:
            yield event
    finally:
        if isinstance(source, Generator):
            with suppress(ValueError):  # it is still blocked in another thread
                source.close()
