"""What goes into a sweep and what comes out: plain values, which msgspec takes both ways."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gqlnb.client.paging.offset_cursors import detect_offset_format
from gqlnb.github.harvester.query_range import Scope
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS

__all__ = [
    "Coverage",
    "CreationTimes",
    "Gap",
    "RepositoryRow",
    "RowsById",
    "SearchPage",
    "SearchRequest",
    "SearchWindow",
    "SweepStep",
]


class RepositoryRow(NamedTuple):
    """One repository.

    Attributes
    ----------
    id
        Its node id, by which a repository that comes again is known.
    stars
        How many people have starred it.
    created
        When it was made, in seconds since 1970; None if the endpoint does not say.
    name, owner
        What it and its owner are called.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""


class SearchRequest(msgspec.Struct, frozen=True, array_like=True):
    """One request: a page of a search.

    Attributes
    ----------
    window
        The number of the window that it belongs to.
    start
        The place of its first result, from 0.
    first
        Most results of the page.
    text
        The search expression.
    after
        The cursor behind which it begins; None for the beginning.
    """

    window: int
    start: int
    first: int
    text: str
    after: str | None = None


class SearchPage(msgspec.Struct, frozen=True, array_like=True):
    """What came for one request.

    Attributes
    ----------
    total
        How many match, whatever can be reached.
    rows
        In the order of the answer; None for what came as null.
    more
        Whether there is a page behind this.
    end
        The cursor of its last result.
    heavy
        Whether some are missing because the page was too large; it is then asked for in parts.
    """

    total: int
    rows: tuple[RepositoryRow | None, ...]
    more: bool = False
    end: str | None = None
    heavy: bool = False


class Gap(msgspec.Struct, frozen=True):
    """A range that could not be completed.

    Attributes
    ----------
    text
        The search expression of the range.
    expected, got
        How many repositories its count promised, and how many came.
    why
        The reason, in words.
    """

    text: str
    expected: int
    got: int
    why: str


class Coverage(msgspec.Struct, frozen=True):
    """How complete a harvest is, and what it took.

    Attributes
    ----------
    scope
        What was wanted.
    expected
        How many repositories matched at the beginning; None before the first answer.
    got
        How many came, each counted once.
    duplicates
        How many results were repeated within one search, where another one should have stood.
    requests
        How many pages were fetched.
    bound
        How many pages as many repositories take at least.
    windows, splits, repairs
        How many searches there were; how often a slice of time was divided; how many searches
        were asked again because counts and results did not agree.
    shifts
        How many ranges changed while they were read, and were whole when they were read again.
    gaps
        The ranges that could not be completed.
    open
        How many windows are not finished.
    moved
        How many came again from another range, into which they had moved; each is kept once.
    """

    scope: Scope
    expected: int | None
    got: int
    duplicates: int
    requests: int
    bound: int
    windows: int
    splits: int
    repairs: int
    shifts: int
    gaps: tuple[Gap, ...]
    open: int
    moved: int = 0

    @property
    def complete(self) -> bool:
        """Whether all is fetched and no range is known to lack anything."""
        return not self.open and not self.gaps and self.expected is not None

    def with_row_count(self, rows: int) -> Coverage:
        """Return it where so many rows were kept of those that came."""
        moved, bound = self.got - rows, -(-rows // MAX_PAGE_SIZE)
        return msgspec.structs.replace(self, got=rows, moved=moved, bound=bound)


class SweepStep(NamedTuple):
    """What follows from one page.

    Attributes
    ----------
    rows
        Repositories that were not known before.
    asks
        What may be asked now, too.
    notes
        What happened, a sentence each: a split, a range that is asked again, a gap.
    """

    rows: tuple[RepositoryRow, ...] = ()
    asks: tuple[SearchRequest, ...] = ()
    notes: tuple[str, ...] = ()


CreationTimes = dict[str, int | None]  # ids, and when they were made
RowsById = dict[str, RepositoryRow]  # by their ids, in the order of a search


class SearchWindow(msgspec.Struct):
    """One search, the pages it waits for, and those that came.

    Attributes
    ----------
    number
        Its own.
    scope
        What it is about.
    order
        What its results are sorted by.
    check
        The number of the check that waits for it; 0 for none.
    repairs
        Whether it asks again for what a check misses; otherwise it goes on with the sweep.
    recent
        Ids that came before and may come again here.
    tries
        How often it came without a single result, though its count promised some.
    asks
        The requests that were not answered yet, by place.
    pages
        The answers, by place.
    """

    number: int
    scope: Scope
    order: str = "stars-desc"
    check: int = 0
    repairs: bool = False
    recent: CreationTimes = {}
    tries: int = 0
    asks: dict[int, SearchRequest] = {}
    pages: dict[int, SearchPage] = {}

    @property
    def text(self) -> str:
        """The search expression."""
        return self.scope.format_expression(self.order)

    @property
    def total(self) -> int:
        """How many matched when it began."""
        return self.pages[0].total

    @property
    def waiting(self) -> list[SearchRequest]:
        """The requests that were not answered yet, in their order."""
        return [self.asks[start] for start in sorted(self.asks)]

    def build_first_request(self, size: int) -> SearchRequest:
        """Return the request of the first page."""
        self.asks[0] = SearchRequest(self.number, 0, size, self.text)
        return self.asks[0]

    def add_page(self, ask: SearchRequest, page: SearchPage) -> list[SearchRequest]:
        """Keep a page, and return what may be asked because of it."""
        del self.asks[ask.start]
        self.pages[ask.start] = page
        behind = ask.start + ask.first
        offset = detect_offset_format(page.end, behind)
        if not ask.start and offset:
            reach = min(page.total, MAX_SEARCH_RESULTS)
            after = {
                start: offset.format_cursor(start) for start in range(behind, reach, ask.first)
            }
        elif (
            page.more and page.end and behind < MAX_SEARCH_RESULTS and not self._has_request(behind)
        ):
            after = {behind: page.end}
        else:
            after = {}
        made = {
            start: SearchRequest(
                self.number, start, min(ask.first, MAX_SEARCH_RESULTS - start), self.text, cursor
            )
            for start, cursor in after.items()
        }
        self.asks.update(made)
        return list(made.values())

    def split_request(self, ask: SearchRequest) -> list[SearchRequest]:
        """Return a request that was too large as two, which take its place.

        The second needs a cursor; where none can be told, the first alone, and it goes on from
        there.
        """
        size = max(1, ask.first // 2)
        first = SearchRequest(ask.window, ask.start, size, ask.text, ask.after)
        self.asks[ask.start] = first
        offset = detect_offset_format(ask.after, ask.start)
        if offset is None:
            return [first]
        place = ask.start + size
        after = offset.format_cursor(place)
        self.asks[place] = SearchRequest(ask.window, place, ask.first - size, ask.text, after)
        return [first, self.asks[place]]

    def _has_request(self, start: int) -> bool:
        return start in self.asks or start in self.pages

    def collect_rows(self) -> RowsById:
        """Return what came, each repository once, in the order of its first place."""
        found: RowsById = {}
        for _, page in sorted(self.pages.items()):
            for row in page.rows:
                if row is not None:
                    found.setdefault(row.id, row)
        return found

    def find_missing(self) -> list[tuple[int, Scope]]:
        """Return where results are missing that should have come: how many, and in what range."""
        found = []
        pages = [page for _, page in sorted(self.pages.items())]
        places = [*sorted(self.pages), MAX_SEARCH_RESULTS]
        seen: set[str] = set()
        for number, page in enumerate(pages):
            new = {row.id for row in page.rows if row is not None} - seen
            seen |= new
            room = min(page.total, places[number + 1]) - places[number]
            if len(new) < room:
                scope = self._restrict_between(
                    _find_last_stars(pages[:number]), _find_first_stars(pages[number + 1 :])
                )
                found.append((room - len(new), scope))
        return found

    def has_possible_skips(self, rows: RowsById) -> bool:
        """Tell whether some may have been passed over although each of its pages was full.

        Who leaves the search while it is read lets those behind move up, one of them from a page
        that is still to come to one that was there already. Pages tell by their counts that
        somebody left; that it was somebody seen before, nothing tells.
        """
        return len(rows) < min(MAX_SEARCH_RESULTS, max(page.total for page in self.pages.values()))

    def _restrict_between(self, before: int | None, behind: int | None) -> Scope:
        """Return the range of a page that stands between two numbers of stars; None for no page."""
        low, high = self.scope.low, self.scope.high
        if self.order == "stars-desc":
            low, high = low if behind is None else behind, high if before is None else before
        elif self.order == "stars-asc":
            low, high = low if before is None else before, high if behind is None else behind
        low, high = _order_bounds(low, high)
        return msgspec.structs.replace(self.scope, low=low, high=high)


def _find_last_stars(pages: list[SearchPage]) -> int | None:
    """Return the stars of the last result of pages."""
    return next((row.stars for page in reversed(pages) for row in reversed(page.rows) if row), None)


def _find_first_stars(pages: list[SearchPage]) -> int | None:
    """Return the stars of the first result of pages."""
    return next((row.stars for page in pages for row in page.rows if row), None)


def _order_bounds(low: int, high: int | None) -> tuple[int, int | None]:
    """Return two ends of a range, the lower first, whatever stars have done meanwhile."""
    return (low, high) if high is None or low <= high else (high, low)
