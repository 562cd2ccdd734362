"""A widget to search repositories by stars, with a table and two charts."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from html import escape
from threading import Timer
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from gqlnb import background
from gqlnb.errors import GqlnbError, QueryError, describe_exception, sanitize_text
from gqlnb.github.builtin_connections import open_client
from gqlnb.github.star_query import check_threshold, parse_star_query
from gqlnb.github.star_results import collect_stars
from gqlnb.notebook.widgets.base import Widget, describe_error, get_notebook_names
from gqlnb.notebook.widgets.live_output import SavedOutput, is_in_kernel
from gqlnb.notebook.widgets.search_run import (
    IDLE,
    StarRun,
    find_pages,
    find_site,
    format_client,
    read_limit,
    write_caption,
    write_python,
    write_query_text,
)
from gqlnb.notebook.widgets.star_charts import (
    build_charts,
    build_histogram,
    build_histogram_grid,
    count_bins,
)
from gqlnb.option_checks import explain_keywords
from gqlnb.result.renderer import count_shown, render_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import SupportsIndex

    import pandas as pd

    from gqlnb.client.client import Client
    from gqlnb.notebook.widgets.base import Message
    from gqlnb.notebook.widgets.data_grid import GridSource
    from gqlnb.notebook.widgets.star_charts import Bin

    OnResult = Callable[[pd.DataFrame], object]

__all__ = ["StarSearch"]

ACKNOWLEDGED: Message = {"kind": "heard"}
PROPOSED_QUERY = ">10000"
STATE_INTERVAL = 0.1  # seconds; ten per second look smooth, JupyterLab refuses more than 1,000


# Each click sends one message with all parameters, which any thread may handle. A composite of
# ipywidgets controls would search with an old threshold: ipykernel 7 may pass the messages of two
# comms to two threads, one of them busy.
@explain_keywords
class StarSearch(Widget):
    """Search repositories by their number of stars.

    The search runs in a thread, also while a cell runs; other cells read its outcome from
    :attr:`frame` and :attr:`error`. :meth:`run` searches without a front end.

    Parameters
    ----------
    query
        The threshold in stars, ``">N"``, ``">=N"``, ``"N..M"``, ``"N"``, or a number N, which means
        ``">N"``. A text may have other terms of GitHub's search, as for :func:`gqlnb.stars`:
        ``">1000 language:python sort:forks"``. The widget searches for it when it is first
        displayed. None: ``">10000"`` is proposed, and a click on Search starts.
    limit
        The largest number of rows to fetch, at least 1; None for all that match.
    client
        The name of a connection (``"demo"``, the stand-in with its embedded snapshot, or
        ``"github"``), a client, or anything that a client can be created for. It stays in the
        kernel.

    Attributes
    ----------
    query : str
    limit : int or None
        The parameters of the next :meth:`start` or :meth:`run`; a click in the widget sets both.

    Raises
    ------
    QueryError
        If `query` cannot be parsed or `limit` is not a number of rows.

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
        query: SupportsIndex | str | None = None,
        *,
        limit: SupportsIndex | None = 100,
        client: object = "demo",
    ) -> None:
        # Set before the comm opens: its first message may arrive in another thread.
        self._client = client
        self._current_run: StarRun | None = None
        self._frame: pd.DataFrame | None = None
        self._bins: list[Bin] = []
        self._frame_copy: pd.DataFrame | None = None  # users may change the frame itself
        self._result_message: dict[str, Any] | None = None
        self._source: GridSource | None = None
        self._callback_errors: str | None = None
        self._callbacks: list[OnResult] = []
        self._saved_output = SavedOutput()
        self._search_when_shown = query is not None
        text = str(parse_star_query(PROPOSED_QUERY if query is None else query))
        super().__init__(query=text, limit=read_limit(limit))

    @traitlets.validate("query")
    def _validate_query(self, proposal: Mapping[str, Any]) -> str:
        return str(parse_star_query(proposal["value"]))

    @traitlets.validate("limit")
    def _validate_limit(self, proposal: Mapping[str, Any]) -> int | None:
        return read_limit(proposal["value"])

    @property
    def frame(self) -> pd.DataFrame | None:
        """The rows of the last complete search; None before the first."""
        return self._frame

    @property
    def error(self) -> str | None:
        """The error of the last search or of a callback, as text; None if there was none."""
        with self._lock:
            run, wrong = self._current_run, self._callback_errors
        return describe_error(run.error) if run is not None and run.error is not None else wrong

    def start(self) -> None:
        """Start a search in a thread; a running search is stopped."""
        self._start_thread(self.query, self.limit)

    def run(self) -> pd.DataFrame:
        """Search and wait for the result.

        Returns
        -------
        DataFrame
            One row per repository: ``name``, ``owner``, ``stargazers``; most stars first.

        Raises
        ------
        GqlnbError
            If the search fails or is cancelled.
        Exception
            An exception of a function of :meth:`on_result`; the result is in :attr:`frame`.
        """
        run = self._begin_run(self.query, self.limit)
        try:
            self._execute_run(run)
        except BaseException:  # the interrupt button
            self.cancel()
            raise
        found = run.get_frame()
        self._saved_output.update(self._build_output)
        wrong = self._call_callbacks(run)
        if wrong:
            raise wrong[0]
        return found

    def cancel(self) -> None:
        """Stop the running search, if any; :attr:`frame` is unchanged."""
        with self._lock:
            if self._current_run is not None and self._current_run.end(stopped=True):
                self._send_status()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no search runs.

        Parameters
        ----------
        timeout
            The longest wait in seconds; None for no limit.

        Returns
        -------
        bool
            Whether the search has ended; :attr:`frame` and :attr:`error` have the outcome.
        """
        with self._lock:
            run = self._current_run
        return run is None or run.finished.wait(timeout)

    def on_result(self, function: OnResult, *, remove: bool = False) -> OnResult:
        """Register a function to call with the frame of each complete search.

        Parameters
        ----------
        function
            Called as ``function(frame)`` in the thread of the search: after :meth:`run` that of the
            caller. Its exceptions are shown in the widget and in :attr:`error`, and are raised by
            :meth:`run`; they affect neither the result nor other functions.
        remove
            Whether to remove the function instead.

        Returns
        -------
        function
            The function, so that this method can be used as a decorator.
        """
        with self._lock:
            if function in self._callbacks:
                self._callbacks.remove(function)
            if not remove:
                self._callbacks.append(function)
        return function

    def close(self) -> None:
        """Stop the running search and close all views."""
        if hasattr(self, "_lock"):  # else its arguments were wrong
            self.cancel()
        super().close()

    def __repr__(self) -> str:
        client = format_client(self._client)
        return f"{type(self).__name__}({self.query!r}, limit={self.limit}, client={client})"

    def _ipython_display_(self) -> None:
        """Display the view with its HTML, in an output that later results replace."""
        if not is_in_kernel():
            raise NotImplementedError  # IPython then shows the value as any other
        self._saved_output.show(self._build_output())

    def _build_output(self) -> dict[str, Any]:
        return self._repr_mimebundle_()[0]

    def _build_html(self) -> str:
        with self._lock:
            frame, found_bins = self._frame_copy, self._bins
        if frame is None:
            return f"<p>{escape(repr(self))}: run this notebook to search.</p>"
        shown = count_shown(len(frame))
        note = f" The first {shown} are shown." if len(frame) > shown else ""
        bins = build_histogram_grid(found_bins)
        table = render_frame(frame, f"{write_caption(frame)}{note}", find_pages(frame))
        return f"{table}{bins.to_html() if bins.rows else ''}"

    def _handle_view_message(
        self, message: Message, _buffers: Sequence[memoryview], /
    ) -> Message | None:
        match message:
            case {"kind": "hello"}:
                if message.get("extension") is False:
                    self._saved_output.freeze()
                self._start_if_first()
                self._send_status(found=True)
            case {"kind": "cancel"}:
                self.cancel()
                return ACKNOWLEDGED
            case {"kind": "run", "query": str(query), "stars": str(stars), "limit": str(limit)}:
                self._start_from_view(query, stars, limit)
                return ACKNOWLEDGED
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

    def _start_if_first(self) -> None:
        """Search for the query of the call, unless a search was started before."""
        with self._lock:
            is_due = self._search_when_shown and self._current_run is None
            self._search_when_shown = False
        if is_due:
            self.start()

    def _start_from_view(self, query: str, stars: str, limit: str) -> None:
        """Search with the texts of the boxes; `stars`, a part of `query`, is the first of them."""
        try:
            check_threshold(stars)
            parsed, most = str(parse_star_query(query)), read_limit(limit)
        except QueryError as error:
            self._fail_run(self._begin_run(sanitize_text(query, 80), None), error)
            return
        self.query, self.limit = parsed, most
        self._start_thread(parsed, most)

    def _start_thread(self, query: str, limit: int | None) -> None:
        run = self._begin_run(query, limit)

        def search() -> None:
            self._execute_run(run)
            if run.frame is not None:
                self._saved_output.update(self._build_output)
                self._call_callbacks(run)

        background.start_thread(search, "gqlnb-star-search")

    def _begin_run(self, query: str, limit: int | None) -> StarRun:
        """Create a run that replaces the current one, which is stopped."""
        run = StarRun(query, limit)
        with self._lock:
            if self._current_run is not None:
                self._current_run.end(stopped=True)
            self._current_run, self._callback_errors = run, None
            self._send_status()
        return run

    def _execute_run(self, run: StarRun) -> None:
        from gqlnb.notebook.widgets.data_grid import GridSource

        try:
            with open_client(self._client) as client:

                def on_page(received: int, wanted: int, _total: int) -> bool:
                    with self._lock:
                        if run.finished.is_set():
                            return False
                        run.received, run.wanted, run.pages = received, wanted, run.pages + 1
                        run.budget = str(client.budget)
                        self._send_state_soon(run)
                    return True

                frame = collect_stars(run.query, limit=run.limit, client=client, on_page=on_page)
                copied = frame.copy()
                bins = self._count_bins(client, run, copied)
            found, source = self._describe_result(run, copied, bins), GridSource(copied)
        except Exception as error:  # noqa: BLE001 - the view and .error report it
            self._fail_run(run, error)
            return
        with self._lock:
            if run.finished.is_set():
                return
            # The view requests rows again when the number changes.
            found["number"] = 1 + (self._result_message["number"] if self._result_message else 0)
            # Before the end: a thread in wait() reads these next.
            self._frame, self._frame_copy, run.received = frame, copied, len(frame)
            self._result_message, self._source, self._bins = found, source, bins
            self._twin = found["caption"]
            run.end(frame=frame)
            self._send_status(found=True)

    def _count_bins(self, client: Client, run: StarRun, frame: pd.DataFrame) -> list[Bin]:
        """Return the histogram of all matches, or of the rows if counts fail or on Cancel."""
        if not run.finished.is_set():
            with suppress(GqlnbError):
                return count_bins(client, parse_star_query(run.query), frame)
        return build_histogram(frame["stargazers"].dropna())

    def _describe_result(
        self, run: StarRun, frame: pd.DataFrame, bins: Sequence[Bin]
    ) -> dict[str, Any]:
        """Return the parts of a result that a view shows besides the rows."""
        return {
            "caption": write_caption(frame),
            "rows": len(frame),
            "site": find_site(frame.attrs["source"]),
            "text": write_query_text(frame, run.limit),
            "code": write_python(run.query, run.limit, self._client, get_notebook_names()),
            **build_charts(frame, bins),
        }

    def _call_callbacks(self, run: StarRun) -> list[Exception]:
        """Call the registered functions; show their exceptions and return them."""
        # A copy, because a function may register or remove others.
        with self._lock:
            callbacks = list(self._callbacks)
        wrong = []
        for function in callbacks:
            try:
                function(run.get_frame())
            except Exception as error:  # noqa: BLE001 - the user's function, not the search
                wrong.append(error)
                self._report_callback_error(run, function, error)
        return wrong

    def _report_callback_error(self, run: StarRun, function: OnResult, error: Exception) -> None:
        """Show the exception of a function, unless another search has started."""
        name = sanitize_text(getattr(function, "__name__", type(function).__name__), 80)
        text = f"The result is here, but {name}, called with it, raised {describe_exception(error)}"
        with self._lock:
            if self._current_run is run:
                before = f"{self._callback_errors}\n" if self._callback_errors else ""
                self._callback_errors = f"{before}{text}"
                self._send_status()

    def _fail_run(self, run: StarRun, error: Exception) -> None:
        with self._lock:
            if run.end(error=error):
                self._send_status()

    def _send_state_soon(self, run: StarRun) -> None:
        """Send the state now, or with a timer after the interval: the next page may be late."""
        wait = run.sent_at + STATE_INTERVAL - time.monotonic()
        if wait <= 0:
            self._send_status()
        elif not run.send_pending:
            run.send_pending = True
            timer = Timer(wait, self._send_status)
            timer.daemon = True
            timer.start()

    def _send_status(self, *, found: bool = False) -> None:
        """Send the state to all views, in order because of the lock."""
        with self._lock:
            run = self._current_run
            message = {"kind": "state", **(run.to_state() if run else IDLE), "error": self.error}
            if found:
                message["found"] = self._result_message
            if run is not None:
                run.sent_at, run.send_pending = time.monotonic(), False
            self.send(message)
