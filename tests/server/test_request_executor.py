"""Which thread runs what, and for how long."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from gqlnb.document.limits import Limits
from gqlnb.engine.execution_budget import format_time_limit
from gqlnb.engine.schema import Schema
from gqlnb.http.messages import Request
from gqlnb.server.request_executor import RequestExecutor, is_parsable

SOON = Limits(seconds=0.1)
STOPPED = {"errors": [{"message": format_time_limit(0.1)}], "data": None}


@pytest.fixture
def gate():
    """Return what a resolver waits for until the test ends."""
    made = threading.Event()
    yield made
    made.set()


@pytest.fixture
def schema(gate):
    """Return a schema with resolvers that hang, on the loop and in a thread."""

    async def endless(*_):
        await asyncio.Event().wait()

    async def impatient(*_):
        raise TimeoutError

    query = {
        "hello": lambda *_: "Hello world!",
        "hangs": lambda *_: gate.wait(20),
        "endless": endless,
        "impatient": impatient,
        "thread": lambda *_: threading.current_thread().name,
    }
    sdl = "type Query { hello: String hangs: Boolean endless: Int impatient: Int thread: String }"
    return Schema(sdl, {"Query": query})


def run(schema, query, limits=SOON, **members):
    """Return the members of an answer."""
    return asyncio.run(RequestExecutor(schema, limits)(Request(query, **members))).members


@pytest.mark.parametrize("query", ["query Slow { hangs }", "query Slow { hello endless }"])
def test_what_hangs_is_answered_without_it(schema, query, caplog):
    """Whether it hangs in a thread or on the loop, the client is told, and the log."""
    with caplog.at_level(logging.WARNING, "gqlnb"):
        assert run(schema, query) == STOPPED


def test_the_log_says_how_many_threads_hang(schema, caplog):
    """Whoever serves learns which operation it was."""
    with caplog.at_level(logging.WARNING, "gqlnb"):
        enough = Limits(seconds=0.5)  # to begin, also where much else runs
        run(schema, "query Slow { hangs }", enough)
        run(schema, "query Slow { hangs }", enough, operation_name="Slow")
    assert "Operation without a name ran for more than 0.5 s" in caplog.text
    assert "Operation Slow ran for more than 0.5 s" in caplog.text
    assert "Worker threads that hang: " in caplog.text


def test_nothing_is_run_after_the_answer(gate):
    """When the resolver that hung comes back, its execution ends."""
    ended, ran = threading.Event(), threading.Event()

    class Watched(Schema):
        """A schema that tells when its plain resolvers are done."""

        def execute_document(self, *given, **options):
            try:
                return super().execute_document(*given, **options)
            finally:
                ended.set()

    query = {"hangs": lambda *_: gate.wait(20), "more": lambda *_: ran.set()}
    schema = Watched("type Query { hangs: Boolean more: Int }", {"Query": query})
    assert run(schema, "{ hangs more }") == STOPPED
    gate.set()
    assert ended.wait(20)
    assert not ran.is_set()


def test_an_async_resolver_that_hangs_is_cancelled():
    """Nothing of it goes on after the answer."""
    ended = []

    async def endless(*_):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    schema = Schema("type Query { endless: Int }", {"Query": {"endless": endless}})
    assert run(schema, "{ endless }") == STOPPED
    assert ended == [True]


def test_a_timeout_of_a_resolver_is_its_own(schema):
    """An exception of the same kind is an error of its field, and masked as such."""
    members = run(schema, "{ hello impatient }")
    assert members["data"] == {"hello": "Hello world!", "impatient": None}


def test_without_a_limit_nothing_is_cut_off(schema, gate):
    """None waits as long as it takes."""
    threading.Timer(0.05, gate.set).start()
    assert run(schema, "{ hangs }", Limits(seconds=None)) == {"data": {"hangs": True}}


def test_plain_resolvers_run_in_a_worker(schema):
    """The loop is free while they do."""
    assert run(schema, "{ thread }")["data"]["thread"].startswith("gqlnb-worker-")


@pytest.mark.parametrize(
    ("text", "limits", "can"),
    [
        ("{ hello }", Limits(), True),
        ("{ helo }", Limits(), True),
        ("{ hello", Limits(), False),
        ("", Limits(), False),
        ("{ " + "hello " * 20 + "}", Limits(tokens=10), False),
        ("{a" * 5000, Limits(), False),
        ("{ hello }", None, True),
    ],
)
def test_syntax_is_told_from_the_rest(text, limits, can):
    """The draft gives errors of syntax a status of their own."""
    assert is_parsable(text, limits) is can
