"""Batches of documents: in order, bounded, without losing results."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import BatchError, Client, OptionError, QueryError, Result, Schema, TransportError, serve
from gqlnb.server.app import App
from tests.client.faults import Endpoint, json_answer, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 20.0  # seconds until a test gives up
SDL = "type Query { twice(n: Int!): Int, meet: Int, hello: String }"
TWICE = "query ($n: Int!) { twice(n: $n) }"


class Meeting:
    """A schema with a field that several must ask for at once, and that counts how many do."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.inside, self.most = wanted, 0, 0
        self.changed = threading.Condition()
        twice = {"twice": lambda root, args, context: 2 * args["n"]}
        hello = {"hello": lambda *_: "Hello world!"}
        self.schema = Schema(SDL, {"Query": {**twice, **hello, "meet": self.meet}})

    def meet(self, root: Any, args: Any, context: Any) -> int:
        """Wait until as many are here as are wanted."""
        with self.changed:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.most >= self.wanted, PATIENCE)
            self.inside -= 1
        return self.most


@pytest.fixture(params=["in process", "asgi", "socket"])
def client(request):
    """Yield one client three ways."""
    schema = Meeting(4).schema
    with serve(schema, port=0) as server:
        yield Client(
            {"in process": schema, "asgi": App(schema), "socket": server.url}[request.param]
        )


@pytest.fixture(params=["execute_many", "aexecute_many"])
def many(request):
    """Return a function that executes many, of the sync or the async kind."""
    if request.param == "execute_many":
        return lambda client, *given, **options: client.execute_many(*given, **options)
    return lambda client, *given, **options: asyncio.run(client.aexecute_many(*given, **options))


@pytest.mark.parametrize("concurrency", [1, 4, 32])
def test_results_are_in_the_order_of_the_documents(client, many, concurrency):
    """Documents or pairs, from any iterable."""
    items = ((TWICE, {"n": n}) for n in range(50))
    results = many(client, items, concurrency=concurrency)
    assert [result["twice"] for result in results] == [2 * n for n in range(50)]
    assert many(client, ["{ hello }", ("{ hello }", None)])[1]["hello"] == "Hello world!"
    assert many(client, []) == []


def test_exactly_the_given_number_of_requests_run_in_parallel():
    """Not fewer: each waits for the others. Not more."""
    for target in ("in process", "socket"):
        meeting = Meeting(4)
        with serve(meeting.schema, port=0) as server:
            client = Client(meeting.schema if target == "in process" else server.url)
            client.execute("{ hello }")  # until it has answered, an endpoint is asked one thing
            results = client.execute_many(["{ meet }"] * 8, concurrency=4)
        assert len(results) == 8
        assert meeting.most == 4


def test_documents_are_consumed_as_requests_end(client, many):
    """A generator is never far ahead of the requests."""
    taken = 0

    def made() -> Iterator[Any]:
        nonlocal taken
        for n in range(20):
            taken = n + 1
            yield TWICE, {"n": n}

    started = []
    original = client._endpoint.transport.asend

    async def counted(request):
        started.append(taken)
        return await original(request)

    client._endpoint.transport.asend = counted
    many(client, made(), concurrency=2)
    ahead = [there - asked for asked, there in enumerate(started)]
    assert max(ahead, default=0) <= 3


def test_an_error_is_at_the_index_of_its_document(client, many):
    """No result is lost, whether errors are raised or returned."""
    items = ["{ hello }", "{ helo }", (TWICE, {"n": 4}), (TWICE, {"n": "x"}), 5]
    outcomes = many(client, items, return_errors=True)
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Result, QueryError, Result, QueryError, OptionError]
    with pytest.raises(BatchError, match=r"3 of 5 documents failed.*number 1 .*helo") as caught:
        many(client, items)
    assert [type(outcome) for outcome in caught.value.outcomes] == kinds
    assert caught.value.outcomes[2]["twice"] == 8


@pytest.mark.parametrize(
    ("documents", "options", "words"),
    [
        ("{ hello }", {}, "an iterable of texts or of pairs"),
        (5, {}, "an iterable of texts or of pairs"),
        ({"a": 1}, {}, "an iterable of texts or of pairs"),
        ([], {"concurrency": 0}, "concurrency= takes a whole number from 1 to 256"),
        ([], {"concurrency": 257}, "concurrency= takes a whole number from 1 to 256"),
        ([], {"concurrency": True}, "concurrency= takes a whole number from 1 to 256"),
    ],
)
def test_invalid_arguments_are_refused(many, documents, options, words):
    """A single string is not a list of documents."""
    with pytest.raises(OptionError, match=words):
        many(Client("http://127.0.0.1:1/graphql"), documents, **options)


class Waiting:
    """Answers one request, and leaves the others without an answer."""

    def __init__(self) -> None:
        self.held = threading.Semaphore(0)

    def __call__(self, connection: Any, over: threading.Event) -> None:
        """Take a request and say nothing."""
        self.held.release()
        silent(connection, over)


def test_an_interrupt_cancels_open_requests_and_keeps_results():
    """Immediately: the endpoint would never answer."""
    waiting = Waiting()
    with Endpoint(json_answer({"data": {"hello": "Hi"}}), waiting) as endpoint:
        client = Client(endpoint.url)
        main = threading.main_thread().ident

        def interrupt() -> None:
            for _ in range(2):
                assert waiting.held.acquire(timeout=PATIENCE)
            signal.pthread_kill(main, signal.SIGINT)

        killer = threading.Thread(target=interrupt)
        killer.start()
        with pytest.raises(KeyboardInterrupt) as caught:
            client.execute_many(["{ hello }"] * 10, concurrency=2)
        killer.join(PATIENCE)
        assert endpoint.gone.wait(PATIENCE)
    outcomes = caught.value.outcomes  # either of the first two may have come first
    assert [each["hello"] for each in outcomes if each is not None] == ["Hi"]
    assert len(outcomes) == 3
    assert "1 of 3 documents" in caught.value.__notes__[0]


def test_a_cancelled_task_cancels_open_requests():
    """Their connections are not reused."""
    waiting = Waiting()

    async def work(client: Client) -> None:
        task = asyncio.create_task(client.aexecute_many(["{ hello }"] * 4, concurrency=2))
        await asyncio.to_thread(waiting.held.acquire, timeout=PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Endpoint(waiting) as endpoint:
        client = Client(endpoint.url)
        asyncio.run(work(client))
        assert endpoint.gone.wait(PATIENCE)
        before = endpoint.connections
        endpoint.answers[:] = [json_answer({"data": {"hello": "Hi"}})]
        assert client.execute("{ hello }")["hello"] == "Hi"
        assert endpoint.connections == before + 1


def test_an_error_in_the_generator_ends_the_batch(many):
    """The generator's exception has the outcomes so far."""

    def made() -> Iterator[str]:
        yield "{ hello }"
        msg = "no more"
        raise LookupError(msg)

    with pytest.raises(LookupError, match="no more") as caught:
        many(Client(Meeting(1).schema), made())
    assert len(caught.value.outcomes) == 1


def test_the_generator_may_execute_queries(client):
    """The iterable is read in the thread that called `execute_many`."""
    made = ((TWICE, {"n": client.execute(TWICE, {"n": n})["twice"]}) for n in range(6))
    found = [result["twice"] for result in client.execute_many(made, concurrency=2)]
    assert found == [4 * n for n in range(6)]


def test_batches_work_inside_a_running_loop(client):
    """A notebook cell runs on one."""

    async def cell() -> list[Any]:
        here = client.execute("{ hello }")
        there = await client.aexecute("{ hello }")
        together = client.execute_many(["{ hello }"] * 3)
        apart = await client.aexecute_many(["{ hello }"] * 3)
        return [r["hello"] for r in (here, there, *together, *apart)]

    assert asyncio.run(cell()) == ["Hello world!"] * 8


def test_a_sync_call_on_the_background_loop_is_refused():
    """It would wait for itself forever; the error says so."""

    async def asks(root: Any, args: Any, context: Any) -> str:
        client.execute_many(["{ hello }"])
        return ""

    client = Client(Schema("type Query { asks: String hello: String }", {"Query": {"asks": asks}}))
    (error,) = client.execute("{ asks }").errors
    assert "would block forever" in error["message"]


def test_a_missing_endpoint_fails_each_document():
    """Each document gets its own error."""
    outcomes = Client("http://127.0.0.1:1/graphql").execute_many(["{ a }"] * 3, return_errors=True)
    assert [type(outcome) for outcome in outcomes] == [TransportError] * 3
