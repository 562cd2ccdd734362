"""Requests and pages of a search, its rows, the ranges after it, and the report on a harvest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gqlnb.client.paging.offset_cursors import detect_offset_format
from gqlnb.errors import AnswerError, format_count
from gqlnb.github.harvester.query_range import (
    TARGET_SLICE_SIZE,
    Scope,
    count_slices,
    merge_ranges,
    split_by_time,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.result.renderer import render_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "RECOUNT_ORDERS",
    "SORT_ORDERS",
    "Assessment",
    "CompleteRead",
    "Coverage",
    "CreationTimes",
    "Gap",
    "RepositoryRow",
    "RowsById",
    "SearchPage",
    "SearchRequest",
    "SearchWindow",
    "SweepStep",
    "check_results_match",
    "get_next_order",
    "list_exclusions",
    "list_page_starts",
    "map_creation",
    "plan_next_ranges",
]

# The endpoint treats another order as another search, which may show results that the first left
# out. Stars come first, since that order shows in which range results are missing; they rise more
# often than they fall, and what rises to a page still to come is shown twice, not skipped.
SORT_ORDERS = ("stars-asc", "stars-desc", "updated-desc", "forks-desc", "updated-asc", "forks-asc")
# At the end all are counted again: changes that hid each other in a chain have changed the count.
# Other orders are other searches, whose counts are wrong in another way where they are wrong.
RECOUNT_ORDERS = ("stars-asc", "updated-desc", "forks-desc")
MAX_EXCLUDED = 3  # `-repo:` qualifiers in one search
_FULL_NAME_PATTERN = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
# Results that two successive pages share, so that a shift between them shows: the count does not
# show it if one repository disappeared while another came. Chains are left at the first shift.
PAGE_OVERLAP = 4  # in closed windows
CHAIN_OVERLAP = 1
# In a window with more changes they may hide each other, so it is read again in smaller parts.
MAX_RISES = 2  # pages that count more than the page before
MAX_SKIPS = 2  # results that came twice
_MIN_RESULTS_OUTSIDE = 10  # results outside of the range; fewer may have changed since
TAIL = 10  # last rows of a page, of which some come again where a repository entered before them


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
    data
        The JSON of its own fields, if the harvest has any; None while they are to be fetched.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""
    data: str | None = None


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

    def map_rows(self) -> RowsById:
        """Return its rows by id."""
        return {row.id: row for row in self.rows if row is not None}


class Gap(msgspec.Struct, frozen=True):
    """A range without a proof of completeness.

    Attributes
    ----------
    text
        Search expression of the range.
    expected, got
        Number of repositories that the endpoint counted, and that were received.
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
        Number of repositories received, each counted once.
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
        Ranges that changed while they were read, and were proved complete by reading again.
    gaps
        Ranges whose completeness could not be proved.
    open
        Windows that are not finished.
    moved
        Repositories also received from another range, because their stars had changed; each is
        kept once.
    recovered
        Ids of repositories that another search found after their range was read: it had skipped
        them, as they moved, or they came meanwhile.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    notes
        Notes of the endpoint on its answers, such as fields without data, as sentences.
    stopped
        Whether `progress` stopped the harvest.
    twice
        Whether everything is read a second time.
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
    recovered: tuple[str, ...] = ()
    field_errors: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    stopped: bool = False
    twice: bool = False

    def __repr__(self) -> str:
        lines = [
            f"Coverage of {self.scope.format_expression(order='')!r}: "
            f"{'' if self.complete else 'not '}complete",
            f"expected {self.expected or 0:,} at the beginning, got {self.got:,}; "
            f"{self.duplicates + self.moved:,} were returned twice",
            f"{self.requests:,} pages for at least {self.bound:,}; {self.format_searches()}",
        ]
        if self.gaps or self.field_errors or self.notes:
            lines.append(
                f"gaps: {len(self.gaps):,}, field_errors: {len(self.field_errors):,}, "
                f"notes: {len(self.notes):,}"
            )
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))

    def format_searches(self) -> str:
        """Return the number of searches, and of those that were split and repeated."""
        searches = format_count(self.windows, "search", "searches")
        again = "; everything was read twice" if self.twice and self.complete else ""
        splits = format_count(self.splits, "split")
        return f"{searches}, {splits}, {self.repairs:,} repeated{again}"

    @property
    def complete(self) -> bool:
        """Whether the harvest is finished and has no gap."""
        is_finished = not self.open and not self.stopped and self.expected is not None
        return is_finished and not self.gaps

    def with_row_count(self, rows: int) -> Coverage:
        """Return a copy for the number of rows left after repeated ones were removed."""
        bound = -(-rows // MAX_PAGE_SIZE)
        return msgspec.structs.replace(self, got=rows, moved=max(0, self.got - rows), bound=bound)


class SweepStep(NamedTuple):
    """The consequences of one page.

    Attributes
    ----------
    rows
        Repositories received for the first time.
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


class Assessment(NamedTuple):
    """The verdict on a closed window.

    Attributes
    ----------
    proved
        Whether its pages prove that every repository was shown that matched all the time.
    missing
        Number of results that it counted and did not show.
    ranges
        Star ranges that contain all repositories it may have skipped; empty if they may be
        anywhere in it.
    has_arrivals
        Whether that may all come from repositories that entered the range, which another count
        can show.
    pulls, pushes
        Number of pages before which results moved up, and moved down, if they were answered after
        the page before.
    """

    proved: bool
    missing: int = 0
    ranges: tuple[Scope, ...] = ()
    has_arrivals: bool = False
    pulls: int = 0
    pushes: int = 0


class PageStep(NamedTuple):
    """Comparison of a page of a closed window with those before it.

    Attributes
    ----------
    new
        Number of results that no page before it has shown.
    pull
        Number of them among its first places, which repeat the last ones of the page before:
        results have moved up.
    fall
        By how many it counts fewer than the page before.
    lost
        Number of places in which no new result stands, unless it has moved there from a page
        before it.
    first
        Number of the first page that has shown one of its results.
    is_torn
        Whether none of those first places repeats a result.
    is_pushed
        Whether the last results of the page before come again behind them.
    is_later
        Whether it was answered after the page before it.
    is_short
        Whether it shows fewer results than places.
    repeats
        Whether a result comes twice in it.
    """

    new: int
    pull: int
    fall: int
    lost: int
    first: int
    is_torn: bool
    is_pushed: bool
    is_later: bool
    is_short: bool
    repeats: bool

    @property
    def has_fallen(self) -> bool:
        """Whether its count fell by more than its first places show."""
        return self.fall > self.pull


class CompleteRead(msgspec.Struct, frozen=True, array_like=True):
    """The count and the repositories of all pages of one search.

    Attributes
    ----------
    total
        Number of matching repositories; -1 if it changed from page to page.
    ids
        Repositories that came.
    """

    total: int
    ids: tuple[str, ...]


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
    parent
        Number of the check or repair that waits for it; 0 for none.
    closed
        Whether it has to prove its own completeness; otherwise counts of several windows do.
    recent
        Repositories received before that may be repeated here.
    tries
        How often its range was searched before.
    asks
        Requests without an answer, by index of their first result.
    pages
        Answers, by index of their first result.
    sizes
        Page sizes of the answers, by index of their first result.
    reads
        Earlier searches of exactly its range, if it cannot be divided; for a comparison with
        ``"known"`` rows these.
    above
        Ranges of more stars in the same second, to be searched one after another when it is
        finished.
    comparison
        What its count is compared with, if it is requested only for that: ``"chains"``, the
        ``"rows"`` of all closed windows, those of one ``"slice"``, a ``"repair"``, or its
        ``"known"`` rows; else empty.
    shown
        Number of repositories of such a slice; of a range that is searched again, its count before.
    lowest
        Fewest stars of such known rows; its range is wider.
    """

    number: int
    scope: Scope
    order: str = "stars-desc"
    parent: int = 0
    closed: bool = False
    recent: CreationTimes = {}
    tries: int = 0
    asks: dict[int, SearchRequest] = {}
    pages: dict[int, SearchPage] = {}
    sizes: dict[int, int] = {}
    reads: list[CompleteRead] = []
    above: list[Scope] = []
    comparison: str = ""
    shown: int = 0
    lowest: int = 0

    @property
    def text(self) -> str:
        """The search expression."""
        return self.scope.format_expression(self.order)

    @property
    def total(self) -> int:
        """Number of matching repositories, as the first page says."""
        return self.pages[0].total

    @property
    def is_capped(self) -> bool:
        """Whether the search does not show all results.

        A count of exactly 1,000 may itself be capped.
        """
        return self.total >= MAX_SEARCH_RESULTS

    @property
    def reach(self) -> int:
        """Number of results that its pages have to show."""
        covered = max(start + size for start, size in self.sizes.items())
        is_end = covered > MAX_SEARCH_RESULTS - MAX_PAGE_SIZE
        return covered if self.is_capped and is_end else min(self.total, MAX_SEARCH_RESULTS)

    @property
    def waiting(self) -> list[SearchRequest]:
        """Requests without an answer, in their order."""
        return [self.asks[start] for start in sorted(self.asks)]

    @property
    def has_miscount(self) -> bool:
        """Whether an answer counts fewer results than it shows."""
        ids = {row.id for page in self.pages.values() for row in page.rows if row is not None}
        return len(self.pages) == 1 and len(ids) > self.total

    @property
    def has_separate_pages(self) -> bool:
        """Whether its pages cannot overlap, as their cursors do not tell positions.

        They prove nothing together: what moves from one to another may be in none.
        """
        first = self.pages.get(0)
        if first is None or not first.more:
            return False
        return detect_offset_format(first.end, self.sizes[0]) is None

    @property
    def has_movement(self) -> bool:
        """Whether its count changed, a result came twice, or results shifted between two pages."""
        if len({page.total for page in self.pages.values()}) > 1:
            return True
        seen: set[str] = set()
        last, covered = None, 0
        for start, page in sorted(self.pages.items()):
            zone = max(0, covered - start)
            first = page.rows[0] if zone == CHAIN_OVERLAP and page.rows else None
            if first is not None and last is not None and first.id != last.id:
                return True
            fresh = [row.id for row in page.rows[zone:] if row is not None]
            known = len(seen)
            seen.update(fresh)
            if len(seen) < known + len(fresh):
                return True
            covered = start + self.sizes[start]
            last = page.rows[-1] if len(page.rows) == self.sizes[start] else None
        return False

    def build_first_request(self, size: int) -> SearchRequest:
        """Return the request for the first page."""
        self.asks[0] = SearchRequest(self.number, 0, size, self.text)
        return self.asks[0]

    def add_page(self, ask: SearchRequest, page: SearchPage) -> list[SearchRequest]:
        """Store a page, and return the requests it makes possible."""
        del self.asks[ask.start]
        self.pages[ask.start], self.sizes[ask.start] = page, ask.first
        following = ask.start + ask.first
        offset = detect_offset_format(page.end, following)
        after: dict[int, str] = {}
        if not ask.start and offset:  # the cursors of all pages are known, so send them at once
            starts = list_page_starts(ask.first, page.total, closed=self.closed)
            after = {start: offset.format_cursor(start) for start in starts}
        # Also after a first page that holds all that it counts: the count may be capped or rounded.
        if not after and page.more and page.end and following <= self._last_start(ask.first):
            known = any(start > ask.start for start in (*self.asks, *self.pages))
            after = {} if known else {following: page.end}
        new = {
            start: SearchRequest(
                self.number, start, min(ask.first, MAX_SEARCH_RESULTS - start), self.text, cursor
            )
            for start, cursor in after.items()
        }
        self.asks.update(new)
        return list(new.values())

    def _last_start(self, first: int) -> int:
        """Return the index of the first result of the last page that may be requested."""
        # The rest of a page at the end of a chain's window is left to the next window.
        is_chain = self.is_capped and not self.closed
        return MAX_SEARCH_RESULTS - (first if is_chain else 1)

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
        start = ask.start + size - (size > CHAIN_OVERLAP) * CHAIN_OVERLAP
        after = offset.format_cursor(start)
        left = ask.start + ask.first - start
        self.asks[start] = SearchRequest(ask.window, start, left, ask.text, after)
        return [first, self.asks[start]]

    def collect_rows(self) -> RowsById:
        """Return the rows of all pages, each repository once, at its first place."""
        found: RowsById = {}
        for _, page in sorted(self.pages.items()):
            for row in page.rows:
                if row is not None:
                    found.setdefault(row.id, row)
        return found

    def summarize_pages(self) -> CompleteRead:
        """Return the count and the repositories of its pages, for comparison."""
        totals = {page.total for page in self.pages.values()}
        total = self.total if len(totals) == 1 else -1
        return CompleteRead(total, tuple(self.collect_rows()))

    def is_proved_by_repetition(self) -> bool:
        """Return whether several searches of the same range prove it together.

        A repository that one search showed and a later one showed again matched in between too,
        also where a search left it out. If as many did so during one of the searches as it
        counted, they are all that matched then.
        """
        reads = [*self.reads, self.summarize_pages()]
        if len({read.total for read in reads}) > 1:
            return False
        return any(
            len(_unite(reads[: place + 1]) & _unite(reads[place:])) == reads[place].total
            for place in range(1, len(reads) - 1)
        )

    def count_repeated_rows(self) -> int:
        """Return the number of results that stand in the place of another result."""
        covered, seen, repeated = 0, set[str](), 0
        for start, page in sorted(self.pages.items()):
            for place, row in enumerate(page.rows, start):
                if row is not None:
                    repeated += row.id in seen and place >= covered
                    seen.add(row.id)
            covered = start + self.sizes[start]
        return repeated

    # The proof, for a range that no repository leaves or enters unseen, as its creation time is
    # fixed. If all pages count the same and every place shows another repository, there is no room
    # for one that was skipped. A repository is skipped where it moves from a page still to come to
    # one already read. It then pushes another one down, which comes twice; and it has about as many
    # stars as the results at that border, unless it jumped. Two changes may hide each other:
    # another repository has left the pages before, and pulled the others up. So where the count
    # falls, the first places of the next page, which repeat the last ones of the page before, have
    # to show that they were pulled up. A repository that moves from a page already read to one
    # still to come pulls them up, too; it comes again later.
    def assess(self) -> Assessment:
        """Return whether the pages prove completeness, and where rows may have been skipped."""
        pages = sorted(self.pages.items())
        steps = self._compare_pages(pages)
        missing, ranges, is_anywhere = 0, list[Scope](), False
        for number, step in enumerate(steps):
            if step.lost > 0:
                missing += step.lost
                is_last = number == len(pages) - 1
                is_anywhere |= step.is_short and is_last  # places move up where one is left out
                inside = step.is_short or step.repeats
                ranges.append(self._restrict_to_border(pages, number, step.first, inside=inside))
            elif number and (step.is_torn or step.has_fallen):
                ranges.append(self._restrict_to_border(pages, number, number - 1))
        totals = [page.total for _, page in pages]
        is_steady, seen = len({*totals}) == 1, sum(step.new for step in steps)
        pulls = sum(step.pull > 0 and step.is_later for step in steps)
        pushes = sum(step.is_pushed and step.is_later for step in steps)
        agrees = seen == totals[-1] if is_steady else seen >= totals[-1]
        # A page with more results than it counts shows one twice in the place of another.
        agrees &= all(start + len(page.rows) <= page.total for start, page in pages)
        if agrees and not ranges and not is_anywhere:
            return Assessment(proved=True, pulls=pulls, pushes=pushes)
        falls = sum(step.has_fallen for step in steps)
        rises = sum(step.fall < 0 for step in steps)
        has_arrivals = rises > 0 and totals == sorted(totals) and not is_anywhere
        has_arrivals = has_arrivals and missing <= totals[-1] - totals[0] and rises <= MAX_RISES
        is_anywhere |= not self.order.startswith("stars")
        if falls or rises > MAX_RISES or max(missing, len(ranges)) > MAX_SKIPS:
            is_anywhere = True  # so many changes may hide each other
        places = () if is_anywhere else tuple(merge_ranges(ranges))
        return Assessment(False, missing, places, has_arrivals, pulls, pushes)

    def _compare_pages(self, pages: list[tuple[int, SearchPage]]) -> list[PageStep]:
        """Compare each page with those before it."""
        seen: dict[str, int] = {}  # number of the page, by id
        covered = credit = 0
        steps: list[PageStep] = []
        moments = {start: moment for moment, start in enumerate(self.pages)}
        for number, (start, page) in enumerate(pages):
            before = pages[number - 1][1] if number else page
            end, zone = start + self.sizes[start], covered - start
            room = max(0, min(end, page.total, MAX_SEARCH_RESULTS) - covered)
            shared = {row.id for row in page.rows[:zone] if row is not None}
            behind = [row.id for row in page.rows[zone:] if row is not None]
            again = [key for key in behind if key in seen]
            pull, fall = len(shared - seen.keys()), before.total - page.total
            credit += pull - max(0, min(pull, fall))
            tail = {row.id for row in before.rows[-TAIL:] if row is not None}
            lost = room - len(set(behind) - seen.keys())
            back = max(0, min(credit, lost, len([key for key in again if key not in tail])))
            credit -= back
            fresh = (shared | {*behind}) - seen.keys()
            steps.append(
                PageStep(
                    new=len(fresh),
                    pull=pull,
                    fall=fall,
                    lost=lost - back,
                    first=min((seen[key] for key in again), default=number),
                    is_torn=zone > 0 and pull == len(shared),
                    is_pushed=not tail.isdisjoint(again),
                    is_later=moments[start] > moments[pages[number - 1][0]],
                    is_short=len(behind) < room,
                    repeats=len(behind) > len({*behind}),
                )
            )
            covered = max(covered, end)
            seen |= dict.fromkeys(fresh, number)
        return steps

    def _restrict_to_border(
        self, pages: list[tuple[int, SearchPage]], number: int, first: int, *, inside: bool = False
    ) -> Scope:
        """Return the star range around the border between page `first` and page `number`.

        It is the range of page `number` too if rows may be missing `inside`.
        """
        shown = [[row.stars for row in page.rows if row is not None] for _, page in pages]
        first = number - 1 if inside or first == number else first
        above = [stars[-1] for stars in shown[: first + 1] if stars][-1:]
        below = [stars[0] for stars in shown[number + inside :] if stars][:1]
        low, high = self.scope.low, self.scope.high
        if self.order == "stars-asc":
            above, below = below, above
        high = above[0] if above else high
        low = below[0] if below else low
        if high is not None and low > high:  # stars changed between the pages
            low, high = high, low
        return msgspec.structs.replace(self.scope, low=low, high=high)


def get_next_order(order: str) -> str:
    """Return the sort order in which to search a range again after one in `order`."""
    return SORT_ORDERS[(SORT_ORDERS.index(order) + 1) % len(SORT_ORDERS)]


def list_page_starts(first: int, total: int, *, closed: bool = False) -> range:
    """Return the index of the first result of each page after the first one.

    Parameters
    ----------
    first
        Page size.
    total
        Number of matching repositories.
    closed
        Whether the pages are of a closed window.
    """
    overlap = PAGE_OVERLAP if closed else CHAIN_OVERLAP
    overlap = overlap if first > 2 * overlap else 0
    end = min(total, MAX_SEARCH_RESULTS) - overlap
    if (
        total >= MAX_SEARCH_RESULTS and not closed
    ):  # the next window begins after the last full page
        end = MAX_SEARCH_RESULTS - first + 1
    return range(first - overlap, end, first - overlap)


def _unite(reads: list[CompleteRead]) -> set[str]:
    return {key for read in reads for key in read.ids}


def list_exclusions(rows: Iterable[RepositoryRow], lowest: int) -> tuple[str, ...]:
    """Return the repositories with `lowest` stars if they are few enough to exclude by name.

    The next window begins with that number of stars, as there may be more of them.
    """
    repeated = [row for row in rows if row.stars == lowest]
    names = [f"{row.owner}/{row.name}" for row in repeated[: MAX_EXCLUDED + 1]]
    few = len(names) <= MAX_EXCLUDED and all(map(_FULL_NAME_PATTERN.fullmatch, names))
    return tuple(names) if few else ()


def plan_next_ranges(window: SearchWindow, rows: RowsById, lowest: int, width: int) -> list[Scope]:
    """Return the ranges after a window of more than 1,000; none if it cannot be continued.

    Parameters
    ----------
    window
        The window.
    rows
        Its rows.
    lowest
        The fewest stars of them.
    width
        Number of time slices after the first window.
    """
    scope, stars = window.scope, [row.stars for row in rows.values()]
    left = window.total - sum(map(lowest.__lt__, stars))
    # Endpoints may lack the repositories with the fewest stars: data for tests, by language.
    low = max(scope.low, lowest * len(stars) / (len(stars) + left) / 2)
    count = count_slices(left, low, lowest, 2 * stars.count(lowest))
    if lowest == scope.low:
        count = -(-left // TARGET_SLICE_SIZE) if left > MAX_SEARCH_RESULTS else 1
    if window.number == 1:
        count = max(count, width)
    excluded = list_exclusions(rows.values(), lowest) if lowest != scope.high else ()
    below = msgspec.structs.replace(scope, high=lowest, without=excluded)
    if count == 1 and lowest != scope.high:
        return [below]
    created = [row.created for row in rows.values() if row.created is not None]
    parts = split_by_time(below, created, count)
    return parts if len(parts) > 1 or lowest != scope.high else []


def check_results_match(window: SearchWindow, rows: RowsById) -> None:
    """Raise if most results lie outside of the range: the endpoint ignores the qualifiers."""
    scope = window.scope
    outside = sum(
        not (scope.is_in_star_range(row.stars) and scope.is_in_time_range(row.created))
        for row in rows.values()
    )
    if outside >= _MIN_RESULTS_OUTSIDE and outside * 2 > len(rows):
        msg = (
            f"{outside} of {len(rows)} results of the search {window.text!r} do not match it: "
            "the endpoint ignores 'stars:' or 'created:', and cannot be harvested without."
        )
        raise AnswerError(msg)


def map_creation(rows: RowsById) -> CreationTimes:
    """Return the creation times of rows by id."""
    return {row.id: row.created for row in rows.values()}
