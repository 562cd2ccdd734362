"""The harvest of a list in windows: which counts and pages to request, and what they prove.

Each window is planned by counts to fit one page, so that its only page shows all its rows at one
moment, with their count. A second count, in another order, is the witness.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from gqlnb.errors import AnswerError
from gqlnb.lists.report import Counters, Gap, StoredState

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    Result = TypeVar("Result")
    Steps = Generator[list["PageRequest"], list["Page"], Result]

# Of 3,000 and 18,400 rows at random times, simulated with 96 to 98 of 100 rows, 8 to 24 windows and
# 4 to 6 rounds, these cost about least, with few requests one after another.
FILL = 0.97  # of a page
MOST_WINDOWS = 16  # that are planned and read together
ROUNDS = 5  # of counts
SPARE = 0.01  # of a page, which windows leave free, so that the next ones can be cut as well


@runtime_checkable  # so that rows of a log can be decoded
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


class Plan:
    """The known numbers of rows below some values, by which a window is cut.

    Parameters
    ----------
    window, count
        The window and its number of rows.
    room
        Most rows of a page.
    usual
        As of :class:`Source`.
    """

    def __init__(self, window: Window, count: int, *, room: int, usual: tuple[int, int]) -> None:
        self._window, self._count, self._room, self._usual = window, count, room, usual
        self._values, self._below = [window.low, window.high], {window.low: 0, window.high: count}
        # A large window is cut into parts for as many windows as are read together; of a small one
        # each window gets as many rows as the others.
        largest = int(room * (1 - SPARE) * MOST_WINDOWS)
        self._most = largest if count > largest else room

    def divide(self, order: int) -> Steps[list[tuple[Window, int]]]:
        """Cut the window into windows that fit a page, or a large one into parts to be cut again.

        Parameters
        ----------
        order
            The sort order in which to count.

        Yields
        ------
        list of PageRequest
            Counts, to be sent with the pages of their answers.

        Returns
        -------
        list of (Window, int)
            The parts, in rising order, with their numbers of rows; some may have more than a page.
        """
        for _ in range(ROUNDS):
            cuts = self._propose_cuts()
            if not cuts:
                break
            requests = self._build_requests(cuts, order)
            pages = yield requests
            for request, page in zip(requests, pages, strict=True):
                self._add_count(request.window, page.total)
        return self._list_parts()

    def _choose_sizes(self, left: int) -> tuple[float, int]:
        """Return the wanted and the least rows of the next part, of `left` rows."""
        room = self._room
        if self._most > room:
            wanted = room * FILL * MOST_WINDOWS
            return wanted, round(2 * wanted) - self._most
        windows = max(2, ceil(left / room))
        others = windows - 1
        return left / windows, left - int(others * room * (1 - (SPARE if others > 1 else 0)))

    def _propose_cuts(self) -> list[int]:
        """Return the values at which another count is needed."""
        proposed, low, below = list[int](), self._window.low, 0.0
        while self._count - below > self._most:
            wanted, least = self._choose_sizes(round(self._count - below))
            cut = self._find_cut(low, below + least, below + self._most)
            if cut is not None:
                low, below = cut, self._below[cut]
                continue
            cut = self._interpolate(below + wanted)
            if cut is None or cut <= low:
                break
            proposed.append(cut)
            low, below = cut, below + wanted
        return proposed

    def _find_cut(self, low: int, least: float, most: float) -> int | None:
        """Return the highest counted value above `low` with `least` to `most` rows below it."""
        place = bisect_right(self._values, most, key=self._below.__getitem__) - 1
        cut = self._values[place]
        is_inside = low < cut < self._window.high
        return cut if is_inside and self._below[cut] >= least else None

    def _interpolate(self, wanted: float) -> int | None:
        """Return a value with about `wanted` rows below it; None between adjacent counted ones."""
        place = bisect_left(self._values, wanted, key=self._below.__getitem__)
        low, high = self._values[place - 1], self._values[place]
        below, upto = self._below[low], self._below[high]
        if high - low < 2:
            return None
        start, end = self._usual
        start, end = (start if start > low else low), (end if end < high else high)
        if start >= end:
            start, end = low, high
        share = (wanted - below) / max(1, upto - below)
        return min(max(start + round((end - start) * share), low + 1), high - 1)

    def _build_requests(self, cuts: list[int], order: int) -> list[PageRequest]:
        """Return the requests for the rows between each cut and the value before it."""
        lows = [self._values[bisect_left(self._values, cut) - 1] for cut in cuts]
        lows[1:] = [max(low, before) for low, before in zip(lows[1:], cuts, strict=False)]
        return [PageRequest(Window(*ends), order) for ends in zip(lows, cuts, strict=True)]

    def _add_count(self, window: Window, total: int) -> None:
        """Add a count; where rows come and go, the numbers below rising values still rise."""
        above = self._values[bisect_right(self._values, window.high - 1)]
        below = min(self._below[window.low] + total, self._below[above])
        self._below[window.high] = below
        insort(self._values, window.high)

    def _list_parts(self) -> list[tuple[Window, int]]:
        """Return the parts, in rising order, with their numbers of rows."""
        cuts, low, below = [self._window.low], self._window.low, 0
        while self._count - below > self._most:
            cut = self._find_cut(low, below, below + self._most)
            if cut is None:  # more than wanted, up to the next value that was counted
                cut = self._values[bisect_right(self._values, low)]
            if cut == self._window.high:
                break
            cuts.append(cut)
            low, below = cut, self._below[cut]
        cuts.append(self._window.high)
        return [
            (self._window._replace(low=low, high=high), self._below[high] - self._below[low])
            for low, high in pairwise(cuts)
        ]


# -- tasks, without I/O: each asks for answers, and goes on when all of them came

Request = TypeVar("Request")


class TaskRequest(NamedTuple, Generic[Request]):
    """A request of a task, with the place of its answer among those that the task waits for."""

    task: int
    place: int
    request: Request


class Task(Generic[Request]):
    """A generator that yields requests, and takes the list of their answers.

    What it finds counts when it ends, so that a task that was interrupted can be run again.

    Attributes
    ----------
    steps
        The generator.
    subject
        The span, or the ends of the range, that it harvests; None for another task.
    answers
        The answers so far, by place.
    missing
        Number of answers that it waits for.
    """

    def __init__(
        self,
        steps: Generator[list[Request], list[Any], None],
        subject: Any = None,  # noqa: ANN401 - of each kind of harvest
    ) -> None:
        self.steps, self.subject = steps, subject
        self.answers: list[Any] = []
        self.missing = 0

    def advance(self) -> list[Request] | None:
        """Return the next requests; None at the end."""
        answers: list[Any] | None = self.answers or None
        while True:
            try:
                requests = next(self.steps) if answers is None else self.steps.send(answers)
            except StopIteration:
                return None
            if requests:
                self.answers, self.missing = [None] * len(requests), len(requests)
                return requests
            answers = []


AnyTask = TypeVar("AnyTask", bound=Task[Any])


class TaskQueue(Generic[Request, AnyTask]):
    """The tasks under way, and their requests, which may be answered in any order."""

    def __init__(self) -> None:
        self._number = 0
        self._tasks: dict[int, AnyTask] = {}
        self._task: AnyTask  # that continues
        self._pending: deque[TaskRequest[Request]] = deque()

    @property
    def pending(self) -> int:
        """Number of requests that can be sent now."""
        return len(self._pending)

    def peek(self) -> TaskRequest[Request]:
        """Return the next request; there must be one."""
        return self._pending[0]

    def take(self) -> TaskRequest[Request]:
        """Return the next request, and forget it; there must be one."""
        return self._pending.popleft()

    def put_back(self, requests: Sequence[TaskRequest[Request]]) -> None:
        """Make requests the next ones again, as they had no answer."""
        self._pending.extendleft(reversed(requests))

    def _start_task(self, task: AnyTask) -> None:
        self._number += 1
        self._tasks[self._number] = task
        self._advance(self._number)

    def _give_answer(self, request: TaskRequest[Request], answer: object) -> None:
        """Continue the task of a request, if it waits for no other answer."""
        task = self._tasks[request.task]
        task.answers[request.place] = answer
        task.missing -= 1
        if not task.missing:
            self._advance(request.task)

    def _advance(self, number: int) -> None:
        """Continue a task until it waits for an answer that is not known, or ends."""
        task = self._task = self._tasks[number]
        while (requests := task.advance()) is not None:
            for place, request in enumerate(requests):
                if known := self._recall_answer(request):
                    task.answers[place] = known
                    task.missing -= 1
                else:
                    self._pending.append(TaskRequest(number, place, request))
            if task.missing:
                return
        del self._tasks[number]
        self._end_task(task)

    def _recall_answer(self, request: Request) -> object:  # noqa: ARG002 - for subclasses
        """Return the answer to a request from an interrupted run, or None."""
        return None

    def _end_task(self, task: AnyTask) -> None:
        """Take what a task has found."""


# -- windows: which are read again, and what proves them

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


class HarvestState(StoredState, kw_only=True):
    """What is known at one time: the windows that were read, the others, and the cost.

    Attributes
    ----------
    noise
        By how many rows counts vary from answer to answer.
    may_vary
        Whether the first counts differ, and it is not known yet why.
    todo
        The spans to harvest, with their counts if they are known; None before the first is planned.
    answers
        The answers of an interrupted run to requests for these spans, which are not sent again.
    """

    noise: int = 0
    may_vary: bool = False
    todo: list[tuple[Window, int | None]] | None = None
    answers: list[PageAnswer] = msgspec.field(default_factory=list)

    def is_open(self, window: Window) -> bool:
        """Return whether a window is still to be harvested, alone or in a span."""
        spans = self.todo
        return spans is None or any(low <= window.low < high for (low, high, _), _ in spans)


class SpanTask(Task[PageRequest]):
    """The harvest of a span: a window, and its count if it is known.

    Attributes
    ----------
    todo
        The spans that it leaves to other tasks.
    rows
        The rows of the windows that it closes.
    counters
        Their numbers, and their gaps.
    """

    def __init__(self, steps: Steps[None], subject: object) -> None:
        super().__init__(steps, subject)
        self.todo: list[tuple[Window, int | None]] = []
        self.rows: list[Row] = []
        self.counters = Counters()


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

    Attributes
    ----------
    state
        The windows that were read, and the cost; it changes with each answer.
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
    ) -> None:
        super().__init__()
        self.state = HarvestState() if state is None else state
        self.page_size = source.page_size
        self._source, self._twice, self._width = source, twice, tasks
        self._count_order = source.orders - 1
        self._doubts = self._heavy = 0
        self._rows: list[Row] = []  # of the windows that were closed
        self._answers: list[tuple[TaskRequest[PageRequest], Page]] = []
        self._known: defaultdict[PageRequest, list[Page]] = defaultdict(list)
        for request, page in self.state.answers:
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

    def _start_tasks(self) -> None:
        while self._todo and len(self._tasks) < (1 if self.state.may_vary else self._width):
            span = self._todo.pop()
            self._start_task(SpanTask(self._harvest_span(*span), span))

    def _recall_answer(self, request: PageRequest) -> Page | None:
        known = self._known.get(request)
        return known.pop(0) if known else None

    def _end_task(self, task: SpanTask) -> None:
        self._todo += task.todo
        self._rows += task.rows
        state, counted = self.state, task.counters
        state.windows += counted.windows
        state.repeated += counted.repeated
        state.agreed += counted.agreed
        state.gaps += counted.gaps
        open_spans = [other.subject for other in self._tasks.values()]
        state.todo = [*self._todo, *open_spans[::-1]]

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
            stale = [asked for asked in self._pending if asked.request.first > self.page_size]
            self._pending = deque(asked for asked in self._pending if asked not in stale)
            for asked in stale:  # they would be too large as well
                self._give_answer(asked, Page(0, heavy=True))

    def _close(
        self,
        window: Window,
        rows: Mapping[str, Row],
        *,
        agreed: bool = False,
        expected: int = 0,
        why: str = "",
    ) -> None:
        """Take the rows of a window, with a gap if there is a reason why they may not be all."""
        self._task.rows += [row for row in rows.values() if window.contains(row)]
        counters = self._task.counters
        counters.windows += 1
        counters.agreed += agreed
        if why:
            text = self._source.format_window(window)
            counters.gaps += (Gap(text, expected, len(rows), why),)

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
        room = max(1, self.page_size - noise)
        plan = Plan(window, count, room=room, usual=self._source.usual)
        parts = yield from plan.divide(self._count_order)
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
        self._task.counters.repeated += sum(
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
            why = "The endpoint answers no page, however small, as if it were too large."
            expected = max(page.total, count)
            self._close(window, page.map_rows(), expected=expected, why=why)
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
            self._close(each.window, each.rows, expected=expected, why=why)

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
        self._close(window, rows, expected=count, why=why)

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
