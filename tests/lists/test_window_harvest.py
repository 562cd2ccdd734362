"""What a harvest of windows takes for complete, and what it requests."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import pytest

from gqlnb.errors import AnswerError
from gqlnb.github.harvester.scope import Scope
from gqlnb.lists.window_harvest import (
    HarvestState,
    Page,
    PageRequest,
    Source,
    Window,
    WindowHarvest,
    is_confirmed,
    is_whole,
    measure_noise,
)
from tests.github.harvester.populations import harvest
from tests.github.harvester.search_simulator import Changes, SearchSimulator

WINDOW = Window(10, 20)
LOW = 20


class Row(NamedTuple):
    """A row."""

    id: str
    created: int | None


def build_page(count: int = 2, *, total: int | None = None, **members: object) -> Page:
    """Return a page with some rows of the window."""
    rows = tuple(Row(f"r{number}", 10 + number) for number in range(count))
    return Page(count if total is None else total, rows, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (build_page(), True),
        (build_page(0), True),
        (build_page(total=3), False),
        (build_page(more=True), False),
        (build_page(heavy=True), False),
        (Page(2, (Row("r0", 10), Row("r0", 10))), False),
        (Page(2, (Row("r0", 10), None)), False),
        (Page(2, (Row("r0", 10), Row("r1", 20))), False),
        (Page(2, (Row("r0", 10), Row("r1", None))), False),
    ],
)
def test_a_page_is_whole(page: Page, expected: bool) -> None:  # noqa: FBT001
    """It has as many different rows of its window as it counts, and no next page."""
    assert is_whole(WINDOW, page) is expected


def test_a_count_confirms_another_one() -> None:
    """Not if a much larger one shows that an endpoint cut both, until three are equal."""
    assert is_confirmed(97, [97])
    assert is_confirmed(97, [99, 97])
    assert not is_confirmed(97, [98])
    assert not is_confirmed(77, [97, 77])
    assert is_confirmed(77, [97, 77, 77, 77])


def test_changes_are_not_noise() -> None:
    """Rows that come and go change some counts; where counts vary, most of them differ."""
    assert measure_noise([100] * 20) == 0
    assert measure_noise([100] * 7 + [101] * 6 + [100] * 7) == 0
    assert measure_noise([100, 102, 99, 101] * 5) == 3


def harvest_stars(changes: Changes, *, size: int = 1_500, twice: bool = False):
    """Return the simulator, the ids and the report of a harvest."""
    simulator = SearchSimulator(size, LOW, changes, seed=1)
    rows, coverage = harvest(Scope("", LOW), simulator, twice=twice)
    return simulator, {row.id for row in rows}, coverage


def test_orders_that_agree_are_no_proof() -> None:
    """Where counts vary, only four orders that show the same rows are taken for complete."""
    simulator, ids, coverage = harvest_stars(Changes(wobble=2))
    assert ids == simulator.required
    assert coverage.agreed > 0
    assert not coverage.gaps
    assert not coverage.complete
    simulator, ids, coverage = harvest_stars(Changes(wobble=2), twice=True)
    assert ids == simulator.required
    assert coverage.complete


def test_still_data_need_few_pages_and_counts() -> None:
    """About 1.04 pages and 3 counts for each 100 rows."""
    _, _, coverage = harvest_stars(Changes(), size=3_000)
    assert coverage.complete
    assert coverage.pages <= 1.08 * 30
    assert coverage.pages + coverage.counts / 20 <= 1.25 * 30


def build_source(limit: int = 100) -> Source:
    """Return a list of values from 0 to 999."""
    return Source(Window(0, 1000), (0, 1000), str, lambda *_: False, page_size=limit)


def answer(window: Window, first: int) -> Page:
    """Return a page of a list with one row of each value."""
    values = range(window.low, window.high)
    rows = tuple(Row(f"r{value}", value) for value in values[:first])
    return Page(len(values), rows, more=len(values) > first > 0)


def test_pages_that_are_too_large_become_smaller() -> None:
    """Down to a size that the endpoint answers; without one there are gaps."""
    for most, complete in ((30, True), (0, False)):
        windows, ids = WindowHarvest(build_source()), set[str]()
        while windows.has_requests:
            task = windows.take()
            window, _, first, _ = task.request
            is_heavy = first > most
            windows.feed(task, Page(0, heavy=True) if is_heavy else answer(window, first))
            ids |= {row.id for row in windows.take_rows()}
        coverage = windows.state.build_coverage(len(ids))
        assert windows.state.todo == []
        assert (coverage.complete, bool(coverage.gaps)) == (complete, not complete)
        assert len(ids) == (1000 if complete else 0)


def run(
    windows: WindowHarvest, most: int = 10_000
) -> tuple[list[PageRequest], list[tuple[PageRequest, Page]], list[str]]:
    """Answer up to `most` requests; return them, the answers to open windows, and the ids."""
    asked, answers, ids = list[PageRequest](), list[tuple[PageRequest, Page]](), list[str]()
    while len(asked) < most and windows.has_requests:
        task = windows.take()
        asked.append(task.request)
        windows.feed(task, answer(task.request.window, task.request.first))
        answers += windows.take_answers()
        ids += [row.id for row in windows.take_rows()]
    return asked, answers, ids


def test_a_harvest_continues_at_any_moment() -> None:
    """With the answers so far no request is sent twice, and no row comes twice."""
    whole, _, every = run(WindowHarvest(build_source()))
    for moment in range(len(whole) + 1):
        first = WindowHarvest(build_source())
        before, answers, ids = run(first, moment)
        state = msgspec.json.decode(msgspec.json.encode(first.state), type=HarvestState)
        state.answers = answers
        second = WindowHarvest(build_source(), state)
        after, _, others = run(second)
        assert sorted(before + after) == sorted(whole)
        assert sorted(ids + others) == sorted(every)
        assert second.state.todo == []
        assert second.state.build_coverage(1000).complete


def test_a_harvest_continues_without_answers() -> None:
    """As an interrupted harvest in memory would: open windows are read again."""
    first = WindowHarvest(build_source())
    _, _, ids = run(first, 12)
    _, _, others = run(WindowHarvest(build_source(), first.state))
    assert sorted(ids + others) == sorted(f"r{value}" for value in range(1000))


def test_an_endpoint_that_ignores_windows_is_an_error() -> None:
    """Else the harvest would not end."""
    source = Source(Window(0, 1000), (0, 1000), str, lambda window, row: not window.contains(row))
    windows = WindowHarvest(source)
    rows = tuple(Row(f"r{number}", 5000) for number in range(100))
    page = Page(5000, rows, more=True)
    while windows.has_requests and not windows.peek().request.first:
        windows.feed(windows.take(), page)
    with pytest.raises(AnswerError, match="ignores a part of it"):
        windows.feed(windows.take(), page)
