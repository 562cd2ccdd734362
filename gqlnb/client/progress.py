"""Progress bars of paging, in notebooks and at terminals."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from gqlnb.client.retry_loop import is_interactive
from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["PROGRESS_VARIABLE", "Progress", "ProgressCallback"]

PROGRESS_VARIABLE = "GQLNB_PROGRESS"
OFF = frozenset({"0", "false", "no", "off"})
MIN_SECONDS, MIN_REQUESTS = 2.0, 3  # before a bar appears
# pytest sets these, and the kernels of nbval inherit them. A bar would change the compared output.
TESTING_VARIABLES = ("PYTEST_VERSION", "PYTEST_CURRENT_TEST")

ProgressCallback = Callable[[int, "int | None", int, "Budget | None"], object]


class Progress:
    """Called after each page; a bar of tqdm, which closes with the ``with`` block.

    Parameters
    ----------
    show
        ``"auto"``: a bar after two seconds and three requests, in a notebook and at a terminal,
        never in a test. True: at once, on stderr or in the notebook. False: no bar. Or a function
        with the parameters of :meth:`__call__`; its exceptions end the paging.
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
        show: bool | str | ProgressCallback = "auto",
        title: str = "Pages",
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if show != "auto" and not isinstance(show, bool) and not callable(show):
            shown = sanitize_text(repr(show), 40)
            msg = f"progress= takes 'auto', True, False or a function, not {shown}."
            raise OptionError(msg)
        self._callback = show if callable(show) else None
        self._is_shown, self._is_delayed = decide_display(show)
        self._title, self._clock = title, clock
        self._started_at = clock()
        self._first_report: tuple[int, float] | None = None  # its rows and time
        self._bar: Any = None
        self._lock = threading.Lock()

    def __call__(
        self, got: int, wanted: int | None, requests: int, budget: Budget | None = None
    ) -> None:
        """Update the bar.

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
        """
        if self._callback is not None:
            self._callback(got, wanted, requests, budget)
        if not self._is_shown:
            return
        now = self._clock()
        with self._lock:
            self._first_report = self._first_report or (got, now)
            if self._is_delayed and (
                now - self._started_at < MIN_SECONDS or requests < MIN_REQUESTS
            ):
                return
            try:
                self._draw_bar(got, wanted, format_postfix(requests, budget), now)
            except Exception:  # a failure to draw must not end the paging
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

    def _open_bar(self, wanted: int | None, now: float) -> Any:
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
        with self._lock:
            bar, self._bar = self._bar, None
            self._is_shown = False
        if bar is not None:
            bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def decide_display(show: bool | str | ProgressCallback) -> tuple[bool, bool]:
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


def get_bar_class() -> Any:
    """Return the class of the bar: a widget in a notebook, text elsewhere."""
    from tqdm.auto import tqdm

    class UnmonitoredBar(tqdm):  # type: ignore[type-arg]
        """A bar without a monitor thread: it is redrawn with each page."""

        monitor_interval = 0

    return UnmonitoredBar
