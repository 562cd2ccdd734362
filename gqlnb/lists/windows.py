"""Windows of a column whose values never change, and the requests and answers about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Page", "PageRequest", "Row", "Source", "Window"]


class Row(Protocol):
    """A row of a list."""

    @property
    def id(self) -> str:
        """The id, which is the same whenever the row comes."""

    @property
    def created(self) -> int | None:
        """The value of the column; None if it is unknown."""


class Window(NamedTuple):
    """The rows with values from `low` to below `high`.

    Attributes
    ----------
    low, high
        The ends.
    inner
        Ends of a second column, which may change, for a single value with too many rows.
    """

    low: int
    high: int
    inner: tuple[int, int] | None = None

    @property
    def is_single(self) -> bool:
        """Whether it has only one value, so that it cannot be cut."""
        return self.high - self.low <= 1

    def contains(self, row: Row) -> bool:
        """Return whether the value of a row is between the ends."""
        return row.created is not None and self.low <= row.created < self.high


class PageRequest(NamedTuple):
    """A request for the count of a window, or for a page of its rows.

    Attributes
    ----------
    window
        The window.
    order
        The number of the sort order: endpoints take another order for another search, which may
        show what the first one left out.
    first
        Most rows; 0 only counts.
    after
        Cursor; None for the first page.
    """

    window: Window
    order: int
    first: int = 0
    after: str | None = None


class Page(NamedTuple):
    """The answer to a request.

    Attributes
    ----------
    total
        Number of rows that the endpoint counts.
    rows
        In the order of the answer; None for a null row.
    more
        Whether a further page exists.
    end
        Cursor of the last row.
    heavy
        Whether rows are missing because the page was too large.
    """

    total: int
    rows: tuple[Row | None, ...] = ()
    more: bool = False
    end: str | None = None
    heavy: bool = False

    def map_rows(self) -> dict[str, Row]:
        """Return its rows by id."""
        return {row.id: row for row in self.rows if row is not None}


@dataclass(frozen=True, slots=True)
class Source:
    """The facts about an endpoint and a list that a harvest needs.

    Attributes
    ----------
    whole
        The window of all rows.
    usual
        Values between which nearly all rows are; the ends of `whole` may be far away.
    format_window
        Returns a window as it is shown in reports.
    is_outside
        Returns whether a row does not belong to a window at all.
    page_size
        Most rows of a page.
    cap
        Most rows that the pages of one search show together.
    orders
        Number of sort orders.
    inner
        Ends of the second column.
    inner_name
        What has the same value of both columns, in a report.
    """

    whole: Window
    usual: tuple[int, int]
    format_window: Callable[[Window], str]
    is_outside: Callable[[Window, Row], bool]
    page_size: int = 100
    cap: int = 1000
    orders: int = 4
    inner: tuple[int, int] = (0, 2**40)
    inner_name: str = "equal values"
