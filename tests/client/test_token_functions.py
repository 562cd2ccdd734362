"""Functions that return tokens: they may log in with a client, and are asked again after a 401."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import AuthError, Client, Schema, Token, TransportError, serve
from gqlnb.server.app import App
from tests.client.faults import Endpoint, answer, json_answer
from tests.client.subscriptions.speaking import speaking

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = """
type Query { hello: String names(first: Int, after: String): NameConnection }
type NameConnection { nodes: [Name] pageInfo: PageInfo! } type Name { id: ID! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Mutation { bump: Int } type Subscription { ticks: Int }
"""
PAGE = {"nodes": [{"id": "1"}], "pageInfo": {"hasNextPage": False, "endCursor": "a"}}
RESOLVERS = {
    "Query": {"hello": lambda *_: "Hi", "names": lambda *_: PAGE},
    "Mutation": {"bump": lambda *_: 1},
    "Subscription": {"ticks": lambda *_: iter([1])},
}
BY_SIZE = "query ($n: Int) { names(first: $n) { nodes { id } } }"
NAMES = "{ names(first: 1) { nodes { id } pageInfo { hasNextPage endCursor } } }"


class Login:
    """A service that logs in over GraphQL, and endpoints that take its last token alone."""

    def __init__(self) -> None:
        self.count = 0
        self.valid = "none-yet-0000"
        resolvers = {"Mutation": {"login": self.login}, "Query": {"alive": lambda *_: True}}
        self.schema = Schema(
            "type Query { alive: Boolean } type Mutation { login: String }", resolvers
        )
        self.app = App(self.schema)
        self.lock = threading.Lock()

    def login(self, *_: object) -> str:
        """Return a new token, which is the only valid one from now on."""
        with self.lock:
            self.count += 1
            self.valid = f"valid-token-{self.count}"
            return self.valid

    def expire(self) -> None:
        """Refuse the token that was given last."""
        self.valid = "another-one-9999"


@pytest.fixture
def login():
    """Return a new service."""
    return Login()


def ticks(**options: Any) -> Callable[[Client], Any]:
    """Return a call that reads a subscription."""
    return lambda client: [
        event["ticks"] for event in client.subscribe("subscription { ticks }", **options)
    ]


async def read_ticks(client: Client) -> list[int]:
    """Read a subscription on the running loop."""
    return [event["ticks"] async for event in client.asubscribe("subscription { ticks }")]


CALLS: dict[str, Callable[[Client], Any]] = {
    "execute": lambda client: client.execute("{ hello }").data,
    "aexecute": lambda client: asyncio.run(client.aexecute("{ hello }")).data,
    "mutation": lambda client: client.execute("mutation { bump }").data,
    "pages": lambda client: client.execute_all(NAMES).data,
    "many": lambda client: client.execute_many(["{ hello }", "{ hello }"]),
    "map": lambda client: client.map(
        "query ($n: Int) { names(first: $n) { nodes { id } } }", [1, 2]
    ),
    "schema": lambda client: client.refresh_schema(),
    "ws": ticks(transport="ws"),
    "ws with init": ticks(transport="ws", init=True),
    "sse": ticks(transport="sse"),
    "asubscribe": lambda client: asyncio.run(read_ticks(client)),
}
ROADS = ("http", "asgi", "app logs in at an app")


@pytest.fixture(params=ROADS)
def make(request, login):
    """Yield a function that makes a client of the endpoint, whose token comes from a login."""
    schema = Schema(SDL, RESOLVERS)
    with (
        serve(schema, port=0, token=Token(lambda: login.valid)) as server,
        serve(login.schema, port=0) as service,
    ):
        place: Any = login.app if request.param == ROADS[2] else service.url
        target = (
            server.url if request.param == "http" else App(schema, token=Token(lambda: login.valid))
        )

        def log_in() -> str:
            return str(Client(place).execute("mutation { login }")["login"])

        yield lambda **options: Client(target, token=Token(log_in, **options))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("lifetime", [None, 60])
def test_a_function_may_log_in_and_is_asked_again_after_a_refusal(make, login, call, lifetime):
    """Before the request, and once more for each token that expired; over HTTP and in process."""
    client = make(lifetime=lifetime)
    first = CALLS[call](client)
    assert login.count >= 1
    if lifetime is None:
        return
    before = login.count
    login.expire()
    again = CALLS[call](client)
    assert login.count == before + 1
    if isinstance(first, (dict, list)) and call != "many":
        assert again == first


def test_a_function_that_cannot_help_is_asked_once(login):
    """The error is that of the endpoint; the same token is not sent again."""
    with serve(Schema(SDL, RESOLVERS), port=0, token=Token("right-token-1")) as server:
        asked: list[int] = []

        def give(same: bool) -> str:
            asked.append(1)
            return "wrong-token-0" if same else f"wrong-token-{len(asked)}"

        for same, requests in ((True, 1), (False, 2)):
            for call in ("execute", "mutation", "sse", "ws"):
                asked.clear()
                before = len(server.log)
                client = Client(server.url, token=Token(lambda it=same: give(it), lifetime=60))
                with pytest.raises(AuthError, match=r"401|403|refused"):
                    CALLS[call](client)
                assert len(asked) == 2
                if call in ("execute", "mutation"):
                    assert len(server.log) - before == requests


@pytest.mark.parametrize("how", ["threads", "tasks"])
def test_requests_at_once_ask_for_one_new_token(login, how):
    """The first refusal renews it; the others wait and take the same."""
    with serve(Schema(SDL, RESOLVERS), port=0, token=Token(lambda: login.valid)) as server:
        client = Client(server.url, token=Token(login.login, lifetime=60))
        assert client.execute("{ hello }").data == {"hello": "Hi"}
        login.expire()
        if how == "threads":
            with ThreadPoolExecutor(16) as pool:
                results = list(pool.map(lambda _: client.execute("{ hello }").data, range(16)))
        else:

            async def gather() -> list[Any]:
                return await asyncio.gather(*(client.aexecute("{ hello }") for _ in range(16)))

            results = [it.data for it in asyncio.run(gather())]
        assert results == [{"hello": "Hi"}] * 16
        assert login.count == 2


BODIES = {
    "message": (json_answer({"message": "expired"}, "401 No"), True),
    "errors": (json_answer({"errors": [{"message": "expired"}]}, "401 No"), True),
    "page": (answer("<p>expired", "401 No", Content_Type="text/html"), True),
    "data": (json_answer({"data": {"bump": 1}}, "401 No"), False),
    "null": (json_answer({"data": None, "errors": [{"message": "expired"}]}, "401 No"), False),
    "path": (json_answer({"errors": [{"message": "no", "path": ["bump"]}]}, "401 No"), False),
    "array": (json_answer([{"errors": [{"message": "no"}]}, {"data": None}], "401 No"), False),
    "403": (json_answer({"message": "no"}, "403 No"), None),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("text", ["{ bump }", "mutation { bump }"])
def test_a_mutation_is_repeated_only_if_nothing_was_executed(body, text):
    """A query always; both with the new token."""
    refusal, unexecuted = BODIES[body]
    tokens = iter(["old-token-1", "new-token-2", "newer-token-3"])
    with Endpoint(refusal, json_answer({"data": {"bump": 2}})) as endpoint:
        client = Client(endpoint.url, token=Token(lambda: next(tokens), lifetime=60))
        if unexecuted or (unexecuted is not None and not text.startswith("mutation")):
            assert client.execute(text).data == {"bump": 2}
            assert b"new-token-2" in endpoint.requests[1]
        else:
            with suppress(AuthError, TransportError):  # data are a result at any status
                client.execute(text)
            assert len(endpoint.requests) == 1


def test_arrays_and_secret_headers_are_renewed_too(login):
    """An array as a whole; a token in any header."""
    refusal = json_answer({"message": "expired"}, "401 No")
    rows = json_answer([{"data": {"hello": "a"}}, {"data": {"hello": "b"}}])
    with Endpoint(refusal, rows) as endpoint:
        key = Token(lambda: f"key-{login.login()}", "", lifetime=60)
        client = Client(endpoint.url, headers={"X-Api-Key": key}, batch=2)
        found = client.execute_many(["{ hello }", "{ hello }"])
        assert [it["hello"] for it in found] == ["a", "b"]
        assert b"key-valid-token-2" in endpoint.requests[1]
        assert login.count == 2


def test_a_function_that_needs_its_own_token_is_an_error(login):
    """It does not wait for itself, in whatever thread its request runs."""
    with serve(Schema(SDL, RESOLVERS), port=0) as server:
        for target in (server.url, App(Schema(SDL, RESOLVERS))):
            clients: list[Client] = []
            token = Token(lambda it=clients: it[0].execute("{ hello }")["hello"])
            clients.append(Client(target, token=token))
            for call in ("execute", "aexecute"):
                with pytest.raises(AuthError, match="sends a request with the same token"):
                    CALLS[call](clients[0])


def test_requests_within_requests_of_a_thread_work():
    """Of a file that is read while it is sent, and of callbacks between requests."""
    with serve(Schema(SDL, RESOLVERS), port=0) as server:
        inner = Client(server.url)

        class Remote(io.RawIOBase):
            """A file whose bytes come from the endpoint."""

            left = 2

            def readable(self) -> bool:
                return True

            def read(self, _size: int = -1) -> bytes:
                self.left -= 1
                return b"" if self.left < 0 else inner.execute("{ hello }")["hello"].encode()

        with Endpoint(json_answer({"data": {"up": True}})) as endpoint:
            client = Client(endpoint.url)
            text = "mutation ($file: Upload!) { up(file: $file) }"
            assert client.execute(text, {"file": Remote()}).data == {"up": True}
            assert client.execute(text, {"file": io.BytesIO(b"x")}).data == {"up": True}
            assert json.dumps("HiHi")[1:-1].encode() in endpoint.requests[0].replace(
                b"\r\n2\r\n", b""
            )
        for run in ("execute_all", "map"):
            shown: list[str] = []

            def show(*_: object) -> bool:
                shown.append(inner.execute("{ hello }")["hello"])  # noqa: B023
                return True

            if run == "map":
                assert len(inner.map(BY_SIZE, [1, 2], progress=show)) == 2
            else:
                assert inner.execute_all(NAMES, progress=show)["names"]
            assert set(shown) == {"Hi"}


@pytest.mark.parametrize("code", [4401, 4403])
def test_a_subscription_goes_on_with_a_new_token_after_the_old_one_expired(
    login, monkeypatch, code
):
    """The endpoint closes it before or after the first event; the rest comes all the same."""
    monkeypatch.setattr("gqlnb.client.subscriptions.FIRST_DELAY", 0.0005)
    seen: list[str] = []

    def talk(link: Any) -> None:
        token = json.loads(link.recv())["payload"]["Authorization"]
        seen.append(token)
        if not token.endswith(login.valid):
            link.close(code)
            return
        link.send('{"type":"connection_ack"}')
        link.recv()
        event = {"id": "1", "type": "next", "payload": {"data": {"ticks": len(seen)}}}
        link.send(json.dumps(event))
        if len(seen) < 3:
            login.expire()
            link.close(code)
        link.send('{"id":"1","type":"complete"}')
        link.recv(timeout=20)

    with speaking(talk) as url:
        client = Client(url, token=Token(login.login, lifetime=60))
        events = client.subscribe("subscription { ticks }", transport="ws", init=True)
        assert [event["ticks"] for event in events] == [1, 3]
        assert [token[-1] for token in seen] == ["1", "1", "2"]
        assert events.reconnects == 1
