"""Windows of a column: the tasks that harvest them, their requests, and their plan by counts.

Counts are cheap: endpoints find no rows for them, and answer many in one request. A window of one
page shows all its rows at one moment, so a window is cut into windows of just below one page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

# Of 3,000 and 18,400 rows at random times, simulated with 96 to 98 of 100 rows, 8 to 24 windows and
# 4 to 6 rounds, these cost about least, with few requests one after another.
FILL = 0.97  # of a page
MOST_WINDOWS = 16  # that are planned and read together
ROUNDS = 5  # of counts
ROUNDS_OF_PARTS = 4  # of a large window: with 2 its parts are less full, 1.05 pages instead of 1.04
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
        self._unit = MOST_WINDOWS if count > largest else 1
        self._most = largest if self._unit > 1 else room

    @property
    def is_large(self) -> bool:
        """Whether its parts will be cut again."""
        return self._unit > 1

    def _choose_sizes(self, left: int) -> tuple[float, int, int]:
        """Return the wanted, the least and the most rows of the next part, of `left` rows."""
        room, unit = self._room, self._unit
        if unit > 1:
            wanted = room * FILL * unit
            return wanted, round(2 * wanted) - self._most, self._most
        windows = max(2, ceil(left / room))
        others = windows - 1
        least = left - int(others * room * (1 - (SPARE if others > 1 else 0)))
        return left / windows, least, room

    def propose_cuts(self) -> list[int]:
        """Return the values at which another count is needed."""
        proposed, low, below = list[int](), self._window.low, 0.0
        while self._count - below > self._most:
            wanted, least, most = self._choose_sizes(round(self._count - below))
            cut = self._find_cut(low, below + least, below + most)
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

    def build_requests(self, cuts: list[int], order: int) -> list[PageRequest]:
        """Return the requests for the rows between each cut and the value before it."""
        lows = [self._values[bisect_left(self._values, cut) - 1] for cut in cuts]
        lows[1:] = [max(low, before) for low, before in zip(lows[1:], cuts, strict=False)]
        return [PageRequest(Window(*ends), order) for ends in zip(lows, cuts, strict=True)]

    def add_count(self, window: Window, total: int) -> None:
        """Add a count; where rows come and go, the numbers below rising values still rise."""
        above = self._values[bisect_right(self._values, window.high - 1)]
        below = min(self._below[window.low] + total, self._below[above])
        self._below[window.high] = below
        insort(self._values, window.high)

    def list_parts(self) -> list[tuple[Window, int]]:
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


def plan_windows(
    window: Window, count: int, *, order: int, room: int, usual: tuple[int, int]
) -> Generator[list[PageRequest], list[Page], list[tuple[Window, int]]]:
    """Cut a window into windows that fit a page, or a large one into parts to be cut again.

    Parameters
    ----------
    window, count, room, usual
        As of :class:`Plan`.
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
    plan = Plan(window, count, room=room, usual=usual)
    for _ in range(ROUNDS_OF_PARTS if plan.is_large else ROUNDS):
        cuts = plan.propose_cuts()
        if not cuts:
            break
        requests = plan.build_requests(cuts, order)
        pages = yield requests
        for request, page in zip(requests, pages, strict=True):
            plan.add_count(request.window, page.total)
    return plan.list_parts()


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
    answers
        The answers so far, by place.
    missing
        Number of answers that it waits for.
    """

    def __init__(self, steps: Generator[list[Request], list[Any], None]) -> None:
        self.steps = steps
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
