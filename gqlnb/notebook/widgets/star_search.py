"""The star search as a widget: a search in, a table and two pictures of repositories out.

Each click is one message with all its parameters, and it does not matter which thread reads it: a
composite of ready-made controls was tried, and it searched with an old threshold, as ipykernel 7
may hand the messages of two comms to two threads, one of them busy.
"""

from __future__ import annotations

import time
from functools import partial
from html import escape
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from gqlnb.errors import QueryError, describe_exception, sanitize_text
from gqlnb.github.builtin_connections import open_client
from gqlnb.github.star_query import parse_star_query
from gqlnb.github.star_results import collect_stars
from gqlnb.notebook.widgets.base import Widget, describe_error, get_notebook_names
from gqlnb.notebook.widgets.data_grid import GridSource
from gqlnb.notebook.widgets.live_output import SavedOutput
from gqlnb.notebook.widgets.search_run import (
    IDLE,
    StarRun,
    format_client,
    read_limit,
    write_caption,
    write_python,
    write_query_text,
)
from gqlnb.notebook.widgets.star_charts import build_charts, build_histogram_grid
from gqlnb.result.renderer import ROWS_SHOWN, render_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import SupportsIndex

    import pandas as pd

    from gqlnb.notebook.widgets.base import Message

    OnResult = Callable[[pd.DataFrame], object]

__all__ = ["StarSearch"]

HEARD: Message = {"kind": "heard"}
SECONDS_BETWEEN_STATES = 0.1  # ten a second look smooth; JupyterLab refuses more than 1,000


class StarSearch(Widget):
    """Search repositories by their number of stars, in a widget.

    The search runs in a thread: a cell may run beside it, and other cells find its outcome in
    :attr:`frame` and :attr:`error`. :meth:`run` does the same without a front end.

    Parameters
    ----------
    query
        The threshold in stars, ``">N"``, ``">=N"``, ``"N..M"``, ``"N"``, or a number N, which means
        ``">N"``; in a text also other terms of GitHub's search, as :func:`gqlnb.stars` takes them:
        ``">1000 language:python sort:forks"``.
    limit
        Most rows to fetch, at least 1; None for all that match.
    client
        What to ask: the name of a connection (``"demo"``, the stand-in with its embedded snapshot,
        or ``"github"``), a client, or whatever a client can be made for. It stays in the kernel.

    Attributes
    ----------
    query : str
    limit : int or None
        What the next :meth:`start` or :meth:`run` asks for; a click in the widget sets both.

    Raises
    ------
    QueryError
        If `query` cannot be read or `limit` is no number of rows.

    Examples
    --------
    >>> search = StarSearch(">400000", limit=2)
    >>> search
    StarSearch('>400000', limit=2, client='demo')
    >>> search.run()
                   name            owner  stargazers
    0  build-your-own-x  codecrafters-io      541915
    1           awesome     sindresorhus      498692
    """

    _view: ClassVar[str] = "star_search.js"

    query = traitlets.Unicode().tag(sync=True)
    limit = traitlets.Int(allow_none=True).tag(sync=True)

    def __init__(
        self,
        query: SupportsIndex | str = ">10000",
        *,
        limit: SupportsIndex | None = 100,
        client: Any = "demo",
    ) -> None:
        # All of it before the comm opens: its first message may come in another thread.
        self._client = client
        self._current_run: StarRun | None = None
        self._frame: pd.DataFrame | None = None
        self._frame_copy: pd.DataFrame | None = None  # the frame may be changed by whoever has it
        self._result_message: dict[str, Any] | None = None
        self._source: GridSource | None = None
        self._callback_errors: str | None = None
        self._callbacks: list[OnResult] = []
        self._saved_output = SavedOutput()
        super().__init__(query=str(parse_star_query(query)), limit=read_limit(limit))

    @traitlets.validate("query")
    def _validate_query(self, proposal: Mapping[str, Any]) -> str:
        return str(parse_star_query(proposal["value"]))

    @traitlets.validate("limit")
    def _validate_limit(self, proposal: Mapping[str, Any]) -> int | None:
        return read_limit(proposal["value"])

    @property
    def frame(self) -> pd.DataFrame | None:
        """The last complete result; None before the first."""
        return self._frame

    @property
    def error(self) -> str | None:
        """What went wrong with the last search, or with what was done on its result, in words.

        None if nothing did.
        """
        with self._lock:
            run, wrong = self._current_run, self._callback_errors
        return describe_error(run.error) if run is not None and run.error is not None else wrong

    def start(self) -> None:
        """Begin to search in a thread, instead of the search that runs, if one does."""
        self._start_thread(self.query, self.limit)

    def run(self) -> pd.DataFrame:
        """Search here and now.

        Returns
        -------
        DataFrame
            One row per repository: ``name``, ``owner``, ``stargazers``; most stars first.

        Raises
        ------
        GqlnbError
            If the search fails, or is cancelled meanwhile.
        Exception
            What a function of :meth:`on_result` raised; the result is in :attr:`frame`.
        """
        run = self._begin_run(self.query, self.limit)
        try:
            self._execute_run(run)
        except BaseException:  # the interrupt button
            self.cancel()
            raise
        found = run.get_frame()
        self._saved_output.put(self._build_html)
        wrong = self._call_callbacks(run)
        if wrong:
            raise wrong[0]
        return found

    def cancel(self) -> None:
        """Stop the search that runs, if one does; :attr:`frame` stays what it was."""
        with self._lock:
            if self._current_run is not None and self._current_run.end(stopped=True):
                self._send_status()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no search runs.

        Parameters
        ----------
        timeout
            Seconds to wait at most; None for no end.

        Returns
        -------
        bool
            Whether the search has ended; how is in :attr:`frame` and :attr:`error`.
        """
        with self._lock:
            run = self._current_run
        return run is None or run.finished.wait(timeout)

    def on_result(self, function: OnResult, *, remove: bool = False) -> OnResult:
        """Have a function called with the frame of each complete result.

        Parameters
        ----------
        function
            Called as ``function(frame)`` where the search ran: in a thread after a click, in the
            caller's after :meth:`run`. What it raises is shown in the widget and is in
            :attr:`error`; :meth:`run` raises it. The result and the other functions are safe.
        remove
            Whether to call it no more instead.

        Returns
        -------
        function
            The same, so that this may be used as a decorator.
        """
        with self._lock:
            if function in self._callbacks:
                self._callbacks.remove(function)
            if not remove:
                self._callbacks.append(function)
        return function

    def close(self) -> None:
        """Stop the search that runs and take the widget out of all its views."""
        if self.comm is not None:  # what was never opened has no search either
            self.cancel()
        super().close()

    def __repr__(self) -> str:
        asked = format_client(self._client)
        return f"{type(self).__name__}({self.query!r}, limit={self.limit}, client={asked})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view; its HTML beside it, where the results that will come take its place."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None and self._saved_output.show(self._build_html()):
            del bundle[0]["text/html"]
        return bundle

    def _build_html(self) -> str:
        with self._lock:
            frame = self._frame_copy
        if frame is None:
            return f"<p>{escape(repr(self))}: run this notebook to search.</p>"
        note = f" The first {ROWS_SHOWN} are shown." if len(frame) > ROWS_SHOWN else ""
        bins = build_histogram_grid(frame)
        return f"{render_frame(frame, f'{write_caption(frame)}{note}')}{bins.to_html() if bins.rows else ''}"

    def _handle_view_message(
        self, message: Message, _buffers: Sequence[memoryview], /
    ) -> Message | None:
        match message:
            case {"kind": "hello"}:
                self._send_status(found=True)
            case {"kind": "cancel"}:
                self.cancel()
                return HEARD
            case {"kind": "run", "query": str(query), "limit": str(limit)}:
                self._start_from_view(query, limit)
                return HEARD
            case {"kind": "grid"}:
                self._run_in_thread(partial(self._answer_grid, message), message)
        return None

    def _answer_grid(self, message: Message) -> dict[str, Any]:
        with self._lock:
            source = self._source
        if source is None:
            msg = "There is no result yet. Search first."
            raise QueryError(msg)
        return source.answer(message)

    def _start_from_view(self, query: str, limit: str) -> None:
        """Search for what stands in the boxes."""
        try:
            asked, most = str(parse_star_query(query)), read_limit(limit)
        except QueryError as error:
            self._fail_run(self._begin_run(sanitize_text(query, 80), None), error)
            return
        self.query, self.limit = asked, most
        self._start_thread(asked, most)

    def _start_thread(self, query: str, limit: int | None) -> None:
        run = self._begin_run(query, limit)
        Thread(
            target=self._run_in_background, args=[run], name="gqlnb-star-search", daemon=True
        ).start()

    def _begin_run(self, query: str, limit: int | None) -> StarRun:
        """Put a new search in the place of the one before, which stops if it still runs."""
        run = StarRun(query, limit)
        with self._lock:
            if self._current_run is not None:
                self._current_run.end(stopped=True)
            self._current_run, self._callback_errors = run, None
            self._send_status()
        return run

    def _run_in_background(self, run: StarRun) -> None:
        """Carry out a search in a thread of its own, with all that follows from its result."""
        self._execute_run(run)
        if run.frame is not None:
            self._saved_output.put(self._build_html)
            self._call_callbacks(run)

    def _execute_run(self, run: StarRun) -> None:
        """Carry out a search, in the thread that calls."""
        try:
            with open_client(self._client) as asked:

                def on_page(got: int, wanted: int, _total: int) -> bool:
                    with self._lock:
                        if run.finished.is_set():
                            return False
                        run.received, run.wanted, run.pages = got, wanted, run.pages + 1
                        run.budget = str(asked.budget)
                        self._send_state_soon(run)
                    return True

                frame = collect_stars(run.query, limit=run.limit, client=asked, on_page=on_page)
            copied = frame.copy()
            found, source = self._describe_result(run, copied), GridSource(copied)
        except Exception as error:  # whatever it is: a thread has nobody else to tell
            self._fail_run(run, error)
            return
        with self._lock:
            if run.finished.is_set():
                return
            found["number"] = 1 + (self._result_message["number"] if self._result_message else 0)
            # Before it ends: who waits for the end looks at these next.
            self._frame, self._frame_copy, run.received = frame, copied, len(frame)
            self._result_message, self._source = found, source
            self._twin = found["caption"]
            run.end(frame=frame)
            self._send_status(found=True)

    def _describe_result(self, run: StarRun, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what a view shows of a result beside its rows."""
        return {
            "caption": write_caption(frame),
            "rows": len(frame),
            "text": write_query_text(frame, run.limit),
            "code": write_python(run.query, run.limit, self._client, get_notebook_names()),
            **build_charts(frame),
        }

    def _call_callbacks(self, run: StarRun) -> list[Exception]:
        """Call who waits for results; show what they raise, and return it."""
        with self._lock:
            callbacks = list(self._callbacks)
        wrong = []
        for function in callbacks:
            try:
                function(run.get_frame())
            except Exception as error:  # it is the user's: the search is done all the same
                wrong.append(error)
                self._report_callback_error(run, function, error)
        return wrong

    def _report_callback_error(self, run: StarRun, function: OnResult, error: Exception) -> None:
        """Show what a function of the user's raised, unless another search has begun."""
        name = sanitize_text(getattr(function, "__name__", type(function).__name__), 80)
        said = f"The result is here, but {name}, called with it, raised {describe_exception(error)}"
        with self._lock:
            if self._current_run is run:
                self._callback_errors = (
                    f"{self._callback_errors}\n{said}" if self._callback_errors else said
                )
                self._send_status()

    def _fail_run(self, run: StarRun, error: Exception) -> None:
        with self._lock:
            if run.end(error=error):
                self._send_status()

    def _send_state_soon(self, run: StarRun) -> None:
        """Send the state now, or as soon as the last one is old enough: the next page may hang."""
        wait = run.sent_at + SECONDS_BETWEEN_STATES - time.monotonic()
        if wait <= 0:
            self._send_status()
        elif not run.send_pending:
            run.send_pending = True
            timer = Timer(wait, self._send_status)
            timer.daemon = True
            timer.start()

    def _send_status(self, *, found: bool = False) -> None:
        """Send the state to every view, with the result if asked; under the lock, to keep order."""
        with self._lock:
            run = self._current_run
            message = {"kind": "state", **(run.to_state() if run else IDLE), "error": self.error}
            if found:
                message["found"] = self._result_message
            if run is not None:
                run.sent_at, run.send_pending = time.monotonic(), False
            self.send(message)
