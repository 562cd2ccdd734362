"""A widget to search repositories by stars, with a table and two charts."""

from __future__ import annotations

import json
import re
import time
from bisect import bisect_right
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from html import escape
from itertools import islice
from math import ceil, floor, log10, sqrt
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex
from urllib.parse import quote, urlsplit

import numpy as np
import traitlets
from IPython.display import DisplayHandle, display

from gqlnb import background
from gqlnb.client.credentials import redact_url
from gqlnb.errors import GqlnbError, QueryError, describe_exception, format_count, sanitize_text
from gqlnb.github.builtin_connections import open_client
from gqlnb.github.harvester.requests import (
    PortableClient,
    SearchRequest,
    count_searches,
    fetch_pages,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.github.star_query import StarQuery, check_threshold, parse_star_query, read_least_stars
from gqlnb.github.star_results import collect_stars, find_sent_query
from gqlnb.notebook.display import is_in_kernel
from gqlnb.notebook.widgets.base import Widget, describe_error, get_notebook_names
from gqlnb.option_checks import explain_keywords, read_whole_number
from gqlnb.result.renderer import Grid, count_shown, draw_bar, render_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from gqlnb.client.client import Client
    from gqlnb.notebook.widgets.base import Message
    from gqlnb.notebook.widgets.data_grid import GridSource

    OnResult = Callable[[pd.DataFrame], object]

TOP = 20  # bars; more leave no space for their names
NAME = 140  # characters of owner and name on GitHub, at most
FEWEST, LEAST = 8, 3  # ranges of the histogram, of many values and of a few
SPARE = 4  # more ranges than the fewest; still more are hard to read
# Steps within a power of ten: 1, 1-2-5, then series R10, R20, R40 of ISO 3 (preferred numbers).
R10 = (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)
R20 = (*R10, 1.12, 1.4, 1.8, 2.24, 2.8, 3.55, 4.5, 5.6, 7.1, 9)
R40 = (
    *(*R20, 1.06, 1.18, 1.32, 1.5, 1.7, 1.9, 2.12, 2.36, 2.65, 3, 3.35, 3.75, 4.25, 4.75),
    *(5.3, 6, 6.7, 7.5, 8.5, 9.5),
)
HATCH = "▒"
SERIES = ((1,), (1, 2, 5), R10, R20, R40)


@dataclass(frozen=True, slots=True)
class StarBar:
    """The bar of one repository, named ``owner/name``."""

    name: str
    stars: int


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of repositories with `low` to `high` stars, both included, and of rows of them."""

    low: int
    high: int
    count: int
    held: int


def find_top(frame: pd.DataFrame) -> list[StarBar]:
    """Return the repositories with the most stars, in descending order."""
    counted = frame.dropna(subset=["stargazers"])
    first = counted.sort_values("stargazers", ascending=False, kind="stable").head(TOP)
    rows = zip(first["owner"], first["name"], first["stargazers"], strict=True)
    return [
        StarBar(sanitize_text(f"{owner}/{name}", NAME), int(stars)) for owner, name, stars in rows
    ]


def build_histogram(counts: ArrayLike) -> list[Bin]:
    """Count the values in adjacent ranges.

    Parameters
    ----------
    counts
        Numbers of stars, at least 0, in any order.

    Returns
    -------
    list of Bin
        The ranges with the numbers of their values, from low to high.
    """
    numbers = np.asarray(counts, dtype=np.int64)
    if not numbers.size:
        return []
    most = int(numbers.max())
    # The square root of their number, as usual, lest most of the ranges be empty.
    fewest = max(LEAST, min(FEWEST, ceil(sqrt(numbers.size))))
    return fill_bins(choose_edges(int(numbers.min()), most, fewest), most, numbers)


def fill_bins(starts: Sequence[int], most: int, numbers: np.ndarray[Any, Any]) -> list[Bin]:
    """Count the values in the ranges that begin at `starts`; the last one ends at `most`."""
    places = np.searchsorted(np.asarray(starts), numbers, side="right") - 1
    counts = np.bincount(places[places >= 0], minlength=len(starts)).tolist()
    ends = [*(start - 1 for start in starts[1:]), max(most, starts[-1])]
    return [Bin(*row) for row in zip(starts, ends, counts, counts, strict=True)]


def count_bins(client: Client, query: StarQuery, frame: pd.DataFrame) -> list[Bin]:
    """Return the histogram of all repositories of a search, also of those without a row.

    The rows of a result that is cut have a shape of their own: of the most stars only, their ranges
    of few stars are nearly empty.

    Returns
    -------
    list of Bin
        The ranges with the numbers of their repositories, from low to high.

    Raises
    ------
    GqlnbError
        If the counts of the ranges cannot be read.
    """
    numbers = np.asarray(frame["stargazers"].dropna(), dtype=np.int64)
    if len(frame) >= frame.attrs["total_count"] or not numbers.size:
        return build_histogram(numbers)
    most = int(numbers.max())
    if frame.attrs["order"] != "stars-desc":
        first = SearchRequest(replace(query, order="stars-desc").expression, first=1)
        (page,) = fetch_pages(PortableClient(client), [first]).answers
        most = max((row.stars for row in page.rows if row is not None), default=0)
    least = read_least_stars(query)
    bins = fill_bins(choose_edges(min(least, most), most, FEWEST), most, numbers)
    thresholds = [f"{max(least, part.low)}..{part.high}" for part in bins]
    ranges = [replace(query, threshold=each, order="") for each in thresholds]
    counts = count_searches(client, [each.expression for each in ranges])
    # A row may have moved between the requests.
    return [
        replace(part, count=max(count, part.held)) for part, count in zip(bins, counts, strict=True)
    ]


def choose_edges(low: int, high: int, fewest: int) -> list[int]:
    """Return the lower ends of `fewest` or some more ranges that cover `low` to `high`."""
    if low == high:
        return [low]
    for steps in SERIES:
        starts = select_steps(steps, low, high)
        if len(starts) >= fewest:
            return starts
    # Below a third of a power of ten a logarithmic scale is nearly linear: steps 1, 2, 5, 10 ...
    widths = (digit * 10**power for power in range(15) for digit in (1, 2, 5))
    step = next(width for width in widths if (high - low) // width < fewest + SPARE)
    return list(range(low // step * step, high + 1, step))


def select_steps(steps: Sequence[float], low: int, high: int) -> list[int]:
    """Return the lower ends from `low` to `high` at given steps of each power of ten."""
    powers = range(floor(log10(max(1, low))), floor(log10(max(1, high))) + 1)
    every = {round(step * 10**power) for power in powers for step in steps}
    ordered = sorted(every | ({0} if low == 0 else set()))
    begin = max(0, bisect_right(ordered, low) - 1)
    return ordered[begin : bisect_right(ordered, high)]


def build_charts(frame: pd.DataFrame, bins: Sequence[Bin] | None = None) -> dict[str, Any]:
    """Return both charts as JSON values, each with a description for screen readers.

    `bins` are those of :func:`count_bins`; by default those of the rows.

    Returns
    -------
    dict
        ``top`` and ``spread``: what each chart draws, and its description.
    """
    bars = find_top(frame)
    if bins is None:
        bins = build_histogram(frame["stargazers"].dropna())
    return {
        "top": {"bars": [asdict(bar) for bar in bars], "said": _describe_bars(bars)},
        "spread": {"bins": [asdict(part) for part in bins], "said": _describe_bins(bins)},
    }


def _describe_bars(bars: Sequence[StarBar]) -> str:
    if not bars:
        return "No repositories."
    first, last = bars[0], bars[-1]
    if len(bars) == 1:
        return f"One repository: {first.name} with {first.stars:,} stars."
    return (
        f"The {len(bars)} repositories with the most stars, from {first.name} with "
        f"{first.stars:,} to {last.name} with {last.stars:,}."
    )


def _describe_bins(bins: Sequence[Bin]) -> str:
    if not bins:
        return "No repositories."
    first, *others = sorted(bins, key=lambda part: -part.count)
    number = sum(part.count for part in bins)
    text = (
        f"{format_count(number, 'repository', 'repositories')} by stars, on a logarithmic scale in "
        f"{format_count(len(bins), 'range')}"
    )
    held = sum(part.held for part in bins)
    rest = f" Hatched: those that are not among the {held:,} rows." if held < number else ""
    if others and first.count == others[0].count:
        return f"{text}; no range has more than {first.count:,}.{rest}"
    return f"{text}; the most, {first.count:,}, have {_format_range(first)} stars.{rest}"


def _format_range(part: Bin) -> str:
    return f"{part.low:,}" if part.low == part.high else f"{part.low:,} to {part.high:,}"


def build_histogram_grid(bins: Sequence[Bin]) -> Grid:
    """Build the histogram as a text table; what the rows do not hold is hatched."""
    largest = max((part.count for part in bins), default=1)
    names = ["stars", "repositories"]
    rows = [[_format_range(part), f"{part.count:,}"] for part in bins]
    if any(part.held < part.count for part in bins):
        names.append("in rows")
        rows = [[*row, f"{part.held:,}"] for row, part in zip(rows, bins, strict=True)]
    bars = []
    for part in bins:
        held, whole = draw_bar(part.held / largest), draw_bar(part.count / largest)
        bars.append(held + HATCH * (len(whole) - len(held)))
    return Grid(names, [True] * len(names), rows, [""] * len(bins), bars)


GITHUB = "https://github.com"


def write_query_text(frame: pd.DataFrame, limit: int | None) -> str:
    """Return the sent query with the variables as defaults, so that it runs on its own.

    Parameters
    ----------
    frame
        The result of the search.
    limit
        The requested number of rows; None for all.

    Returns
    -------
    str
        A GraphQL document.
    """
    expression = frame.attrs["query"]
    if not parse_star_query(expression).order:
        expression += f" sort:{frame.attrs['order']}"
    query = json.dumps(expression, ensure_ascii=False)
    first = MAX_PAGE_SIZE if limit is None else min(MAX_PAGE_SIZE, limit)
    # Only the first occurrence, which is the declaration of the variable.
    text = find_sent_query(frame).replace("$query: String!", f"$query: String! = {query}", 1)
    text = text.replace("$first: Int!", f"$first: Int! = {first}", 1)
    if len(frame) <= MAX_PAGE_SIZE:
        return text
    if len(frame) > MAX_SEARCH_RESULTS:
        return f"# {MAX_SEARCH_RESULTS:,} of {len(frame):,} rows; one search gives no more\n{text}"
    most = "" if limit is None or limit >= MAX_SEARCH_RESULTS else f" --max-results {limit}"
    return f"# {len(frame):,} rows, {MAX_PAGE_SIZE} a page: %%graphql --paginate{most}\n{text}"


def write_python(
    query: str, limit: int | None, client: object, names: Mapping[str, object] | None = None
) -> str:
    """Return a line of Python that repeats a search.

    Parameters
    ----------
    query, limit, client
        As for :func:`gqlnb.stars`.
    names
        The names of the notebook; a client without a name is written as ``client``.

    Returns
    -------
    str
        A call of :func:`gqlnb.stars`.
    """
    if isinstance(client, str):
        word = format_client(client)
    else:
        matches = (name for name, value in (names or {}).items() if value is client)
        word = next((name for name in matches if name[0] != "_"), "client")
    return f"import gqlnb; gqlnb.stars({query!r}, limit={limit!r}, client={word})"


def format_client(client: object) -> str:
    """Return the repr of a client, which hides secrets; of an address without them."""
    return repr(redact_url(client.strip()) if isinstance(client, str) else client)


def find_site(source: str | None) -> str:
    """Return the address of the website that shows the repositories of a source.

    Parameters
    ----------
    source
        The source of an answer: the embedded snapshot, or the address of an endpoint.

    Returns
    -------
    str
        Such as ``"https://github.com"``, without a slash at the end; "" if it is not known.
    """
    if source is not None and _is_snapshot(source):
        return GITHUB
    parts = urlsplit(source or "")
    if parts.scheme != "https":
        return ""
    # Source: GitHub documentation, "Forming calls with GraphQL": api.github.com, api.NAME.ghe.com
    # for Enterprise Cloud with data residency, and HOST/api/graphql for Enterprise Server.
    if parts.netloc == "api.github.com" or re.fullmatch(r"api\.[\w-]+\.ghe\.com", parts.netloc):
        return f"https://{parts.netloc.removeprefix('api.')}"
    return f"https://{parts.netloc}" if parts.path == "/api/graphql" else ""


def find_pages(frame: pd.DataFrame) -> dict[tuple[int, int], str]:
    """Return the pages of the repositories that a table shows, by row and column of their names."""
    site, at = find_site(frame.attrs["source"]), [*frame.columns].index("name")
    if not site:
        return {}
    rows = zip(frame["owner"], frame["name"], strict=True)
    return {
        (row, at): f"{site}/{quote(owner, safe='')}/{quote(name, safe='')}"
        for row, (owner, name) in enumerate(islice(rows, count_shown(len(frame))))
    }


def _is_snapshot(source: str) -> bool:
    return "embedded snapshot of" in source


@dataclass(slots=True, eq=False)
class StarRun:
    """One search: its parameters, progress and outcome.

    Attributes
    ----------
    query, limit
        As :func:`gqlnb.github.star_results.collect_stars` takes them.
    finished
        Set at the end.
    received, wanted
        The numbers of received and of expected rows; `wanted` is None until it is known.
    pages
        The number of received pages.
    budget
        The remaining budget of the endpoint as text; "" if unknown.
    frame, error
        The outcome; both are None while it runs, and after it was cancelled or replaced by a later
        search.
    sent_at
        The time of the last message to the front end, in seconds of the monotonic clock.
    send_pending
        Whether a timer will send the next message.
    """

    query: str
    limit: int | None
    finished: Event = field(default_factory=Event)
    received: int = 0
    wanted: int | None = None
    pages: int = 0
    budget: str = ""
    frame: pd.DataFrame | None = None
    error: Exception | None = None
    sent_at: float = 0.0
    send_pending: bool = False

    def end(self, *, frame: pd.DataFrame | None = None, error: Exception | None = None) -> bool:
        """Set the outcome, none to stop the search; return False if it had ended before."""
        if self.finished.is_set():
            return False
        self.frame, self.error = frame, error
        self.finished.set()
        return True

    def get_frame(self) -> pd.DataFrame:
        """Return the rows.

        Returns
        -------
        DataFrame
            The rows of the search.

        Raises
        ------
        GqlnbError
            If the search was cancelled.
        Exception
            The error that ended it.
        """
        if self.error is not None:
            raise self.error
        if self.frame is None:
            msg = f"The search for {self.query} was cancelled. Run it again."
            raise GqlnbError(msg)
        return self.frame

    @property
    def phase(self) -> str:
        """``"running"``, ``"cancelled"``, ``"failed"`` or ``"done"``."""
        if not self.finished.is_set():
            return "running"
        if self.frame is None and self.error is None:
            return "cancelled"
        return "done" if self.error is None else "failed"

    @property
    def text(self) -> str:
        """The progress in a few words; "" after a failure, which is shown separately."""
        got, pages = format_count(self.received, "row"), format_count(self.pages, "page")
        match self.phase:
            case "running" if self.wanted is not None:
                return f"{self.received:,} of {format_count(self.wanted, 'row')}, {pages} …"
            case "running":
                return "Searching …"
            case "cancelled":
                return f"Cancelled after {got}."
            case "done":
                return f"{got} in {pages}."
        return ""

    def to_state(self) -> dict[str, object]:
        """Return the state that a view shows."""
        return {
            "phase": self.phase,
            "text": self.text,
            "budget": self.budget,
            "got": self.received,
            "wanted": self.wanted,
        }


#: The state that a view shows before the first search.
IDLE = {"phase": "idle", "text": "", "budget": "", "got": 0, "wanted": None}


def read_limit(value: SupportsIndex | str | None) -> int | None:
    """Read a number of rows from the text of a box, or check a number.

    An empty text, ``"all"`` and None mean no limit.

    Returns
    -------
    int or None
        The number of rows; None for all.

    Raises
    ------
    QueryError
        If it is not a whole number above 0.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "all"}):
        return None
    number: int | None = None
    if not isinstance(value, str):
        number = read_whole_number(value)
    elif re.fullmatch(r"[0-9]{1,15}", digits := value.strip().replace(",", "").replace("_", "")):
        number = int(digits)
    if number is None or not 1 <= number < 10**15:  # exact in every JSON reader
        msg = (
            f"Number of rows {sanitize_text(repr(value), 80)} is not a whole number above 0. "
            "Enter for example 100, or nothing for all rows."
        )
        raise QueryError(msg)
    return number


def write_caption(frame: pd.DataFrame) -> str:
    """Describe the rows of a table and their source."""
    attrs = frame.attrs
    total, query, source = attrs["total_count"], attrs["query"], attrs["source"]
    parts = [f"{len(frame):,} of the {total:,} repositories that match {query}."]
    if not total:
        parts = [f"No repository matches {query}."]
    if source:
        # A snapshot covers some repositories at one date, so its counts differ from GitHub's.
        but = ", not GitHub's counts" if _is_snapshot(source) else ""
        parts.append(f"Source: {source}{but}.")
    return sanitize_text(" ".join([*parts, *attrs["notes"]]), 1000)


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
        self._output: DisplayHandle | None = None  # whose saved form the results replace
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
        frame = run.get_frame()
        self._update_output()
        wrong = self._call_callbacks(run)
        if wrong:
            raise wrong[0]
        return frame

    def cancel(self) -> None:
        """Stop the running search, if any; :attr:`frame` is unchanged."""
        with self._lock:
            if self._current_run is not None and self._current_run.end():
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
        # A view that is displayed again shares the output: both are updated.
        again: Any = True if self._output is None else self._output.display_id
        bundle, _ = self._repr_mimebundle_()
        self._output = display(bundle, raw=True, display_id=again)  # type: ignore[no-untyped-call]

    def _update_output(self) -> None:
        with self._lock:
            if self._output is not None:
                self._output.update(self._repr_mimebundle_()[0], raw=True)  # type: ignore[no-untyped-call]

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

    def _handle_view_message(self, message: Message, /) -> Message | None:
        match message:
            case {"kind": "hello"}:
                if message.get("extension") is False:
                    # An update would replace the view, in the classic notebook by nothing.
                    self._output = None
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
                self._update_output()
                self._call_callbacks(run)

        background.start_thread(search, "gqlnb-star-search")

    def _begin_run(self, query: str, limit: int | None) -> StarRun:
        """Create a run that replaces the current one, which is stopped."""
        run = StarRun(query, limit)
        with self._lock:
            if self._current_run is not None:
                self._current_run.end()
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
