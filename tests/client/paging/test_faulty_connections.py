"""Paging of connections with simulated faults."""

import pytest

from gqlnb import AnswerError, GqlnbError, RateLimited, TransportError
from tests.client.paging.faulty_connections import FAULTS, NESTED, QUERY, SIZE, TOTAL, faulty, ids


def careful(name, text, **options):
    """Return the client's result for a faulty connection, and the number of requests."""
    client, items, _ = faulty(name)
    result = client.execute_all(text, **options, follow="all")
    return result, items.asked


@pytest.mark.parametrize("text", [QUERY, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("name", FAULTS)
def test_the_client_gets_all_available_items_and_ends(name, text):
    """Each item is in the result once, with its nested lists; the report is correct."""
    fault = FAULTS[name]
    result, asked = careful(name, text)
    got, report = ids(result.data), result.report
    assert len(got) == len({*got})
    assert {*got} == fault.numbers
    assert asked <= fault.most
    assert fault.duplicates in {None, report.duplicates}
    assert report.ended == fault.ended
    assert text is NESTED or report.requests == asked
    for each in result.data["items"]["nodes"] or ():
        if text is NESTED and each is not None:
            assert [part["id"] for part in each["parts"]["nodes"]] == [
                f"item-{each['n']}-{number}" for number in range(3)
            ]


@pytest.mark.parametrize("name", [name for name in FAULTS if FAULTS[name].ended == "complete"])
def test_an_unreached_count_is_reported(name):
    """The report states that items are missing."""
    result, _ = careful(name, QUERY)
    report = result.report
    assert report.complete == (name in {"right", "goes on", "overlapping", "stops early"})
    if not report.complete:
        assert report.doubts
        assert result.frame().attrs["partial"]


FAILURES = {
    "interrupt": KeyboardInterrupt,
    "broken": TransportError("it broke"),
    "limited": RateLimited("wait", wait=1e6),
    "damaged": AnswerError("it is empty"),
    "null": {"data": None, "errors": [{"message": "Something went wrong."}]},
    "no data": {"errors": [{"message": "no"}]},
}


@pytest.mark.parametrize("text", [QUERY, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("failure", ["interrupt", "broken", "limited", "damaged"])
@pytest.mark.parametrize("page", [2, 3, 5])
def test_paging_resumes_after_a_failure(page, failure, text):
    """The error has the pages so far; only the failed page is requested again."""
    client, items, transport = faulty("right", fails={page: FAILURES[failure]})
    with pytest.raises((KeyboardInterrupt, TransportError, AnswerError)) as caught:
        client.execute_all(text, follow="all")
    kept = ids(caught.value.result.data)
    assert kept == list(range(len(kept)))
    assert SIZE <= len(kept) < TOTAL
    notes = getattr(caught.value, "__notes__", ())
    said = notes[0] if failure == "interrupt" else str(caught.value)
    assert f"{len(kept)} " in said
    assert "client.resume()" in said
    client._rate_limiter._queue.flow.requested_until = (
        client._rate_limiter._queue.flow.blocked_until
    ) = 0  # the time has come
    whole = client.resume(caught.value)
    assert ids(whole.data) == list(range(TOTAL))
    assert items.asked == TOTAL // SIZE
    interrupted = failure == "interrupt"  # its request may be counted or not
    assert len(transport.sent) - interrupted <= whole.report.requests <= len(transport.sent)


@pytest.mark.parametrize("failure", ["null", "no data"])
def test_an_answer_without_data_keeps_the_pages_before(failure):
    """In the error, or in the report of the result."""
    client, _, _ = faulty("right", fails={3: FAILURES[failure]})
    try:
        result = client.execute_all(QUERY, follow="all")
    except GqlnbError as error:
        result = error.result
    assert ids(result.data)[: 2 * SIZE] == list(range(2 * SIZE))
    assert result.report.ended != "complete" or ids(result.data) == list(range(TOTAL))


@pytest.mark.parametrize("bound", ["heavy", "refused"])
def test_pages_that_are_too_large_are_halved(bound):
    """Down to a size that the endpoint accepts, without losing items."""
    client, items, transport = faulty("right", **{bound: 3})
    result = client.execute_all(QUERY, follow="all")
    assert ids(result.data) == list(range(TOTAL))
    assert result.report.ended == "complete"
    assert min(items.sizes) >= 1
    assert len(transport.sent) < 3 * TOTAL


def test_an_overloaded_endpoint_ends_paging():
    """If pages of one item fail too, the error of the gateway is raised soon."""
    client, _, transport = faulty("right", heavy=0)
    with pytest.raises(TransportError, match="HTTP 502"):
        client.execute_all(QUERY, follow="all")
    assert len(transport.sent) <= 16
