"""One run of the star search: its state, its caption, and the same search as GraphQL and Python."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from gqlnb.client.urls import redact_url
from gqlnb.errors import GqlnbError, QueryError, format_count, sanitize_text
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.github.star_query import parse_star_query
from gqlnb.github.star_results import find_sent_query
from gqlnb.option_checks import read_whole_number
from gqlnb.result.renderer import count_shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    import pandas as pd


__all__ = [
    "IDLE",
    "StarRun",
    "find_pages",
    "find_site",
    "format_client",
    "read_limit",
    "write_caption",
    "write_python",
    "write_query_text",
]

GITHUB = "https://github.com"


def write_query_text(frame: pd.DataFrame, limit: int | None) -> str:
    """Return the sent query with the variables as defaults, so that it runs on its own.

    Parameters
    ----------
    frame
        The result of the search.
    limit
        The requested number of rows; None for all.
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
    """
    word = format_client(client) if isinstance(client, str) else "client"
    for name, value in (names or {}).items():
        if value is client and name[0] != "_" and not isinstance(client, str):
            word = name
            break
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
    if source is not None and is_snapshot(source):
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


def is_snapshot(source: str) -> bool:
    return "embedded snapshot of" in source


@dataclass(slots=True, eq=False)
class StarRun:
    """One search: its parameters, progress and outcome.

    Attributes
    ----------
    query, limit
        As :func:`gqlnb.github.star_results.collect_stars` takes them.
    stopped
        Whether it was cancelled, or a later search took its place.
    finished
        Set at the end.
    received, wanted
        The numbers of received and of expected rows; `wanted` is None until it is known.
    pages
        The number of received pages.
    budget
        The remaining budget of the endpoint as text; "" if unknown.
    frame, error
        The outcome; both are None while it runs and after it was stopped.
    sent_at
        The time of the last message to the front end, in seconds of the monotonic clock.
    send_pending
        Whether a timer will send the next message.
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
        """Set the outcome; return False if it had ended before."""
        if self.finished.is_set():
            return False
        self.frame, self.error, self.stopped = frame, error, stopped
        self.finished.set()
        return True

    def get_frame(self) -> pd.DataFrame:
        """Return the rows.

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
        if self.stopped:
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

    Raises
    ------
    QueryError
        If it is not a whole number above 0.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "all"}):
        return None
    number = parse_whole_number(value)
    if number is None or not 1 <= number < 10**15:  # exact in every JSON reader
        msg = (
            f"Number of rows {sanitize_text(repr(value), 80)} is not a whole number above 0. "
            "Enter for example 100, or nothing for all rows."
        )
        raise QueryError(msg)
    return number


def parse_whole_number(value: SupportsIndex | str) -> int | None:
    """Return a whole number or the value of a text of digits, else None."""
    if isinstance(value, str):
        digits = value.strip().replace(",", "").replace("_", "")
        return int(digits) if re.fullmatch(r"[0-9]{1,15}", digits) else None
    return read_whole_number(value)


def write_caption(frame: pd.DataFrame) -> str:
    """Describe the rows of a table and their source."""
    attrs = frame.attrs
    total, query, source = attrs["total_count"], attrs["query"], attrs["source"]
    parts = [f"{len(frame):,} of the {total:,} repositories that match {query}."]
    if not total:
        parts = [f"No repository matches {query}."]
    if source:
        # A snapshot covers some repositories at one date, so its counts differ from GitHub's.
        but = ", not GitHub's counts" if is_snapshot(source) else ""
        parts.append(f"Source: {source}{but}.")
    return sanitize_text(" ".join([*parts, *attrs["notes"]]), 1000)
