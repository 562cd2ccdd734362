"""One star search on its way: what was asked, how far it is, how it ended, in words."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, QueryError, plain
from gqlnb.notebook.shown import counted

if TYPE_CHECKING:
    from typing import SupportsIndex

    import pandas as pd

__all__ = ["IDLE", "Run", "caption", "read_limit"]


@dataclass(slots=True, eq=False)
class Run:
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
    pages
        Pages received.
    budget
        What is left of the endpoint's budget, in words; empty if it has not said.
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
    pages: int = 0
    budget: str = ""
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

    def outcome(self) -> pd.DataFrame:
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
        if not self.over.is_set():
            return "running"
        if self.stopped:
            return "cancelled"
        return "done" if self.error is None else "failed"

    @property
    def text(self) -> str:
        """How it goes, in a few words; nothing for a failure, which has words of its own."""
        got, pages = counted(self.got, "row"), counted(self.pages, "page")
        match self.phase:
            case "running" if self.wanted is not None:
                return f"{self.got:,} of {counted(self.wanted, 'row')}, {pages} …"
            case "running":
                return "Searching …"
            case "cancelled":
                return f"Cancelled after {got}."
            case "done":
                return f"{got} in {pages}."
        return ""

    def state(self) -> dict[str, Any]:
        """Return what a view shows of it."""
        return {
            "phase": self.phase,
            "text": self.text,
            "budget": self.budget,
            "got": self.got,
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


def caption(frame: pd.DataFrame) -> str:
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
    return plain(" ".join([*parts, *attrs["notes"]]), 1000)
