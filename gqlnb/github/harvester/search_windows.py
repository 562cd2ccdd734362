"""Requests and pages of one search, its rows, and the report on a whole harvest: plain values."""

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
        Node id; it identifies a repository that comes more than once.
    stars
        Number of stars.
    created
        Creation time in seconds since 1970; None if the endpoint does not give it.
    name, owner
        Name of the repository, login of its owner.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""


# array_like: the log of a harvest holds thousands of these, so they are written without keys.
class SearchRequest(msgspec.Struct, frozen=True, array_like=True):
    """A request for one page of a search.

    Attributes
    ----------
    window
        Number of the window it belongs to.
    start
        Index of its first result, from 0.
    first
        Page size.
    text
        Search expression.
    after
        Cursor; None for the first page.
    """

    window: int
    start: int
    first: int
    text: str
    after: str | None = None


class SearchPage(msgspec.Struct, frozen=True, array_like=True):
    """The answer to a request.

    Attributes
    ----------
    total
        Number of matching repositories, beyond the 1,000 that can be fetched too.
    rows
        In the order of the answer; None for a null node.
    more
        Whether a further page exists.
    end
        Cursor of the last result.
    heavy
        Whether rows are missing because the page was too large; it is then requested in parts.
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
        Search expression of the range.
    expected, got
        Number of repositories that the endpoint counted, and that came.
    why
        The reason, as a sentence.
    """

    text: str
    expected: int
    got: int
    why: str


class Coverage(msgspec.Struct, frozen=True):
    """The completeness of a harvest, and its cost.

    Attributes
    ----------
    scope
        The search.
    expected
        Number of matching repositories at the beginning; None before the first answer.
    got
        Number of repositories that came, each counted once.
    duplicates
        Results repeated within one search, in the place of another result.
    requests
        Pages fetched.
    bound
        Fewest pages that can hold `got` repositories.
    windows, splits, repairs
        Number of searches, of splits by creation time, and of searches that were repeated because
        counts and results differed.
    shifts
        Ranges that changed while they were read, and were complete when read again.
    gaps
        Ranges that could not be completed.
    open
        Windows that are not finished.
    moved
        Repositories that came again from another range, because their stars had changed; each is
        kept once.
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
        """Whether the harvest is finished and has no gap."""
        return not self.open and not self.gaps and self.expected is not None

    def with_row_count(self, rows: int) -> Coverage:
        """Return a copy for the number of rows left after repeated ones were removed."""
        bound = -(-rows // MAX_PAGE_SIZE)
        return msgspec.structs.replace(self, got=rows, moved=self.got - rows, bound=bound)


class SweepStep(NamedTuple):
    """The consequences of one page.

    Attributes
    ----------
    rows
        Repositories that came for the first time.
    asks
        Requests that may be sent now.
    notes
        Events as sentences: a split, a repeated search, a gap.
    """

    rows: tuple[RepositoryRow, ...] = ()
    asks: tuple[SearchRequest, ...] = ()
    notes: tuple[str, ...] = ()


CreationTimes = dict[str, int | None]  # by id
RowsById = dict[str, RepositoryRow]  # in the order of a search


class SearchWindow(msgspec.Struct):
    """One search with its open requests and its answers.

    Attributes
    ----------
    number
        Its number, from 1.
    scope
        The range it covers.
    order
        Sort order.
    check
        Number of the check that waits for it; 0 for none.
    repairs
        Whether it repeats a search for a check; otherwise it extends the sweep.
    recent
        Repositories that came before and may come again here.
    tries
        How often the search came without results although its count was above 0.
    asks
        Requests without an answer, by index of their first result.
    pages
        Answers, by index of their first result.
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
        """Number of matching repositories, as the first page says."""
        return self.pages[0].total

    @property
    def waiting(self) -> list[SearchRequest]:
        """Requests without an answer, in their order."""
        return [self.asks[start] for start in sorted(self.asks)]

    def build_first_request(self, size: int) -> SearchRequest:
        """Return the request for the first page."""
        self.asks[0] = SearchRequest(self.number, 0, size, self.text)
        return self.asks[0]

    def add_page(self, ask: SearchRequest, page: SearchPage) -> list[SearchRequest]:
        """Store a page, and return the requests it makes possible."""
        del self.asks[ask.start]
        self.pages[ask.start] = page
        following = ask.start + ask.first
        offset = detect_offset_format(page.end, following)
        after: dict[int, str] = {}
        if not ask.start and offset:  # the cursors of all pages are known, so send them at once
            starts = range(following, min(page.total, MAX_SEARCH_RESULTS), ask.first)
            after = {start: offset.format_cursor(start) for start in starts}
        elif page.more and page.end and following < MAX_SEARCH_RESULTS:
            known = following in self.asks or following in self.pages
            after = {} if known else {following: page.end}
        new = {
            start: SearchRequest(
                self.number, start, min(ask.first, MAX_SEARCH_RESULTS - start), self.text, cursor
            )
            for start, cursor in after.items()
        }
        self.asks.update(new)
        return list(new.values())

    def split_request(self, ask: SearchRequest) -> list[SearchRequest]:
        """Replace a request for a page that was too large by two halves.

        The second half needs a cursor. Where it cannot be computed, only the first half is
        returned; its answer has the cursor for the rest.
        """
        size = max(1, ask.first // 2)
        first = SearchRequest(ask.window, ask.start, size, ask.text, ask.after)
        self.asks[ask.start] = first
        offset = detect_offset_format(ask.after, ask.start)
        if offset is None:
            return [first]
        start = ask.start + size
        after = offset.format_cursor(start)
        self.asks[start] = SearchRequest(ask.window, start, ask.first - size, ask.text, after)
        return [first, self.asks[start]]

    def collect_rows(self) -> RowsById:
        """Return the rows of all pages, each repository once, at its first place."""
        found: RowsById = {}
        for _, page in sorted(self.pages.items()):
            for row in page.rows:
                if row is not None:
                    found.setdefault(row.id, row)
        return found

    def find_missing(self) -> list[tuple[int, Scope]]:
        """Return the pages with too few results: how many are missing, and from which range."""
        missing = []
        pages = [page for _, page in sorted(self.pages.items())]
        starts = [*sorted(self.pages), MAX_SEARCH_RESULTS]
        seen: set[str] = set()
        for number, page in enumerate(pages):
            new = {row.id for row in page.rows if row is not None} - seen
            seen |= new
            room = min(page.total, starts[number + 1]) - starts[number]
            if len(new) < room:
                missing.append((room - len(new), self._restrict_to_page(pages, number)))
        return missing

    def has_possible_skips(self, rows: RowsById) -> bool:
        """Return whether rows may have been skipped although every page was full.

        If a repository leaves the search while it is read, all later ones move up by one, and one
        of them moves from a page still to come to a page already read. The totals show that one
        has left, but not whether it was one that had come.
        """
        return len(rows) < min(MAX_SEARCH_RESULTS, max(page.total for page in self.pages.values()))

    def _restrict_to_page(self, pages: list[SearchPage], number: int) -> Scope:
        """Return the star range between the pages before and after one."""
        before = next((r.stars for p in pages[:number][::-1] for r in p.rows[::-1] if r), None)
        after = next((r.stars for p in pages[number + 1 :] for r in p.rows if r), None)
        low, high = self.scope.low, self.scope.high
        if self.order == "stars-desc":
            low, high = low if after is None else after, high if before is None else before
        elif self.order == "stars-asc":
            low, high = low if before is None else before, high if after is None else after
        if high is not None and low > high:  # stars changed between the pages
            low, high = high, low
        return msgspec.structs.replace(self.scope, low=low, high=high)
