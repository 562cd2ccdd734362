"""The faulty connections are faulty in the way they say; who pages them carelessly gets lost."""

import pytest

from gqlnb import GqlnbError, RateLimited, TransportError
from tests.client.paging.faulty_connections import FAULTS, NESTED, QUERY, SIZE, TOTAL, faulty, ids

MANY = 30


def naive(name):
    """Page as most loops do, for at most so many requests."""
    client, _, _ = faulty(name)
    got, cursor = [], None
    for number in range(1, MANY + 1):
        after = "" if cursor is None else f', after: "{cursor}"'
        data = client.execute(QUERY.replace(f"first: {SIZE}", f"first: {SIZE}{after}")).data
        got += ids(data)
        if not data["items"]["pageInfo"]["hasNextPage"]:
            return got, number
        cursor = data["items"]["pageInfo"]["endCursor"]
    return got, None


@pytest.mark.parametrize("name", FAULTS)
def test_a_careless_loop_ends_where_the_endpoint_says_so(name):
    """There it gets what there is, with the duplicates that come; elsewhere it never ends."""
    fault = FAULTS[name]
    got, requests = naive(name)
    if fault.told:
        assert requests is not None
        assert {*got} == fault.numbers
        assert len(got) - len({*got}) == fault.duplicates
        assert requests <= fault.most
    else:
        assert requests is None


def test_what_is_nested_is_served_rightly():
    """Three parts of each item, two of them on the first page."""
    client, _, _ = faulty("right")
    first = client.execute(NESTED).data["items"]["nodes"][0]
    assert [each["id"] for each in first["parts"]["nodes"]] == ["item-0-0", "item-0-1"]
    text = """{ node(id: "item-3") { ... on Item { parts(first: 2, after: "c:2") {
      nodes { id } pageInfo { hasNextPage } } } } }"""
    rest = client.execute(text).data["node"]["parts"]
    assert rest == {"nodes": [{"id": "item-3-2"}], "pageInfo": {"hasNextPage": False}}


def test_the_transport_fails_when_it_is_told_to():
    """By the number of a request, and for what is too large."""
    client, _, transport = faulty("right", fails={2: KeyboardInterrupt}, heavy=SIZE)
    assert len(ids(client.execute(QUERY).data)) == SIZE
    with pytest.raises(KeyboardInterrupt):
        client.execute(QUERY)
    with pytest.raises(TransportError, match="HTTP 502") as caught:
        client.execute(QUERY.replace(f"first: {SIZE}", f"first: {TOTAL}"))
    assert caught.value.status == 502
    assert len(transport.sent) == 6  # a 502 is asked again three times
    client, _, _ = faulty("right", refused=SIZE - 1)
    refused = client.execute(QUERY.replace("totalCount ", ""))
    assert [error["type"] for error in refused.errors] == ["RESOURCE_LIMITS_EXCEEDED"]
    assert refused.data is None or refused.data["items"] is None


# -- the client


def careful(name, text, **options):
    """Return what the client gets of a faulty connection, and how often it asked."""
    client, items, _ = faulty(name)
    result = client.execute_all(text, **options)
    return result, items.asked


@pytest.mark.parametrize("text", [QUERY, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("name", FAULTS)
def test_the_client_gets_what_can_be_got_and_ends(name, text):
    """Each item once, with all that is nested in it, and a report that says what is known."""
    fault = FAULTS[name]
    result, asked = careful(name, text)
    got, report = ids(result.data), result.report
    assert len(got) == len({*got})
    assert {*got} == fault.numbers
    assert asked <= fault.most
    assert fault.duplicates in {None, report.duplicates}
    assert (report.ended == "complete") == fault.told
    for each in result.data["items"]["nodes"] or ():
        if text is NESTED and each is not None:
            assert [part["id"] for part in each["parts"]["nodes"]] == [
                f"item-{each['n']}-{number}" for number in range(3)
            ]


@pytest.mark.parametrize("name", FAULTS)
def test_page_by_page_it_is_the_same(name):
    """No item comes on two pages."""
    client, _, _ = faulty(name)
    got = [n for result in client.pages(QUERY) for n in ids(result.data)]
    assert sorted(got) == sorted(FAULTS[name].numbers)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.told])
def test_a_count_that_was_not_reached_is_told(name):
    """Who looks at the report knows that something is missing."""
    result, _ = careful(name, QUERY)
    report = result.report
    assert report.complete == (name in {"right", "goes on", "overlapping", "nulls"})
    if not report.complete:
        assert report.doubts
        assert result.frame().attrs["partial"]


FAILURES = {
    "interrupt": KeyboardInterrupt,
    "broken": TransportError("it broke"),
    "limited": RateLimited("wait", wait=1e6),
    "null": {"data": None, "errors": [{"message": "Something went wrong."}]},
    "no data": {"errors": [{"message": "no"}]},
}


@pytest.mark.parametrize("text", [QUERY, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("failure", ["interrupt", "broken", "limited"])
@pytest.mark.parametrize("page", [2, 3, 5])
def test_a_failure_keeps_the_pages_before_and_is_gone_on_with(page, failure, text):
    """The error has them; all that was asked for again is the page that failed."""
    client, items, transport = faulty("right", fails={page: FAILURES[failure]})
    with pytest.raises((KeyboardInterrupt, TransportError)) as caught:
        client.execute_all(text)
    kept = ids(caught.value.result.data)
    assert kept == list(range(len(kept)))
    assert SIZE <= len(kept) < TOTAL
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
    """As an error, or in the report of the result."""
    client, _, _ = faulty("right", fails={3: FAILURES[failure]})
    try:
        result = client.execute_all(QUERY)
    except GqlnbError as error:
        result = error.result
    assert ids(result.data)[: 2 * SIZE] == list(range(2 * SIZE))
    assert result.report.ended != "complete" or ids(result.data) == list(range(TOTAL))


@pytest.mark.parametrize("bound", ["heavy", "refused"])
def test_pages_that_are_too_large_are_halved(bound):
    """Down to what the endpoint bears; nothing is lost, and it is not asked for ever."""
    client, items, transport = faulty("right", **{bound: 3})
    result = client.execute_all(QUERY)
    assert ids(result.data) == list(range(TOTAL))
    assert result.report.ended == "complete"
    assert min(items.sizes) >= 1
    assert len(transport.sent) < 3 * TOTAL


def test_an_endpoint_that_bears_nothing_ends_it():
    """With one item a page the gateway still fails: that is its error, soon."""
    client, _, transport = faulty("right", heavy=0)
    with pytest.raises(TransportError, match="HTTP 502"):
        client.execute_all(QUERY)
    assert len(transport.sent) <= 16
