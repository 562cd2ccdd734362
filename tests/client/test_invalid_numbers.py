"""NaN and infinities in answers, which JSON does not have and some endpoints write anyway."""

from __future__ import annotations

import asyncio

import pytest

from gqlnb import AnswerError, Client
from gqlnb.client.response_cache import cached
from tests.client.faults import Endpoint, answer
from tests.client.subscriptions.speaking import greeted, speaking

SDL = """
scalar Any
type Query { rows(first: Int, after: String): [Row] page(first: Int, after: String): Page }
type Row { x: Any }
type Page { nodes: [Row] pageInfo: Info! }
type Info { hasNextPage: Boolean! endCursor: String }
type Subscription { row: Row }
"""
QUERY = "{ rows { x } }"
SUBSCRIPTION = "subscription { row { x } }"
# As Graphene's GenericScalar writes them; the words in texts stay.
BODY = (
    '{"data":{"rows":[{"x":1.5},{"x":NaN},{"x":{"a":[-Infinity, Infinity]}},'
    '{"x":"NaN, \\"Infinity"}]}}'
)
READ = [{"x": 1.5}, {"x": None}, {"x": {"a": [None, None]}}, {"x": 'NaN, "Infinity'}]
COUNT = "3 numbers were NaN or Infinity, which JSON does not have, and read as null."


@pytest.fixture(params=[None, SDL], ids=["no schema", "schema"])
def schema(request):
    """Yield the schema of the client."""
    return request.param


def test_the_error_names_the_field(schema):
    """And the option; `execute` and arrays alike, where the others have results."""
    with Endpoint(answer(BODY)) as endpoint:
        client = Client(endpoint.url, schema=schema)
        with pytest.raises(AnswerError, match=r'NaN at rows\[1\]\.x is not a.*nan="null"'):
            client.execute(QUERY)
    with Endpoint(answer(f'[{{"data":{{"rows":[]}}}},{BODY}]')) as endpoint:
        client = Client(endpoint.url, schema=schema, batch=2)
        fine, wrong = client.execute_many([QUERY] * 2, return_errors=True)
    assert isinstance(wrong, AnswerError)
    assert fine.data == {"rows": []}  # type: ignore[union-attr]
    assert "NaN at rows[1].x" in str(wrong)


def test_they_are_read_as_null_where_the_client_allows_it(schema):
    """And counted: in a warning, once, and in the extensions of each result."""
    with Endpoint(answer(BODY)) as endpoint:
        client = Client(endpoint.url, schema=schema, nan="null")
        with pytest.warns(UserWarning, match=COUNT):
            result = client.execute(QUERY)
        assert result.data == {"rows": READ}
        assert [it["message"] for it in result.extensions["warnings"]] == [COUNT]
        assert asyncio.run(client.aexecute(QUERY)).data == {"rows": READ}
    with Endpoint(answer(f"[{BODY}, {BODY}]", "400 Bad Request")) as endpoint:
        client = Client(endpoint.url, schema=schema, nan="null", batch=2)
        with pytest.warns(UserWarning, match=COUNT):
            results = client.execute_many([QUERY] * 2)
    assert [result.data for result in results] == [{"rows": READ}] * 2


def test_pages_count_those_of_all_pages():
    """With one warning."""
    pages = [
        f'{{"data":{{"page":{{"nodes":[{{"x":{x}}},{{"x":"{x}"}}],'
        f'"pageInfo":{{"hasNextPage":{more},"endCursor":"{x}"}}}}}}}}'
        for x, more in (("NaN", "true"), ("Infinity", "true"), ("2", "false"))
    ]
    end = '{"data":{"page":{"nodes":[],"pageInfo":{"hasNextPage":false,"endCursor":null}}}}'
    text = "query ($after: String) { page(first: 2, after: $after) { nodes { x } "
    text += "pageInfo { hasNextPage endCursor } } }"
    with Endpoint(*map(answer, [*pages, end])) as endpoint:
        client = Client(endpoint.url, schema=SDL, nan="null")
        with pytest.warns(UserWarning, match="1 number was NaN or Infinity"):
            result = client.execute_all(text)
    assert [row["x"] for row in result.data["page"]["nodes"]] == [
        None,
        "NaN",
        None,
        "Infinity",
        2,
        "2",
    ]
    assert result.extensions["warnings"][0]["count"] == 2


@pytest.mark.parametrize("kind", ["ws", "sse"])
def test_events_have_them_too(kind):
    """Over WebSockets and as server-sent events; the error names the field there, too."""
    payload = '{"data":{"row":{"x":[2,NaN]}}}'
    message = f'{{"id":"1","type":"next","payload":{payload}}}'
    end = '{"id":"1","type":"complete"}'
    events = f"event: next\ndata: {payload}\n\nevent: complete\ndata:\n\n"
    said = answer(events, Content_Type="text/event-stream")
    with Endpoint(said) as endpoint, speaking(greeted(message, end)) as address:
        url = address if kind == "ws" else endpoint.url
        stream = Client(url, nan="null").subscribe(SUBSCRIPTION, transport=kind)
        event = next(stream)
        assert event["row"]["x"] == [2, None]
        assert event.extensions["warnings"][0]["count"] == 1
        stream.close()
        with pytest.raises(AnswerError, match=r"NaN at row\.x\[1\]"):
            next(Client(url).subscribe(SUBSCRIPTION, transport=kind))


def test_recordings_keep_them_and_remembered_answers_do_not(tmp_path):
    """So that each client reads them as its own option says."""
    rows = ",".join(['{"x":NaN}'] * 20_000)  # more than is recorded of a foreign body
    with Endpoint(answer(f'{{"data":{{"rows":[{rows}]}}}}')) as endpoint:
        file = tmp_path / "calls.json"
        with pytest.warns(UserWarning, match="20,000 numbers"):
            Client(endpoint.url, nan="null", recording=file).execute(QUERY)
        replaying = Client(endpoint.url, nan="null", recording=file, mode="replay")
        with pytest.warns(UserWarning, match="20,000 numbers"):
            result = replaying.execute(QUERY)
        assert result.data == {"rows": [{"x": None}] * 20_000}
        with pytest.raises(AnswerError, match=r"NaN at rows\[0\]\.x"):
            Client(endpoint.url, recording=file, mode="replay").execute(QUERY)
        with cached("1h"), pytest.warns(UserWarning, match="20,000 numbers"):
            Client(endpoint.url, nan="null").execute(QUERY)
        with cached("1h"), pytest.raises(AnswerError, match="NaN"):
            Client(endpoint.url).execute(QUERY)


def test_incremental_answers_have_them_too():
    """In each of their parts."""
    parts = [
        '{"data":{"rows":[{"x":NaN}]},"hasNext":true}',
        '{"incremental":[{"data":{"x":Infinity},"path":["rows",0]}],"hasNext":false}',
    ]
    head = "\r\n--b\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
    said = answer(
        "".join(head + part for part in parts) + "\r\n--b--\r\n",
        Content_Type='multipart/mixed; boundary="b"',
    )
    with Endpoint(said) as endpoint:
        client = Client(endpoint.url, nan="null")
        with pytest.warns(UserWarning, match="2 numbers"):
            assert client.execute(QUERY).data == {"rows": [{"x": None}]}
        last = list(client.subscribe("{ rows { ... @defer { x } } }"))[-1]
        assert last.data == {"rows": [{"x": None}]}
        with pytest.raises(AnswerError, match=r"NaN at rows\[0\]\.x"):
            Client(endpoint.url).execute(QUERY)
