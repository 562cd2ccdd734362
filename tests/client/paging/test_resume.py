"""Unfinished, failed or interrupted paging is resumed without losing or repeating items."""

from __future__ import annotations

import copy
import signal
from typing import Any

import pytest

from gqlnb import FrameError, QueryError, TransportError
from gqlnb.client.paging.cursors import ListCursor
from gqlnb.document.paging_plan import PagingPlan
from tests.client.paging.faulty_connections import NESTED, QUERY, SIZE, TOTAL, faulty, ids

WHOLE = list(range(TOTAL))


def parts(data: Any) -> list[int]:
    """Return the number of parts of each item."""
    return [len(each["parts"]["nodes"]) for each in data["items"]["nodes"]]


@pytest.mark.parametrize(
    "place",
    [(ListCursor, "merge"), (ListCursor, "remove_duplicates"), (PagingPlan, "write_next_request")],
)
@pytest.mark.parametrize("time", [1, 2, 5])
def test_ctrl_c_at_any_point_loses_no_items(monkeypatch, place, time):
    """It waits until a page is processed, or the next request is built."""
    owner, name = place
    plain, calls = getattr(owner, name), iter(range(1, 10_000))

    def interrupted(*args: Any, **options: Any) -> Any:
        if next(calls) == time:
            signal.raise_signal(signal.SIGINT)
        return plain(*args, **options)

    monkeypatch.setattr(owner, name, interrupted)
    client, items, _ = faulty("right")
    with pytest.raises(KeyboardInterrupt):
        client.execute_all(NESTED, follow="all")
    result = client.resume()
    assert ids(result.data) == WHOLE
    assert parts(result.data) == [3] * TOTAL
    assert items.asked == TOTAL // SIZE


@pytest.mark.parametrize("way", ["page", "client"])
def test_an_unfinished_iterator_resumes_with_the_next_page(way):
    """Pages already returned stay unchanged and are not repeated."""
    client, items, _ = faulty("right")
    pages = client.pages(QUERY, follow="all")
    page = [next(pages), next(pages)][-1]
    assert items.asked <= 3  # leaving the iterator here would cause no further request
    rest = client.resume(page if way == "page" else None)
    assert ids(page.data) == WHOLE[SIZE : 2 * SIZE]
    assert ids(rest.data) == WHOLE[2 * SIZE :]
    assert items.asked == TOTAL // SIZE


def test_an_iterator_that_ended_at_max_requests_resumes_with_the_next_page():
    """The last page is not part of the resumed result."""
    client, _, _ = faulty("right")
    pages = list(client.pages(QUERY, max_requests=3, follow="all"))
    assert pages[-1].report.ended == "max_requests"
    rest = client.resume(pages[-1])
    assert [n for page in (*pages, rest) for n in ids(page.data)] == WHOLE


def test_a_copied_result_cannot_be_resumed():
    """Resuming changes only the result that is resumed."""
    client, _, _ = faulty("right")
    some = client.execute_all(QUERY, max_requests=2, follow="all")
    again = copy.deepcopy(some)
    assert again.data == some.data
    assert again.report == some.report
    with pytest.raises(QueryError, match="nothing to resume"):
        client.resume(again)
    assert ids(client.resume(some).data) == WHOLE
    assert ids(again.data) == WHOLE[: 2 * SIZE]


def test_finished_paging_cannot_be_resumed():
    """There is no unfinished paging."""
    client, _, _ = faulty("right")
    assert len(list(client.pages(QUERY, follow="all"))) == TOTAL // SIZE
    with pytest.raises(QueryError, match="nothing to resume"):
        client.resume()


def test_a_timeout_with_status_200_is_retried_and_resumable(monkeypatch):
    """An answer of only nulls leads to smaller pages, retries, then an error as for 504."""
    message = (
        "Something went wrong while executing your query. This may be the result of a timeout."
    )
    fault = {"data": None, "errors": [{"message": message}]}
    monkeypatch.setattr("gqlnb.client.request_sender.time.sleep", lambda _: None)
    client, _, transport = faulty("right", fails=dict.fromkeys(range(4, 9), fault))
    with pytest.raises(TransportError, match="Something went wrong") as caught:
        client.execute_all(QUERY, page_size=2, follow="all")
    assert caught.value.status == 504
    assert len(transport.sent) == 4 + 4  # one more with half the page, and asked four times
    assert ids(client.resume(caught.value).data) == WHOLE


def test_the_pages_that_a_frame_lacks_are_requested_by_resume():
    """Where a field failed, and at `max_requests`; a frame has no result to resume from."""
    fault = {"data": {"items": None}, "errors": [{"message": "Not now.", "path": ["items"]}]}
    client, items, _ = faulty("right", fails={3: fault})
    with pytest.warns(UserWarning, match=r"Not now|partial"):
        frame = client.frame(QUERY, pages="all")
    assert (len(frame), frame.attrs["partial"]) == (2 * SIZE, True)
    assert ids(client.resume().data) == WHOLE
    assert items.asked == TOTAL // SIZE
    assert len(client.frame(QUERY, max_requests=1)) == SIZE
    assert ids(client.resume().data) == WHOLE
    assert len(client.frame(QUERY, pages="all")) == TOTAL
    with pytest.raises(QueryError, match="nothing to resume"):
        client.resume()


def test_an_error_of_a_frame_has_the_answer():
    """Of all pages: they need not be requested again."""
    client, items, _ = faulty("right")
    with pytest.raises(FrameError, match=r"The answer is in error\.result\.$") as caught:
        client.frame(QUERY, pages="all", strict=True, explode="n.none")
    assert ids(caught.value.result.data) == WHOLE
    assert items.asked == TOTAL // SIZE
