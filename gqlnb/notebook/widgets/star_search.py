"""The star search as a widget: a threshold in, a table of repositories out.

The widget is one anywidget with one comm. A composite of ready-made controls was tried, and it
searched with an old threshold: ipykernel 7 may hand the messages of two comms to two threads, one
of them busy. Here each click is one message with all its parameters, and it does not matter which
thread reads it.
"""

from __future__ import annotations

import operator
import re
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from threading import Event, RLock, Thread, Timer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anywidget
import traitlets

from gqlnb.errors import GqlnbError, QueryError, plain
from gqlnb.github.starsearch import collect
from gqlnb.github.thresholds import threshold
from gqlnb.model.grid import ROWS_SHOWN
from gqlnb.model.render import frame_html

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    import pandas as pd

__all__ = ["StarSearch"]

ROWS_SENT = 10_000  # a browser's table of more scrolls badly; the frame has them all
SECONDS_BETWEEN_STATES = 0.1  # ten a second look smooth; JupyterLab refuses more than 1,000

_HERE = Path(__file__).parent


@dataclass(slots=True, eq=False)
class Search:
    """One search: what was asked, how far it is, how it ended.

    Attributes
    ----------
    query, limit
        As :func:`gqlnb.github.starsearch.collect` takes them.
    stopped
        Whether it was cancelled, or a later search took its place.
    over
        Set when it ended, one way or the other.
    got, wanted
        Rows received and rows there will be; `wanted` is None until the endpoint has said.
    frame, error
        How it ended; both None while it runs and after it was stopped.
    told
        When the front end last heard of it, in seconds of the monotonic clock.
    due
        Whether a timer will tell it more.
    """

    query: str
    limit: int | None
    stopped: bool = False
    over: Event = field(default_factory=Event)
    got: int = 0
    wanted: int | None = None
    frame: pd.DataFrame | None = None
    error: Exception | None = None
    told: float = 0.0
    due: bool = False

    def end(
        self,
        *,
        frame: pd.DataFrame | None = None,
        error: Exception | None = None,
        stopped: bool = False,
    ) -> bool:
        """Note how it ended and wake who waits; return False if it had ended before."""
        if self.over.is_set():
            return False
        self.frame, self.error, self.stopped = frame, error, stopped
        self.over.set()
        return True

    @property
    def phase(self) -> str:
        """``"running"``, ``"cancelled"``, ``"failed"`` or ``"done"``."""
        if not self.over.is_set():
            return "running"
        if self.stopped:
            return "cancelled"
        return "done" if self.error is None else "failed"

    @property
    def text(self) -> str:
        """How it goes, in a few words; nothing for a failure, which has words of its own."""
        match self.phase:
            case "running":
                wanted = self.wanted
                return "Searching …" if wanted is None else f"{self.got:,} of {rows_of(wanted)} …"
            case "cancelled":
                return f"Cancelled after {rows_of(self.got)}."
            case "done":
                return f"{rows_of(self.got)} found."
        return ""


class StarSearch(anywidget.AnyWidget):
    """Search repositories by their number of stars, in a widget.

    The search runs in a thread: a cell may run beside it, and other cells find its outcome in
    :attr:`frame` and :attr:`error`. :meth:`run` does the same without a front end.

    Parameters
    ----------
    query
        The threshold in stars: ``">N"``, ``">=N"``, ``"N..M"``, ``"N"``, or a number N, which
        means ``">N"``.
    limit
        Most rows to fetch, at least 1; None for all that one search gives.
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
        If `query` is no threshold or `limit` no number of rows.

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

    _esm = _HERE / "star_search.js"
    _css = _HERE / "star_search.css"

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
        self._lock = RLock()
        self._client = client
        self._search: Search | None = None
        self._frame: pd.DataFrame | None = None
        self._table: dict[str, Any] | None = None
        self.on_msg(self._receive)
        super().__init__(query=threshold(query), limit=read_limit(limit))

    @traitlets.validate("query")
    def _readable(self, proposal: Mapping[str, Any]) -> str:
        return threshold(proposal["value"])

    @traitlets.validate("limit")
    def _positive(self, proposal: Mapping[str, Any]) -> int | None:
        return read_limit(proposal["value"])

    @property
    def frame(self) -> pd.DataFrame | None:
        """The last complete result; None before the first."""
        return self._frame

    @property
    def error(self) -> str | None:
        """What went wrong with the last search, in words; None if nothing did."""
        with self._lock:
            search = self._search
        return None if search is None or search.error is None else in_words(search.error)

    def start(self) -> None:
        """Begin to search in a thread, instead of the search that runs, if one does."""
        self._start(self.query, self.limit)

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
        """
        search = self._begin(self.query, self.limit)
        try:
            self._work(search)
        except BaseException:  # the interrupt button
            self.cancel()
            raise
        if search.error is not None:
            raise search.error
        if search.frame is None:
            msg = f"The search for {search.query} stars was cancelled. Run it again."
            raise GqlnbError(msg)
        return search.frame

    def cancel(self) -> None:
        """Stop the search that runs, if one does; :attr:`frame` stays what it was."""
        with self._lock:
            if self._search is not None and self._search.end(stopped=True):
                self._tell()

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
            search = self._search
        return search is None or search.over.wait(timeout)

    def open(self) -> None:
        """Open the comm to the front end, once."""
        super().open()
        forget_route(self.comm)

    def close(self) -> None:
        """Stop the search that runs and take the widget out of all its views."""
        self.cancel()
        super().close()

    def __repr__(self) -> str:
        asked = shown_client(self._client)
        return f"{type(self).__name__}({self.query!r}, limit={self.limit}, client={asked})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view, and beside it the first rows for a viewer without a kernel."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = self._html()
        return bundle

    def _html(self) -> str:
        with self._lock:
            frame, table = self._frame, self._table
        if frame is None or table is None:
            body = f"<p>{escape(repr(self))}: run this notebook to search.</p>"
        else:
            note = f" The first {ROWS_SHOWN} are shown." if len(frame) > ROWS_SHOWN else ""
            body = frame_html(frame, f"{table['caption']}{note}")
        return f'<div class="gqlnb tex2jax_ignore">{body}</div>'

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        """Do what the front end asks, in whichever thread its message came."""
        match content:
            case {"kind": "hello"}:
                self._tell(table=True)
            case {"kind": "cancel"}:
                self.cancel()
            case {"kind": "run", "query": str() as query, "limit": str() as limit}:
                self._clicked(query, limit)

    def _clicked(self, query: str, limit: str) -> None:
        """Search for what stands in the two boxes."""
        try:
            asked, most = threshold(query), read_limit(limit)
        except QueryError as error:
            self._fail(self._begin(plain(query, 80), None), error)
            return
        self.query, self.limit = asked, most
        self._start(asked, most)

    def _start(self, query: str, limit: int | None) -> None:
        search = self._begin(query, limit)
        Thread(target=self._work, args=[search], name="gqlnb-star-search", daemon=True).start()

    def _begin(self, query: str, limit: int | None) -> Search:
        """Put a new search in the place of the one before, which stops if it still runs."""
        search = Search(query, limit)
        with self._lock:
            if self._search is not None:
                self._search.end(stopped=True)
            self._search = search
            self._tell()
        return search

    def _work(self, search: Search) -> None:
        """Carry out a search, in the thread that calls."""

        def on_page(got: int, wanted: int, _total: int) -> bool:
            with self._lock:
                if search.over.is_set():
                    return False
                search.got, search.wanted = got, wanted
                self._tell_in_time(search)
            return True

        try:
            frame = collect(search.query, limit=search.limit, client=self._client, on_page=on_page)
            table = table_of(frame)
        except Exception as error:  # whatever it is: a thread has nobody else to tell
            self._fail(search, error)
            return
        with self._lock:
            if search.over.is_set():
                return
            table["number"] = 1 + (self._table["number"] if self._table else 0)
            # Before it ends: who waits for the end looks at these next.
            self._frame, self._table, search.got = frame, table, len(frame)
            search.end(frame=frame)
            self._tell(table=True)

    def _fail(self, search: Search, error: Exception) -> None:
        with self._lock:
            if search.end(error=error):
                self._tell()

    def _tell_in_time(self, search: Search) -> None:
        """Send the state now, or as soon as the last one is old enough: the next page may hang."""
        wait = search.told + SECONDS_BETWEEN_STATES - time.monotonic()
        if wait <= 0:
            self._tell()
        elif not search.due:
            search.due = True
            timer = Timer(wait, self._tell)
            timer.daemon = True
            timer.start()

    def _tell(self, *, table: bool = False) -> None:
        """Send the state to every view, with the rows if asked; under the lock, to keep order."""
        with self._lock:
            search = self._search
            message: dict[str, Any] = {
                "kind": "state",
                "phase": "idle" if search is None else search.phase,
                "text": "" if search is None else search.text,
                "error": self.error,
                "got": search.got if search else 0,
                "wanted": search.wanted if search else None,
            }
            if table:
                message["table"] = self._table
            if search is not None:
                search.told, search.due = time.monotonic(), False
            self.send(message)

    def _send(self, msg: dict[str, Any], buffers: Any = None) -> None:
        super()._send(msg, buffers)
        forget_route(self.comm)


def forget_route(comm: object) -> None:
    """Let the front end choose the thread that reads its next message on a comm.

    ipykernel 7.4 notes which of its threads sent last on a comm and hands the front end's messages
    to that one: to the main thread, behind a running cell, if a cell sent last; to nobody, if the
    thread went with the page that had asked for it. Any thread will do here. Other versions keep
    no such note.
    """
    if comm is not None:
        vars(comm).pop("_reply_subshell_id", None)


def read_limit(value: SupportsIndex | str | None) -> int | None:
    """Read the number of rows from the text of its box, or check a number.

    Raises
    ------
    QueryError
        If it is no whole number from 1 up; an empty text, like None, means no limit.
    """
    if value is None or value == "":
        return None
    number = whole(value)
    if number is None or not 1 <= number < 10**15:  # what every JSON reader keeps exact
        msg = (
            f"Number of rows {plain(repr(value), 80)} is no whole number from 1 up. "
            "Write for example 100, or nothing for all rows."
        )
        raise QueryError(msg)
    return number


def whole(value: SupportsIndex | str) -> int | None:
    """Return a whole number, or what a text of digits means; None for anything else."""
    if isinstance(value, str):
        digits = value.strip().replace(",", "").replace("_", "")
        return int(digits) if re.fullmatch(r"[0-9]{1,15}", digits) else None
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def shown_client(client: Any) -> str:
    """Return a client as a repr shows it: of an address no user, password, query or fragment."""
    if not isinstance(client, str) or ("/" not in client and "@" not in client):
        return repr(client)  # the name of a connection; an object, which knows what to hide
    try:
        parts = urlsplit(client.strip())
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return repr("...")
    if "@" in parts.path:  # a password with a slash in it, or no scheme
        return repr("...")
    host = f"[{host}]" if ":" in host else host
    scheme = f"{parts.scheme}://" if parts.netloc else ""
    return repr(plain(f"{scheme}{host}{port}{parts.path}", 200))


def rows_of(number: int) -> str:
    """Return ``1 row``, ``2,000 rows``."""
    return "1 row" if number == 1 else f"{number:,} rows"


def in_words(error: Exception) -> str:
    """Return what a person reads of an error: our own as they are, others with their type."""
    return (
        str(error) if isinstance(error, GqlnbError) else f"{type(error).__name__}: {plain(error)}"
    )


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the rows of a result as the front end takes them: JSON values, by column."""
    shown = frame.head(ROWS_SENT)
    return {
        "caption": caption(frame),
        "rows": len(shown),
        "columns": [{"name": name, "values": list(map(cell, shown[name]))} for name in shown],
    }


def cell(value: Any) -> int | str | None:
    """Return a value as the table shows it; what is missing as None, text without tricks."""
    import pandas as pd

    if isinstance(value, str):
        return value if value.isprintable() else plain(value)
    return None if value is pd.NA else int(value)


def caption(frame: pd.DataFrame) -> str:
    """Return in sentences how much of what a table shows, and where it is from."""
    attrs = frame.attrs
    total, query, source = attrs["total_count"], attrs["query"], attrs["source"]
    parts = [f"{len(frame):,} of the {total:,} repositories that match {query}."]
    exactly = query.removeprefix("stars:")
    if not len(frame) and exactly.isdecimal():
        parts.append(f"{exactly} means exactly {exactly} stars; >{exactly} means more than that.")
    if len(frame) > ROWS_SENT:
        parts.append(f"The first {ROWS_SENT:,} are shown.")
    if source:
        # A snapshot is of some repositories on some day: its counts are never GitHub's.
        but = ", not GitHub's counts" if "snapshot" in source else ""
        parts.append(f"Source: {source}{but}.")
    return plain(" ".join([*parts, *attrs["notes"]]), 1000)
