"""The harvest of a list in windows: which counts and pages to request, and what they prove.

Each window is planned by counts to fit one page, so that its only page shows all its rows at one
moment, with their count. A second count, in another order, is the witness.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gqlnb.errors import AnswerError
from gqlnb.lists.report import Coverage, Gap
from gqlnb.lists.windows import (
    MOST_WINDOWS,
    Page,
    PageRequest,
    Row,
    Source,
    Task,
    TaskQueue,
    Window,
    plan_windows,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from typing import TypeVar

    from gqlnb.lists.windows import TaskRequest

    Result = TypeVar("Result")
    Steps = Generator[list[PageRequest], list[Page], Result]

READS = 8  # of a window: in each order twice
FIRST_COUNTS = 4  # of the whole: where counts vary by up to 2, all four are equal in 1 of 125 cases
FIRST_DOUBTS = (2, 20)  # doubtful windows after which is measured whether counts vary
HEAVY_PAGES = 2  # in a row, after which pages become smaller: a gateway may fail once
PAGE_ATTEMPTS = 4  # of the pages of a single value
MIN_OUTSIDE = 10  # rows outside of their window; fewer may have changed since

PROBES = 20  # counts of one window
# Of 19 pairs of successive counts of a window, rows that come and go change one or two.
QUIET_CHANGES = 6
# While a window is read, mostly fewer rows come or go. An answer that an endpoint cut lacks more:
# without this limit 3 of 20 harvests of 3,000 rows were wrong where a tenth of the texts are cut.
CUT_ROWS = 4
MOST_NOISE = 4  # rows; of larger differences two orders that agree say little

Rows = dict[str, Row]
PageAnswer = tuple[PageRequest, Page]


class HarvestState(msgspec.Struct):
    """What is known at one time: the windows that were read, the others, and the cost.

    Attributes
    ----------
    expected
        Number of rows at the beginning; None before the first answer.
    pages, counts, repeated, windows, agreed, gaps
        As of :class:`gqlnb.lists.report.Coverage`.
    noise
        By how many rows counts vary from answer to answer.
    may_vary
        Whether the first counts differ, and it is not known yet why.
    todo
        The spans to harvest, with their counts if they are known; None before the first is planned.
    """

    expected: int | None = None
    pages: int = 0
    counts: int = 0
    repeated: int = 0
    noise: int = 0
    may_vary: bool = False
    todo: list[tuple[Window, int | None]] | None = None
    windows: int = 0
    agreed: int = 0
    gaps: list[Gap] = []

    def close_window(self, closed: ClosedWindow) -> None:
        """Add a window that was read. No list is changed in place, as copies of this share them."""
        self.windows += 1
        self.agreed += closed.agreed
        if closed.gap is not None:
            self.gaps = [*self.gaps, closed.gap]

    def is_open(self, window: Window) -> bool:
        """Return whether a window is still to be harvested, alone or in a span."""
        spans = self.todo
        return spans is None or any(low <= window.low < high for (low, high, _), _ in spans)


class ClosedWindow(NamedTuple):
    """A window that was read.

    Attributes
    ----------
    window
        The window.
    rows
        Its rows.
    agreed
        Whether only two orders agree, as its counts vary.
    gap
        The reason why its rows may not be all; None if they are.
    """

    window: Window
    rows: list[Row]
    agreed: bool = False
    gap: Gap | None = None


class SpanTask(Task[PageRequest]):
    """The harvest of a span.

    Attributes
    ----------
    span
        The window to harvest, and its count if it is known.
    closed
        The windows that it closes.
    todo
        The spans that it leaves to other tasks.
    repeated
        Number of windows that it read again.
    """

    def __init__(self, span: tuple[Window, int | None], steps: Steps[None]) -> None:
        super().__init__(steps)
        self.span = span
        self.closed: list[ClosedWindow] = []
        self.todo: list[tuple[Window, int | None]] = []
        self.repeated = 0


class WindowHarvest(TaskQueue[PageRequest, SpanTask]):
    """A harvest, without I/O: it gives requests, and takes the pages in any order.

    Parameters
    ----------
    source
        The endpoint and the list.
    state
        The state to continue; None to begin.
    tasks
        Number of spans to plan and read at once.
    twice
        Whether to read each window a second time.
    answers
        Answers of an interrupted run, which are not requested again.

    Attributes
    ----------
    state
        The windows that were read, and the cost.
    page_size
        Most rows of a page; smaller after pages that were too large.
    """

    def __init__(
        self,
        source: Source,
        state: HarvestState | None = None,
        *,
        tasks: int = 10,  # their counts share requests: 46 requests for 18,400 rows
        twice: bool = False,
        answers: Iterable[PageAnswer] = (),
    ) -> None:
        super().__init__()
        self.state = HarvestState() if state is None else copy(state)
        self.page_size = source.page_size
        self._source, self._twice, self._width = source, twice, tasks
        self._count_order = source.orders - 1
        self._doubts = self._heavy = 0
        self._rows: list[Row] = []  # of the windows that were closed
        self._answers: list[tuple[TaskRequest[PageRequest], Page]] = []
        self._known: defaultdict[PageRequest, list[Page]] = defaultdict(list)
        for request, page in answers:
            self._known[request].append(page)
        self._todo = [(source.whole, None)] if self.state.todo is None else list(self.state.todo)

    # -- requests and answers

    @property
    def has_requests(self) -> bool:
        """Whether there is a request to send now."""
        self._start_tasks()
        return bool(self._pending)

    def feed(self, request: TaskRequest[PageRequest], page: Page) -> None:
        """Take the page of a request.

        Raises
        ------
        AnswerError
            If the endpoint ignores the window, so that the harvest would not end.
        """
        if request.request.first:
            self.state.pages += 1
            self._check_rows(request.request.window, page)
            self._adapt_page_size(request.request.first, page)
        else:
            self.state.counts += 1
        self._answers.append((request, page))
        self._give_answer(request, page)

    def take_answers(self) -> list[PageAnswer]:
        """Return the answers since the last call to which tasks that have not ended may return."""
        answers, self._answers = self._answers, []
        return [(asked.request, page) for asked, page in answers if asked.task in self._tasks]

    def take_rows(self) -> list[Row]:
        """Return the rows of the windows that were closed since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def build_coverage(
        self,
        got: int,
        *,
        gaps: Sequence[Gap] = (),
        field_errors: Mapping[str, int] | None = None,
        notes: Iterable[str] = (),
        stopped: bool = False,
    ) -> Coverage:
        """Return the report on the state, for a number of rows, with further gaps and notes."""
        state = self.state
        return Coverage(
            expected=state.expected,
            got=got,
            windows=state.windows,
            pages=state.pages,
            counts=state.counts,
            repeated=state.repeated,
            agreed=state.agreed,
            gaps=(*gaps, *state.gaps),
            field_errors=dict(field_errors or {}),
            notes=tuple(notes),
            stopped=stopped,
        )

    def _start_tasks(self) -> None:
        while self._todo and len(self._tasks) < (1 if self.state.may_vary else self._width):
            span = self._todo.pop()
            self._start_task(SpanTask(span, self._harvest_span(*span)))

    def _recall_answer(self, request: PageRequest) -> Page | None:
        known = self._known.get(request)
        return known.pop(0) if known else None

    def _end_task(self, task: SpanTask) -> None:
        self._todo += task.todo
        self.state.repeated += task.repeated
        for closed in task.closed:
            self._rows += closed.rows
            self.state.close_window(closed)
        open_spans = [other.span for other in self._tasks.values()]
        self.state.todo = [*self._todo, *open_spans[::-1]]

    def _check_rows(self, window: Window, page: Page) -> None:
        """Raise AnswerError if most rows lie outside of their window."""
        rows = page.map_rows().values()
        outside = sum(self._source.is_outside(window, row) for row in rows)
        if outside >= MIN_OUTSIDE and outside * 2 > len(rows):
            text = self._source.format_window(window)
            msg = (
                f"{outside} of {len(rows)} results of the search {text!r} do not match it: the "
                "endpoint ignores a part of it, and cannot be harvested without."
            )
            raise AnswerError(msg)

    def _adapt_page_size(self, first: int, page: Page) -> None:
        """Halve pages after some that were too large, with none of that size in between."""
        if not page.heavy:
            if len(page.rows) * 5 >= self.page_size * 4:
                self._heavy = 0
            return
        if first > self.page_size:  # it was requested before
            return
        self._heavy += 1
        if self._heavy >= HEAVY_PAGES:
            self.page_size, self._heavy = max(1, self.page_size // 2), 0
            stale = [task for task in self._pending if task.request.first > self.page_size]
            self._pending = deque(task for task in self._pending if task not in stale)
            for task in stale:  # they would be too large as well
                self._give_answer(task, Page(0, heavy=True))

    def _close(
        self,
        window: Window,
        rows: Mapping[str, Row],
        *,
        agreed: bool = False,
        gap: Gap | None = None,
    ) -> None:
        own = [row for row in rows.values() if window.contains(row)]
        self._task.closed.append(ClosedWindow(window, own, agreed, gap))

    def _leave_gap(self, window: Window, rows: Mapping[str, Row], expected: int, why: str) -> None:
        text = self._source.format_window(window)
        self._close(window, rows, gap=Gap(text, expected, len(rows), why))

    # -- the steps of a task

    def _harvest_span(self, window: Window, count: int | None) -> Steps[None]:
        """Cut a window into spans, or plan and read its windows."""
        if count is None:
            is_first = self.state.todo is None
            pages = yield [PageRequest(window, self._count_order)] * (
                FIRST_COUNTS if is_first else 1
            )
            count = pages[0].total
            if is_first:
                self.state.expected = count
                self.state.may_vary = len({page.total for page in pages}) > 1
        noise = self.state.noise
        parts = yield from plan_windows(
            window,
            count,
            order=self._count_order,
            room=max(1, self.page_size - noise),
            usual=self._source.usual,
        )
        if len(parts) == 1 and count > self.page_size and not window.is_single:
            middle = (window.low + window.high) // 2  # counts that say nothing
            halves = window._replace(low=middle), window._replace(high=middle)
            self._task.todo += [(half, None) for half in halves]
            return
        if self.state.may_vary and count <= self.page_size * MOST_WINDOWS:
            yield from self._measure_noise(parts[0][0])
        small = list[tuple[Window, int]]()
        for part, rows in parts:
            if rows <= self.page_size:
                small.append((part, rows))
            elif part.is_single:
                yield from self._read_single(part, rows)
            else:
                self._task.todo.append((part, rows))
        yield from self._read_windows(small)

    def _read_windows(self, windows: Sequence[tuple[Window, int]]) -> Steps[None]:
        """Read windows of one page each; the plan counted their rows in another order."""
        size, readings, proved = self.page_size, list[WindowPages](), list[WindowPages]()
        pages = yield [PageRequest(window, 0, size) for window, _ in windows]
        for (window, count), page in zip(windows, pages, strict=True):
            if self._is_too_large(page, size):
                yield from self._divide(window, page, count, size)
            else:
                readings.append(WindowPages(window, page, count))
        if not self.state.noise:
            whole = [each for each in readings if is_whole(each.window, each.page)]
            proved = [each for each in whole if each.page.total == each.totals[0]]
            others = [each for each in whole if each not in proved]
            proved += yield from self._count_again(others, self._count_order)
            # Rows came or went, or one of the counts of the plan is wrong, perhaps as the page is.
            planned, shown = sum(count for _, count in windows), sum(page.total for page in pages)
            if abs(planned - shown) > CUT_ROWS:
                proved = yield from self._count_again(proved, 1)
        doubtful = [each for each in readings if each not in proved]
        for each in doubtful:
            self._doubts += 1
            if self._doubts in FIRST_DOUBTS and not self.state.noise:
                yield from self._measure_noise(each.window)
        noise = self.state.noise
        self._task.repeated += sum(
            not (noise and is_whole(each.window, each.page, noise)) for each in doubtful
        )
        for each in proved:
            each.is_proved = True
            if not self._twice:
                self._close(each.window, each.rows)
        if self._twice:
            doubtful = readings
        yield from self._read_again(doubtful)

    def _count_again(self, whole: Sequence[WindowPages], order: int) -> Steps[list[WindowPages]]:
        """Count windows again; return those with the count of their page."""
        counts = yield [PageRequest(each.window, order) for each in whole]
        pairs = zip(whole, counts, strict=True)
        return [each for each, count in pairs if count.total == each.page.total]

    def _measure_noise(self, window: Window) -> Steps[None]:
        """Count a small window many times, in which few rows come or go, to see how counts vary."""
        pages = yield [PageRequest(window, self._count_order)] * PROBES
        self.state.noise = measure_noise([page.total for page in pages])
        self.state.may_vary = False

    def _is_too_large(self, page: Page, size: int) -> bool:
        """Return whether a window has more rows than a page of `size` can show."""
        noise = self.state.noise
        return page.heavy or page.total > size + noise or (noise > 0 and page.more)

    def _divide(self, window: Window, page: Page, count: int, size: int) -> Steps[None]:
        """Plan a window again whose page of `size` was too large, or had too many rows."""
        if page.heavy and size == 1:
            why = "The endpoint answers no page, however small, as it were too large."
            self._leave_gap(window, page.map_rows(), max(page.total, count), why)
        elif window.is_single and page.total > self.page_size:
            yield from self._read_single(window, page.total)
        else:
            rows = max(page.total, size + 1) if page.more else page.total
            rows = max(rows, count if page.heavy else 0)
            self._task.todo.append((window, rows))

    def _read_again(self, left: list[WindowPages]) -> Steps[None]:
        """Read windows again, in other orders, until a page is whole and counted twice."""
        for read in range(1, READS + 1):
            if not left:
                return
            order, size = read % self._source.orders, self.page_size
            pages = yield [PageRequest(each.window, order, size) for each in left]
            others = list[WindowPages]()
            for each, page in zip(left, pages, strict=True):
                if self._is_too_large(page, size):
                    yield from self._divide(each.window, page, len(each.rows), size)
                elif not self._judge_again(each, page):
                    others.append(each)
            left = others
        for each in left:
            expected = Counter(each.totals).most_common(1)[0][0]
            why = "Counts and rows differ in every order."
            self._leave_gap(each.window, each.rows, expected, why)

    def _judge_again(self, reading: WindowPages, page: Page) -> bool:
        """Return whether a further page of a window proves its rows; then it is closed."""
        window, rows, noise = reading.window, page.map_rows(), self.state.noise
        is_counted = is_confirmed(page.total, reading.totals)
        same = reading.shown.count(frozenset(rows))
        reading.add_page(page)
        if not is_whole(window, page, noise):
            return False
        if noise and same >= (3 if self._twice else 1):
            self._close(window, rows, agreed=not self._twice)
        elif not noise and (is_counted or reading.is_proved):
            self._close(window, reading.rows if reading.is_proved else rows)
        else:
            return False
        return True

    def _read_single(self, window: Window, count: int) -> Steps[None]:
        """Read the rows of a single value, in pages, or by the second column if they are many."""
        cap, source = self._source.cap, self._source
        parts, why = [(window, count)], ""
        if count > cap:
            parts = yield from self._split_inner(window._replace(inner=source.inner), count)
        rows = Rows()
        for part, total in parts:
            own, reason = yield from self._read_pages(part, total)
            rows |= own
            why = why or reason
        if not why and len(parts) > 1:
            # The second column may change, so that a row moves to a part that was read before.
            (page,) = yield [PageRequest(window, self._count_order)]
            if not page.total == count == len(rows):
                why = f"Rows of one second moved between {source.inner_name} while they were read."
        if why:
            self._leave_gap(window, rows, count, why)
        else:
            self._close(window, rows)

    def _split_inner(self, window: Window, count: int) -> Steps[list[tuple[Window, int]]]:
        """Cut a single value by the second column until each part is within the cap."""
        done, todo = list[tuple[Window, int]](), [(window, count)]
        while todo:
            part, rows = todo.pop()
            low, high = part.inner or self._source.inner
            if rows <= self._source.cap or high - low < 2:
                done.append((part, rows))
                continue
            # Counts of events are spread over orders of magnitude.
            middle = (
                low + (high - low) // 2 if low and high < 4 * low else min(4 * low + 16, high - 1)
            )
            parts = [part._replace(inner=ends) for ends in ((low, middle), (middle, high))]
            pages = yield [PageRequest(half, self._count_order) for half in parts]
            todo += [(half, page.total) for half, page in zip(parts, pages, strict=True)]
        return done

    def _read_pages(self, window: Window, count: int) -> Steps[tuple[Rows, str]]:
        """Read a window of several pages; return its rows, and why they may not be all."""
        cap, rows = self._source.cap, Rows()
        if count > cap:
            why = (
                f"More than {cap:,} rows of one second with {self._source.inner_name}, and the "
                "endpoint returns no more."
            )
        else:
            why = "Counts and rows of one second differ in every order."
        for attempt in range(PAGE_ATTEMPTS):
            seen, totals, after, more = Rows(), {count}, None, True
            shown = 0
            while more and shown < cap:
                order = attempt % self._source.orders
                (page,) = yield [PageRequest(window, order, self.page_size, after)]
                seen |= page.map_rows()
                shown += len(page.rows)
                totals.add(page.total)
                after = page.end
                more = bool(page.more and page.rows and after)
            rows |= seen
            (page,) = yield [PageRequest(window, self._count_order)]
            if totals == {page.total} and len(seen) == shown == count and not more:
                return seen, ""
            count = page.total if page.total <= cap else count
        return rows, why


class WindowPages:
    """A window with the pages that were read of it.

    Attributes
    ----------
    window
        The window.
    page
        The last page.
    rows
        The rows of all pages.
    totals
        The counts so far.
    shown
        The ids that each page has shown.
    is_proved
        Whether the first page and another count prove its rows.
    """

    def __init__(self, window: Window, page: Page, count: int) -> None:
        self.is_proved = False
        self.window, self.rows = window, Rows()
        self.totals = [count]
        self.shown: list[frozenset[str]] = []
        self.add_page(page)

    def add_page(self, page: Page) -> None:
        """Add a page."""
        rows = page.map_rows()
        self.page = page
        self.rows |= rows
        self.totals.append(page.total)
        self.shown.append(frozenset(rows))


# -- the evidence that a page shows all rows of its window


def is_whole(window: Window, page: Page, noise: int = 0) -> bool:
    """Return whether a page shows as many rows of a window as it counts, and names no next page.

    Its rows and its count are of one moment, so that no row can have moved meanwhile. It proves
    completeness together with another count of the window, in another order: endpoints that give
    up a search show fewer rows and count only those.

    Parameters
    ----------
    window, page
        The window and its only page. A row that does not belong to it, or has no value of the
        column, proves nothing: then the endpoint may show it in another window as well.
    noise
        By how many rows counts may be wrong.
    """
    rows = {row.id for row in page.rows if row is not None and window.contains(row)}
    is_clean = len(rows) == len(page.rows) and not (page.more or page.heavy)
    return is_clean and abs(page.total - len(rows)) <= noise


def is_confirmed(total: int, others: Sequence[int]) -> bool:
    """Return whether other counts of a window confirm the one of a whole page.

    Parameters
    ----------
    total
        The count of the page.
    others
        Further counts, of other texts or times. Three equal ones are right even if one is larger.
    """
    same = others.count(total)
    return same >= 3 or (same > 0 and max(others) - total <= CUT_ROWS)


def measure_noise(totals: Sequence[int]) -> int:
    """Return by how many rows counts of the same window vary from answer to answer; mostly 0."""
    changes = sum(first != second for first, second in pairwise(totals))
    return min(MOST_NOISE, max(totals) - min(totals)) if changes > QUIET_CHANGES else 0
