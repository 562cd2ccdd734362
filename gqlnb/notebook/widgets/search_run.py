"""What repeats a star search outside the widget: the text that was sent, and a line of Python."""

from __future__ import annotations

import json
import operator
import re
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gqlnb.errors import GqlnbError, QueryError, sanitize_text
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.github.star_results import find_sent_query
from gqlnb.notebook.display import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    import pandas as pd


__all__ = [
    "IDLE",
    "StarRun",
    "format_client",
    "read_limit",
    "write_caption",
    "write_python",
    "write_query_text",
]


def write_query_text(frame: pd.DataFrame, limit: int | None) -> str:
    """Return a GraphQL text that asks for the same rows by itself: its variables have defaults.

    Parameters
    ----------
    frame
        What the search found.
    limit
        The rows that were asked for; None for all.
    """
    query = json.dumps(frame.attrs["query"], ensure_ascii=False)
    first = MAX_PAGE_SIZE if limit is None else min(MAX_PAGE_SIZE, limit)
    text = find_sent_query(frame).replace("$query: String!", f"$query: String! = {query}", 1)
    text = text.replace("$first: Int!", f"$first: Int! = {first}", 1)
    if len(frame) <= MAX_PAGE_SIZE:
        return text
    if len(frame) > MAX_SEARCH_RESULTS:
        return f"# {MAX_SEARCH_RESULTS:,} of {len(frame):,} rows; one search gives no more\n{text}"
    most = "" if limit is None or limit >= MAX_SEARCH_RESULTS else f" --max-results {limit}"
    return f"# {len(frame):,} rows, {MAX_PAGE_SIZE} a page: %%graphql --paginate{most}\n{text}"


def write_python(
    query: str, limit: int | None, client: Any, names: Mapping[str, Any] | None = None
) -> str:
    """Return the line of Python that repeats a search.

    Parameters
    ----------
    query, limit, client
        As for :func:`gqlnb.stars`.
    names
        What the notebook calls its objects; a client without a name there is ``client``.
    """
    asked = f"gqlnb.stars({query!r}, limit={limit!r}, client={write_client(client, names or {})})"
    return f"import gqlnb; {asked}"


def write_client(client: Any, names: Mapping[str, Any]) -> str:
    """Return an expression for a client: its text without secrets, or its name."""
    if isinstance(client, str):
        return format_client(client)
    known = (name for name, value in names.items() if value is client and name[0] != "_")
    return next(known, "client")


def format_client(client: Any) -> str:
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
    return repr(sanitize_text(f"{scheme}{host}{port}{parts.path}", 200))


@dataclass(slots=True, eq=False)
class StarRun:
    """One search: what was asked, how far it is, how it ended.

    Attributes
    ----------
    query, limit
        As :func:`gqlnb.github.star_results.collect_stars` takes them.
    stopped
        Whether it was cancelled, or a later search took its place.
    finished
        Set when it ended, one way or the other.
    received, wanted
        Rows received and rows there will be; `wanted` is None until the endpoint has said.
    pages
        Pages received.
    budget
        What is left of the endpoint's budget, in words; empty if it has not said.
    frame, error
        How it ended; both None while it runs and after it was stopped.
    sent_at
        When the front end last heard of it, in seconds of the monotonic clock.
    send_pending
        Whether a timer will tell it more.
    """

    query: str
    limit: int | None
    stopped: bool = False
    finished: Event = field(default_factory=Event)
    received: int = 0
    wanted: int | None = None
    pages: int = 0
    budget: str = ""
    frame: pd.DataFrame | None = None
    error: Exception | None = None
    sent_at: float = 0.0
    send_pending: bool = False

    def end(
        self,
        *,
        frame: pd.DataFrame | None = None,
        error: Exception | None = None,
        stopped: bool = False,
    ) -> bool:
        """Note how it ended and wake who waits; return False if it had ended before."""
        if self.finished.is_set():
            return False
        self.frame, self.error, self.stopped = frame, error, stopped
        self.finished.set()
        return True

    def get_frame(self) -> pd.DataFrame:
        """Return what was found.

        Raises
        ------
        Exception
            What it ended with otherwise.
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
        if self.stopped:
            return "cancelled"
        return "done" if self.error is None else "failed"

    @property
    def text(self) -> str:
        """How it goes, in a few words; nothing for a failure, which has words of its own."""
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

    def to_state(self) -> dict[str, Any]:
        """Return what a view shows of it."""
        return {
            "phase": self.phase,
            "text": self.text,
            "budget": self.budget,
            "got": self.received,
            "wanted": self.wanted,
        }


IDLE = {"phase": "idle", "text": "", "budget": "", "got": 0, "wanted": None}
"""What a view shows before the first search."""


def read_limit(value: SupportsIndex | str | None) -> int | None:
    """Read the number of rows from the text of its box, or check a number.

    Raises
    ------
    QueryError
        If it is no whole number from 1 up; an empty text, ``"all"`` and None mean no limit.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "all"}):
        return None
    number = parse_whole_number(value)
    if number is None or not 1 <= number < 10**15:  # what every JSON reader keeps exact
        msg = (
            f"Number of rows {sanitize_text(repr(value), 80)} is no whole number from 1 up. "
            "Write for example 100, or nothing for all rows."
        )
        raise QueryError(msg)
    return number


def parse_whole_number(value: SupportsIndex | str) -> int | None:
    """Return a whole number, or what a text of digits means; None for anything else."""
    if isinstance(value, str):
        digits = value.strip().replace(",", "").replace("_", "")
        return int(digits) if re.fullmatch(r"[0-9]{1,15}", digits) else None
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def write_caption(frame: pd.DataFrame) -> str:
    """Return in sentences how much of what a table shows, and where it is from."""
    attrs = frame.attrs
    total, query, source = attrs["total_count"], attrs["query"], attrs["source"]
    parts = [f"{len(frame):,} of the {total:,} repositories that match {query}."]
    if not total:
        parts = [f"No repository matches {query}."]
    if source:
        # A snapshot is of some repositories on some day: its counts are never GitHub's.
        but = ", not GitHub's counts" if "snapshot" in source else ""
        parts.append(f"Source: {source}{but}.")
    return sanitize_text(" ".join([*parts, *attrs["notes"]]), 1000)
