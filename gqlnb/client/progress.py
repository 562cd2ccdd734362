"""Progress bars of paging in notebooks and at terminals."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from html import escape
from io import StringIO
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Self

from gqlnb.interactive import is_interactive
from gqlnb.option_checks import raise_option_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.rate_limit_rules import Budget

PROGRESS_VARIABLE = "GQLNB_PROGRESS"
OFF = frozenset({"0", "false", "no", "off"})
BAR_COLUMNS = 80  # in a notebook
MIN_SECONDS = 1.0  # before a bar appears
# pytest sets these, and the kernels of nbval inherit them. A bar would change the compared output.
TESTING_VARIABLES = ("PYTEST_VERSION", "PYTEST_CURRENT_TEST")

ProgressCallback = Callable[[int, "int | None", int, "Budget | None"], object]
ShowProgress = bool | str | ProgressCallback  # the values of `progress=`


class Progress:
    """Called after each page; a bar of tqdm, which closes with the ``with`` block.

    Parameters
    ----------
    show
        ``"auto"``: a bar after one second, in a notebook and at a terminal, never in a test. True:
        at once, on stderr or in the notebook. False: no bar. Or a function with the parameters of
        :meth:`__call__`; if it returns False, or raises, the paging ends.
    title
        The text before the bar; no secret.
    clock
        Returns seconds.

    Raises
    ------
    OptionError
        If `show` has another value.

    Notes
    -----
    The environment variable ``GQLNB_PROGRESS`` decides for all: ``0`` shows no bar, ``1`` shows one
    at once where ``"auto"`` is asked for.
    """

    def __init__(
        self,
        show: ShowProgress = "auto",
        title: str = "Pages",
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if show != "auto" and not isinstance(show, bool) and not callable(show):
            raise_option_error("progress", show, "'auto', True, False or a function")
        self._callback = show if callable(show) else None
        self._is_shown, self._is_delayed = decide_display(show)
        self._title, self._clock = title, clock
        self._started_at = clock()
        self._first_report: tuple[int, float] | None = None  # its rows and time
        self._last_report: tuple[int, int | None, str] = (0, None, "waiting for the first answer")
        self._bar: Any = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __call__(
        self,
        got: int,
        wanted: int | None,
        requests: int,
        budget: Budget | None = None,
        unproved: str = "",
    ) -> bool:
        """Update the bar; return whether to go on, which a function may deny by returning False.

        Parameters
        ----------
        got
            Rows so far.
        wanted
            Rows in all; None if unknown.
        requests
            Requests so far.
        budget
            The rest of the endpoint's rate limit.
        unproved
            The names of the lists whose end is not proved yet.
        """
        if self._callback is not None:
            return self._callback(got, wanted, requests, budget) is not False
        if self._is_shown:
            beside = format_postfix(requests, budget)
            if requests and got == wanted:  # all are there, and requests go on
                of = f" of {unproved}" if unproved else ""
                beside += f", checking that no row{of} is missing"
            self._update_bar(got, wanted, beside)
        return True

    def _update_bar(self, got: int, wanted: int | None, beside: str) -> None:
        now = self._clock()
        with self._lock:
            if self._first_report is None:
                self._first_report = got, now
                if (bar := self._bar) is not None:  # rate and time count from the first answer
                    bar.initial = bar.n = bar.last_print_n = got
                    bar.start_t = bar.last_print_t = time()
            self._last_report = got, wanted, beside
            if self._is_delayed and now - self._started_at < MIN_SECONDS:
                return
            try:
                self._draw_bar(got, wanted, beside, now)
            except Exception:  # noqa: BLE001 - a failure to draw must not end the paging
                self._is_shown = False

    def _draw_bar(self, got: int, wanted: int | None, beside: str, now: float) -> None:
        bar = self._bar
        if bar is None:
            bar = self._bar = self._open_bar(wanted, now)
        elif bar.total != wanted:
            begun, n = bar.start_t, bar.n
            bar.reset(wanted)
            bar.start_t, bar.n, bar.total = begun, n, wanted
        bar.set_postfix_str(beside, refresh=False)
        bar.update(got - bar.n)
        bar.refresh()

    def _open_bar(self, wanted: int | None, now: float) -> Any:  # noqa: ANN401 - tqdm has no types
        """Return a bar that measures its rate since the first report."""
        # Rows of an earlier run, as of a harvest that is resumed, took no time in this one.
        rows, since = self._first_report or (0, now)
        bar = get_bar_class()(
            total=wanted,
            initial=rows,
            desc=self._title,
            unit=" rows",
            leave=False,
            dynamic_ncols=True,
            smoothing=0,  # the mean: rows come in large portions, and with pauses
        )
        bar.start_t -= now - since
        return bar

    def close(self) -> None:
        """Remove the bar."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            bar, self._bar = self._bar, None
            self._is_shown = False
        if bar is not None:
            bar.close()

    def _draw_in_time(self) -> None:
        """Draw the bar after `MIN_SECONDS`, though the next report may be long in coming."""
        with self._lock, suppress(Exception):  # as in `_update_bar`
            if self._bar is None and self._is_shown:
                self._draw_bar(*self._last_report, self._clock())

    def __enter__(self) -> Self:
        if self._is_shown and self._is_delayed:
            self._timer = threading.Timer(MIN_SECONDS, self._draw_in_time)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def decide_display(show: ShowProgress) -> tuple[bool, bool]:
    """Return whether there may be a bar, and whether it appears only after some time."""
    variable = os.environ.get(PROGRESS_VARIABLE, "").strip().lower()
    if variable in OFF or show is False or callable(show):
        return False, False
    if show is True or variable:
        return True, False
    return is_interactive() and not any(name in os.environ for name in TESTING_VARIABLES), True


def format_postfix(requests: int, budget: Budget | None) -> str:
    """Return the text after a bar."""
    left = str(budget) if budget else ""
    return f"{requests} request{'s'[: requests != 1]}{f', {left}' if left else ''}"


def render_bar(title: str, state: Mapping[str, Any]) -> str:
    """Return a bar as HTML, with rows, rate and remaining time; `state` is tqdm's `format_dict`."""
    from tqdm import tqdm

    rows, total, elapsed = state["n"], state["total"], state["elapsed"]
    words = [f"{rows:,} rows" if total is None else f"{rows:,} of {total:,} rows"]
    rate = (rows - state["initial"]) / elapsed if elapsed else 0.0
    if rate:
        words.append(f"{rate:,.0f} rows/s" if rate >= 10 else f"{rate:.1f} rows/s")
        if total is not None and total > rows:
            words.append(f"{tqdm.format_interval((total - rows) / rate)} left")
    done = "" if total is None else f' value="{rows}" max="{total}"'
    label = escape(title.rstrip(": "), quote=True)
    style = "width:16em;max-width:100%;vertical-align:middle"
    text = escape(", ".join(filter(None, [*words, state["postfix"]])))
    bar = f'<progress aria-label="{label}" style="{style}"{done}></progress>'
    return f"<div>{label} {bar} {text}</div>"


def get_bar_class() -> type[Any]:
    """Return the class of the bar: an output of a notebook, text on stderr elsewhere."""
    from tqdm import tqdm

    class UnmonitoredBar(tqdm):  # type: ignore[type-arg]
        """A bar without a monitor thread: it is redrawn with each page."""

        monitor_interval = 0

    # The bar of tqdm.notebook is a widget, whose random identifier would be saved.
    class OutputBar(UnmonitoredBar):
        """A bar as an output, which is empty at the end."""

        def __init__(self, **options: Any) -> None:  # noqa: ANN401 - tqdm has no types
            from IPython.display import display

            self._output: Any = display({"text/plain": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            fixed = {
                "dynamic_ncols": False,
                "ncols": BAR_COLUMNS,
                "ascii": False,
                "file": StringIO(),
            }
            super().__init__(**options | fixed)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:  # noqa: ARG002 - tqdm's
            if msg is None:
                html = render_bar(self.desc, self.format_dict)
                bundle = {"text/plain": str(self), "text/html": html}
            else:  # at the end
                bundle = {"text/plain": msg}
            self._output.update(bundle, raw=True)

    shell = sys.modules.get("IPython")
    is_in_kernel = getattr(shell and shell.get_ipython(), "kernel", None) is not None
    return OutputBar if is_in_kernel else UnmonitoredBar
