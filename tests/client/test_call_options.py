"""Headers, extensions and a timeout of one call, and many asynchronous calls at once."""

from __future__ import annotations

import asyncio
import json
import pickle
import socket
import sys
import threading
from datetime import date
from typing import Any

import pytest
from graphql import build_schema, graphql_sync

from gqlnb import (
    AuthError,
    Client,
    GqlnbError,
    OptionError,
    QueryError,
    Slice,
    TargetError,
    Token,
    TransportError,
    connect,
    reference_schema,
)
from tests.client.faults import Endpoint as FaultyEndpoint
from tests.client.faults import json_answer, silent
from tests.named_connections import forget_connection

SDL = """
type Query { hello: String rows(first: Int, after: String, least: Int, most: Int): RowConnection }
type Subscription { ticks: Int }
type RowConnection { nodes: [Row] pageInfo: PageInfo! totalCount: Int }
type Row { id: ID! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
"""


def build_rows(number: int) -> dict[str, Any]:
    """Return the page with one of two rows, with the fields that paging adds."""
    info = {"hasNextPage": number == 1, "endCursor": str(number)}
    counted = {"totalCount": 2, "gqlnb_totalCount": 2, "gqlnb_pageInfo": info}
    return {"nodes": [{"id": str(number), "gqlnb_id": str(number)}], "pageInfo": info, **counted}


PAGE, LAST = (json_answer({"data": {"hello": "world", "rows": build_rows(n)}}) for n in (1, 2))
PAGES = (
    "query ($first: Int, $after: String) { rows(first: $first, after: $after) { nodes { id } } }"
)


class Endpoint(FaultyEndpoint):
    """An endpoint that gives a page, then the last one, and tells what it was sent."""

    def __init__(self) -> None:
        super().__init__(PAGE, LAST)

    def execute(self, connection: socket.socket, _over: threading.Event) -> None:
        """Execute the last request."""
        _, body = self.received[-1]
        schema, root = build_schema(SDL), {"rows": build_rows(2)}
        result = graphql_sync(schema, body["query"], root, variable_values=body.get("variables"))
        connection.sendall(json_answer(result.formatted, Connection="close"))

    @property
    def received(self) -> list[tuple[dict[str, str], dict[str, Any]]]:
        """The headers and the body of each request."""
        parts = [request.decode().partition("\r\n\r\n") for request in self.requests]
        return [
            (dict(line.split(": ", 1) for line in head.splitlines()[1:]), json.loads(body))
            for head, _, body in parts
        ]


@pytest.fixture
def endpoint():
    """Yield the endpoint."""
    with Endpoint() as served:
        yield served


@pytest.fixture
def client(endpoint):
    """Yield a client with headers of its own."""
    headers = {"X-Team": "blue", "X-Trace": "none"}
    with Client(endpoint.url, schema=SDL, headers=headers, token=Token("client-token-1")) as made:
        yield made


WRITTEN = "Bearer s3cret-text"  # a secret as text
OPTIONS: dict[str, Any] = {
    "headers": {"x-trace": "t1"},
    "extensions": {"trace": {"id": 7}},
    "timeout": 20,
}
CALLS = {
    "execute": lambda client: client.execute("{ hello }", **OPTIONS),
    "aexecute": lambda client: asyncio.run(client.aexecute("{ hello }", **OPTIONS)),
    "execute_all": lambda client: client.execute_all(PAGES, **OPTIONS),
    "aexecute_all": lambda client: asyncio.run(client.aexecute_all(PAGES, **OPTIONS)),
    "pages": lambda client: list(client.pages(PAGES, **OPTIONS)),
    "apages": lambda client: asyncio.run(collect(client.apages(PAGES, **OPTIONS))),
    "frame": lambda client: client.frame("{ hello }", **OPTIONS),
    "frame of all pages": lambda client: client.frame(PAGES, pages="all", **OPTIONS),
    "execute_many": lambda client: client.execute_many(["{ hello }", PAGES], **OPTIONS),
    "aexecute_many": lambda client: asyncio.run(
        client.aexecute_many(["{ hello }", PAGES], **OPTIONS)
    ),
    "map": lambda client: client.map(PAGES, [{"first": 1}, {"first": 2}], **OPTIONS),
    "amap": lambda client: asyncio.run(client.amap(PAGES, [{"first": 1}, {"first": 2}], **OPTIONS)),
}


async def collect(pages: Any) -> list[Any]:
    """Return the items of an asynchronous iterator."""
    return [page async for page in pages]


@pytest.mark.parametrize("call", CALLS)
def test_the_options_of_a_call_are_in_each_of_its_requests(endpoint, client, call, monkeypatch):
    """Beside the client's headers, in the place of those with the same name, and not afterwards."""
    monkeypatch.setitem(OPTIONS, "token", Token("of-this-call"))
    CALLS[call](client)
    count = len(endpoint.received)
    client.execute("{ hello }")
    for headers, body in endpoint.received[:count]:
        assert headers["X-Team"] == "blue"
        assert [value for name, value in headers.items() if name.lower() == "x-trace"] == ["t1"]
        assert headers["Authorization"] == "Bearer of-this-call"
        assert body["extensions"] == {"trace": {"id": 7}}
    headers, body = endpoint.received[count]
    assert headers["Authorization"] == "Bearer client-token-1"
    assert headers["X-Trace"] == "none"
    assert "extensions" not in body


OLDER = """
type Query { hello(name: Kind!): Int rows: Old } enum Kind { A } scalar Old
type Subscription { tocks: Int }
"""
UNCHECKED = {
    **{name: call for name, call in CALLS.items() if "many" not in name},
    "execute_many": lambda client, **options: client.execute_many(["{ hello }"], **options),
    "aexecute_many": lambda client, **options: asyncio.run(
        client.aexecute_many(["{ hello }"], **options)
    ),
    "request": lambda client, **options: client.request("{ hello }", **options),
    "arequest": lambda client, **options: asyncio.run(client.arequest("{ hello }", **options)),
    "document": lambda client, **options: client.execute(
        client.parse_document("{ hello }", **options)
    ),
    "subscribe": lambda client, **options: client.subscribe("subscription { ticks }", **options),
    "asubscribe": lambda client, **options: client.asubscribe("subscription { ticks }", **options),
    "harvest": lambda client, **options: client.harvest(
        "query ($low: Int, $high: Int) { rows(least: $low, most: $high) { nodes { id } } }",
        slice=Slice(column="id", least=1, most=2),
        dry_run=True,
        **options,
    ),
}


@pytest.mark.filterwarnings("ignore:The result may be", "ignore:The schema of")
@pytest.mark.parametrize("call", UNCHECKED)
def test_without_validation_the_endpoint_decides(endpoint, monkeypatch, call):
    """For one call, or for all calls of a client: what its schema refuses is sent."""
    execute = UNCHECKED[call]
    if call in CALLS and call not in ("execute_many", "aexecute_many"):
        given: dict[str, Any] = {}
        monkeypatch.setattr(f"{__name__}.OPTIONS", given)

        def execute(client: Client, **options: Any) -> Any:
            given.clear()
            given.update(options)
            return CALLS[call](client)

    with Client(endpoint.url, schema=OLDER) as client:
        with pytest.raises(GqlnbError, match=r"Cannot query field|must|required|Unknown arg"):
            execute(client)
        assert not endpoint.received
        execute(client, validate=False)
        with pytest.raises(OptionError, match="validate"):
            execute(client, validate="no")
    with Client(endpoint.url, schema=OLDER, validate=False) as client:
        execute(client)
    assert "subscribe" in call or len(endpoint.received) >= 2


def test_texts_and_variables_that_cannot_be_read_are_sent_as_they_are(endpoint):
    """The endpoint's error is raised, and a text that it might not repeat is sent once."""
    text = "query ($first: Int!) { rows(first: $first) { nodes { id } } }"
    endpoint.answers[:] = [endpoint.execute]
    with Client(endpoint.url, schema=SDL, validate=False) as client:
        with pytest.raises(QueryError, match="cannot represent non-integer"):
            client.execute(text, {"first": "ten"})
        assert endpoint.received[-1][1]["variables"] == {"first": "ten"}
        with pytest.raises(QueryError, match="non-null type"):
            client.execute(text, {"other": 1})
        with pytest.raises(QueryError, match="Syntax Error"):
            client.execute("{ hello! }", {"a": date(2026, 1, 2)}, operation="Q")
        assert endpoint.received[-1][1] == {
            "query": "{ hello! }",
            "variables": {"a": "2026-01-02"},
            "operationName": "Q",
        }
        with pytest.raises(QueryError, match=r"cannot be parsed is not paged: .* Syntax Error"):
            client.execute_all("{ hello! }")
        assert client.parse_document("mutation { a! }").kind == "mutation"
        assert client.execute(text, {"first": 1}).document.schema is client.schema


def test_a_token_of_a_call_replaces_that_of_the_client(endpoint, client):
    """It is a secret like the client's: given as text it is refused."""
    client.execute("{ hello }", headers={"Authorization": Token("of-this-call")})
    client.execute("{ hello }", token=Token("of-that-call"), headers={"X-Trace": "7"})
    client.execute("{ hello }", headers={"X-Trace": "7"})
    sent = [headers["Authorization"] for headers, _ in endpoint.received]
    assert sent == ["Bearer of-this-call", "Bearer of-that-call", "Bearer client-token-1"]
    with pytest.raises(AuthError, match="secret given as text"):
        client.execute("{ hello }", headers={"Authorization": "Bearer typed-in-here"})
    with pytest.raises(AuthError):
        client.execute("{ hello }", token="ghp_typed_in_here")
    with pytest.raises(AuthError, match="GQLNB_NO_SUCH_TOKEN"):
        client.execute("{ hello }", token="env:GQLNB_NO_SUCH_TOKEN")
    assert len(endpoint.received) == 3


def test_a_recording_answers_a_call_whose_token_is_missing(endpoint, tmp_path):
    """As for a client: only a request that is really sent needs it. No token is recorded."""
    file = tmp_path / "calls.json"
    with Client(endpoint.url, schema=SDL, recording=file) as client:
        client.execute("{ hello }", token=Token("of-this-call"))
    assert "of-this-call" not in file.read_text()
    with Client(endpoint.url, schema=SDL, recording=file) as client:
        client.execute("{ hello }", token="env:GQLNB_NO_SUCH_TOKEN")
        with pytest.raises(AuthError, match="GQLNB_NO_SUCH_TOKEN"):
            client.execute("{ rows { nodes { id } } }", token="env:GQLNB_NO_SUCH_TOKEN")
    assert len(endpoint.received) == 1


def test_calls_with_options_share_the_connections(endpoint, client):
    """A thousand calls with headers of their own need one connection."""
    for number in range(3):
        client.execute("{ hello }", headers={"X-Trace": str(number)})
    assert endpoint.connections == 1


def test_a_timeout_of_a_call_ends_it(endpoint, client):
    """The client's is a minute."""
    endpoint.answers[:] = [silent]
    with pytest.raises(TransportError, match=r"within 0\.2 s"):
        client.execute("{ hello }", timeout=0.2)


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"extensions": [1]}, OptionError, "mapping of JSON values, not a list"),
        ({"extensions": {"a": {1}}}, OptionError, "mapping of JSON values: "),
        ({"timeout": 0}, TargetError, "timeout= takes a number of seconds above 0"),
        ({"headers": {"a b": "1"}}, TargetError, "invalid name"),
        ({"header": {}}, OptionError, "Did you mean headers=?"),
    ],
)
def test_wrong_options_are_refused_before_sending(endpoint, client, options, error, reason):
    """The message names the option."""
    with pytest.raises(error, match=reason.replace("?", r"\?")):
        client.execute("{ hello }", **options)
    assert endpoint.received == []


def test_a_schema_of_this_process_has_no_headers():
    """They would have no effect; a timeout is accepted as it is for the client."""
    client = Client(reference_schema())
    with pytest.raises(TargetError, match="token= and headers= and extensions= would"):
        client.execute("{ hello }", token=Token("t"), headers={"X-Trace": "1"}, extensions={"a": 1})
    assert client.execute("{ hello }", timeout=5).data == {"hello": "Hello world!"}


def test_a_subscription_sends_its_headers(endpoint, client):
    """The endpoint answers it as if it were a query."""
    events = client.subscribe("subscription { ticks }", transport="sse", reconnect=0, **OPTIONS)
    with pytest.raises(GqlnbError):
        next(iter(events))
    headers, body = endpoint.received[-1]
    assert {name.lower(): value for name, value in headers.items()}["x-trace"] == "t1"
    assert body["extensions"] == {"trace": {"id": 7}}


def test_256_asynchronous_calls_run_at_once(endpoint):
    """The endpoint answers none before all have come."""
    together = threading.Barrier(256, timeout=20)

    def answer_together(connection: socket.socket, _over: threading.Event) -> None:
        together.wait()
        connection.sendall(json_answer({"data": {"hello": "world"}}, Connection="close"))

    endpoint.answers[:] = [answer_together]

    async def call_all() -> list[Any]:
        async with Client(endpoint.url, schema=SDL) as client:
            return await asyncio.gather(*(client.aexecute("{ hello }") for _ in range(256)))

    results = asyncio.run(call_all())
    assert [result.data for result in results] == [{"hello": "world"}] * 256


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *(
            (method, options)
            for method in (
                *("execute", "frame", "execute_all", "execute_many", "map", "subscribe"),
                *("request", "resume", "aexecute", "aexecute_all", "amap"),
            )
            for options in ({"headers": {"Authorization": WRITTEN}}, {"token": WRITTEN})
        ),
        ("execute", {"header": {"Authorization": WRITTEN}}),
        ("subscribe", {"header": {"Authorization": WRITTEN}}),
        ("execute_many", {"tokens": WRITTEN}),
    ],
)
def test_no_traceback_shows_a_secret_that_is_refused(endpoint, client, method, options):
    """Debuggers and `%xmode Verbose` show the locals of each frame."""
    arguments: list[Any] = ["{ hello }"]
    if method in ("map", "amap"):
        arguments.append([{}])
    elif method == "execute_many":
        arguments = [["{ hello }"]]
    elif method == "resume":
        arguments = []
    with pytest.raises(GqlnbError) as caught:  # noqa: PT012 - the coroutine's
        called = getattr(client, method)(*arguments, **options)
        asyncio.run(called)
    frames = [entry.frame for entry in caught.traceback]
    ours = [frame for frame in frames if "gqlnb" in str(frame.raw.f_globals.get("__name__"))]
    assert "s3cret-text" not in repr([frame.raw.f_locals for frame in ours])
    assert "s3cret-text" not in str(caught.value)


def test_a_browser_sends_no_token_of_a_call(monkeypatch):
    """As it sends none of the client: every script of the page could read it."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", "emscripten")
        client = Client("https://example.test/graphql", schema=SDL)
    with pytest.raises(AuthError, match="No token is sent to"):
        client.execute("{ hello }", token=Token("of-this-call"))


def test_unparsable_texts_are_recorded_and_remembered_apart(tmp_path):
    """Each has its own answer, as other texts have."""
    texts, path = ["{ a! }", "{ b! }"], tmp_path / "a.jsonl"
    answers = [json_answer({"data": {"n": number}}) for number in range(4)]
    with FaultyEndpoint(*answers) as served:
        for first, again in (
            ({"cache": "1h"}, {"cache": "1h"}),
            ({"recording": path, "mode": "record"}, {"recording": path, "mode": "replay"}),
        ):
            with Client(served.url, validate=False, **first) as client:
                before = [client.execute(text).data for text in texts]
            with Client(served.url, validate=False, **again) as client:
                assert [client.execute(text).data for text in texts] == before
        assert len(served.requests) == 4


def test_a_variant_of_a_client_has_options_of_its_own(endpoint, client):
    """It shares the schema; the client itself is unchanged, and calls may add to both."""
    variant = client.with_options(headers={"X-Team": "red"}, timeout=5)
    assert variant.schema is client.schema
    variant.execute("{ hello }", headers={"X-Call": "1"})
    client.execute("{ hello }")
    (first, _), (second, _) = endpoint.received[-2:]
    assert (first["X-Team"], first["X-Trace"], first["X-Call"]) == ("red", "none", "1")
    assert (second["X-Team"], "X-Call" in second) == ("blue", False)
    assert (variant._endpoint.options.timeout, client._endpoint.options.timeout) == (5, 60)


def test_a_variant_is_pickled_with_its_options(monkeypatch):
    """The name of its connection alone would lose them."""
    monkeypatch.setenv("GH_TOKEN", "of-github")
    client = connect("github")
    copy = pickle.loads(pickle.dumps(client.with_options(timeout=5, validate=False)))
    forget_connection("github")
    assert (copy._endpoint.options.timeout, copy._endpoint.options.validate) == (5, False)
